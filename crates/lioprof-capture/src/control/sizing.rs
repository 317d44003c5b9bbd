//! Computes the size of the kernel's debug buffer.

use super::{LARGEST_DAEMON_SIZE_MIB, SMALLEST_DAEMON_SIZE_MIB};
use crate::config::Capture;

/// The kernel divides the buffer among the possible CPUs and gives 80 %, 10 % and 10 % of each part to process, soft and
/// hard interrupt context, in whole pages (`tracefile.c`). Steps of this many MiB per CPU divide evenly with pages of 4
/// and of 64 KiB, so the kernel shows exactly the value written, or one more. It is also its default.
pub(crate) const STEP_MIB_PER_CPU: u64 = 5;

/// Part of each CPU's share for messages of process context, which nearly all are.
const PROCESS_SHARE: f64 = 0.8;

/// Factor for bursts: the measured rate is an average over at least a flush pass, and pages are not completely filled.
const MARGIN: f64 = 1.5;

/// Inputs of the computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BufferInputs {
    /// Possible CPUs, see [`crate::system::machine::possible_cpus`].
    pub possible_cpus: u32,
    /// Memory of the node, MiB.
    pub memory_mib: u64,
    /// Current value of `debug_mb`.
    pub current_mib: u64,
    /// Bytes of binary log per second on the busiest CPU; `None` before anything was measured.
    pub busiest_cpu_bytes_per_s: Option<f64>,
    /// Longest time between two flush passes, seconds; the kernel aims at one.
    pub longest_pass_s: f64,
    /// Upper limit, MiB.
    pub limit_mib: u64,
}

/// The computed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSize {
    /// `debug_mb` to write; the current value if that is enough.
    pub mib: u64,
    /// The limit forbids the size that is needed: expect overflows.
    pub too_small: bool,
}

/// Size limit of the kernel's file, MiB: how far it goes if the daemon hangs.
///
/// Of `spool_limit_mib`, segments that wait take up to a half (but for one that is the only one and larger: a full buffer, written
/// after the kernel could not write for a while) and decoded ones that are still needed up to a quarter. The last
/// quarter is for the kernel's file, which is renamed long before (`segment_mib` is at most a quarter). But the kernel
/// writes all of a full buffer in one pass, also into a file that was renamed meanwhile, so the file must be able to take that
/// on top, or it would overwrite its beginning. The kernel takes 10 to 20,480 MiB.
pub(crate) fn file_limit_mib(capture: &Capture) -> u64 {
    let wanted =
        (capture.spool_limit_mib() / 4).saturating_add(capture.buffer_mib.get().unwrap_or(capture.buffer_limit_mib));
    wanted.clamp(SMALLEST_DAEMON_SIZE_MIB, LARGEST_DAEMON_SIZE_MIB)
}

/// MiB that all segments and the kernel's file take together at most if the daemon hangs; one buffer more if it does so right
/// when the kernel has written a full one into a renamed file, or while such a file waits to be decoded.
pub(crate) fn spool_bound_mib(capture: &Capture) -> u64 {
    (capture.spool_limit_mib() - capture.spool_limit_mib() / 4).saturating_add(file_limit_mib(capture))
}

/// The new size, never smaller than the current one: the busiest CPU must not fill its part within one pass.
///
/// Before anything is measured, 20 MiB per possible CPU: enough for 10 MB/s on one CPU, about 4,000 bulk RPCs per second
/// there.
pub(crate) fn buffer_size(inputs: &BufferInputs) -> BufferSize {
    let cpus = u64::from(inputs.possible_cpus.max(1));
    let step = STEP_MIB_PER_CPU * cpus;
    let wanted = match inputs.busiest_cpu_bytes_per_s {
        Some(rate) => {
            let mib_per_cpu = MARGIN * rate.max(0.0) * inputs.longest_pass_s.max(1.0) / PROCESS_SHARE / 1_048_576.0;
            steps(mib_per_cpu).saturating_mul(step)
        }
        None => 4 * step,
    };
    // The kernel takes up to 80 % of the memory; what an administrator lets a profiler have is far less.
    let limit = inputs.limit_mib.min(inputs.memory_mib * 4 / 5) / step * step;
    let mib = wanted.min(limit).max(inputs.current_mib);
    BufferSize { mib, too_small: wanted > mib }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; saturates at absurd rates")]
fn steps(mib_per_cpu: f64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "a small constant")]
    let step = STEP_MIB_PER_CPU as f64;
    ((mib_per_cpu / step).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Auto;

    const NODE: BufferInputs = BufferInputs {
        possible_cpus: 64,
        memory_mib: 256 * 1024,
        current_mib: 321,
        busiest_cpu_bytes_per_s: None,
        longest_pass_s: 1.0,
        limit_mib: 4096,
    };

    /// The condition itself: the records of one pass fit into 80 % of one CPU's part.
    fn holds(inputs: &BufferInputs, mib: u64) -> bool {
        let part = 0.8 * f64::from(u32::try_from(mib).unwrap()) / f64::from(inputs.possible_cpus) * 1_048_576.0;
        inputs.busiest_cpu_bytes_per_s.unwrap() * inputs.longest_pass_s < part
    }

    #[test]
    fn the_busiest_cpu_never_fills_its_part() {
        for rate in [0.0, 1e4, 1e6, 6.25e6, 2e7] {
            for pass in [0.5, 1.0, 1.7] {
                let inputs = BufferInputs { busiest_cpu_bytes_per_s: Some(rate), longest_pass_s: pass, ..NODE };
                let size = buffer_size(&inputs);
                assert!(size.too_small || holds(&inputs, size.mib), "{rate} {pass} {size:?}");
                assert!(size.mib == inputs.current_mib || size.mib.is_multiple_of(64 * STEP_MIB_PER_CPU), "{size:?}");
            }
        }
        let busy = BufferInputs { busiest_cpu_bytes_per_s: Some(6.25e6), longest_pass_s: 2.0, ..NODE };
        assert_eq!(buffer_size(&busy), BufferSize { mib: 1600, too_small: false });
    }

    #[test]
    fn limits_and_what_is_there() {
        let flood = BufferInputs { busiest_cpu_bytes_per_s: Some(1e9), ..NODE };
        assert_eq!(buffer_size(&flood), BufferSize { mib: 3840, too_small: true });
        let small = BufferInputs { memory_mib: 400, possible_cpus: 2, current_mib: 11, ..flood };
        assert_eq!(buffer_size(&small).mib, 320);
        let generous = BufferInputs { current_mib: 10_000, ..NODE };
        assert_eq!(buffer_size(&generous), BufferSize { mib: 10_000, too_small: false });
        assert_eq!(buffer_size(&NODE).mib, 1280);
    }

    #[test]
    fn the_kernels_file_holds_a_buffer_and_stays_within_the_promise() {
        let limits = |spool_limit_mib, buffer_mib| {
            let capture = Capture { spool_limit_mib: Auto::Is(spool_limit_mib), buffer_mib, ..Capture::default() };
            (file_limit_mib(&capture), spool_bound_mib(&capture))
        };
        let buffer = Capture::default().buffer_limit_mib;
        assert_eq!(limits(1024, Auto::Auto), (256 + buffer, 1024 + buffer));
        assert_eq!(limits(1024, Auto::Is(5000)), (5256, 6024));
        // Less than the kernel's own limit of 500 MiB.
        assert_eq!(limits(64, Auto::Is(16)), (32, 80));
        // The kernel takes no less than 10 MiB, and no more than 20,480.
        assert_eq!(limits(20, Auto::Is(1)), (10, 25));
        assert_eq!(limits(u64::MAX, Auto::Is(1)).0, LARGEST_DAEMON_SIZE_MIB);
    }
}
