//! Reading and writing what is behind the files.

use std::sync::Arc;

use rustix::io::Errno;

use super::Stats;
use super::director::Director;
use super::node::{FileContent, Live};
use super::system;
use crate::kernel::{Kernel, Mask};

/// Everything that a file may need.
pub(super) struct Server {
    pub(super) kernel: Arc<Kernel>,
    pub(super) stats: Arc<dyn Stats>,
    pub(super) director: Arc<Director>,
}

impl Server {
    /// What a reader of the file gets. `/dev/kmsg` is read line by line instead.
    pub(super) fn read(&self, content: &FileContent) -> Result<Vec<u8>, Errno> {
        let kernel = &self.kernel;
        Ok(match content {
            FileContent::Mask(mask) => line(kernel.mask_text(*mask)),
            FileContent::MaskNumber(mask, true) => line(kernel.mask(*mask).cast_signed().to_string()),
            FileContent::MaskNumber(mask, false) => line(kernel.mask(*mask).to_string()),
            FileContent::DaemonFile => match kernel.daemon_file() {
                path if path.is_empty() => path,
                path => [path.as_slice(), b"\n"].concat(),
            },
            FileContent::DebugMb => line(kernel.debug_mb().to_string()),
            FileContent::Parameter(parameter) => line(kernel.parameter(*parameter)),
            FileContent::Stats(name) => self.stats.read(name).ok_or(Errno::NOENT)?,
            FileContent::Text(text) => text.clone(),
            FileContent::Live(live) => self.live(*live),
            FileContent::Director => self.director.state(kernel),
            FileContent::DumpKernel | FileContent::DebugMarker | FileContent::Kmsg => return Err(Errno::INVAL),
        })
    }

    fn live(&self, live: Live) -> Vec<u8> {
        let hundredths = self.kernel.uptime_us() / 10_000;
        match live {
            Live::ProcStat => system::proc_stat(self.kernel.config.cpus, hundredths).into_bytes(),
            Live::Uptime => {
                let (seconds, rest) = (hundredths / 100, hundredths % 100);
                format!("{seconds}.{rest:02} {seconds}.{rest:02}\n").into_bytes()
            }
            Live::Account => {
                let mut json = serde_json::to_vec_pretty(&self.kernel.account()).unwrap_or_default();
                json.push(b'\n');
                json
            }
        }
    }

    /// One write to the file, by a process.
    pub(super) fn write(&self, content: &FileContent, text: &[u8], pid: u32) -> Result<(), Errno> {
        let kernel = &self.kernel;
        match content {
            FileContent::Mask(mask) => kernel.write_mask(*mask, text),
            FileContent::MaskNumber(mask, _) => self.write_number(*mask, text),
            FileContent::DaemonFile => kernel.daemon_command(text),
            FileContent::DumpKernel => kernel.dump(text),
            FileContent::DebugMarker => kernel.write_marker(text, pid),
            FileContent::DebugMb => kernel.set_debug_mb(text),
            FileContent::Parameter(parameter) => kernel.set_parameter(*parameter, text),
            FileContent::Stats(name) => self.stats.write(name, text),
            FileContent::Director => self.director.command(kernel, text),
            FileContent::Kmsg => {
                kernel.print_from_user(text);
                Ok(())
            }
            FileContent::Text(_) | FileContent::Live(_) => Err(Errno::INVAL),
        }
    }

    fn write_number(&self, mask: Mask, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?.trim();
        let signed = text.parse::<i32>().map(i32::cast_unsigned);
        let bits = signed.or_else(|_| match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse::<u32>(),
        });
        self.kernel.set_mask(mask, bits.map_err(|_| Errno::INVAL)?);
        Ok(())
    }
}

fn line(text: String) -> Vec<u8> {
    let mut line = text.into_bytes();
    line.push(b'\n');
    line
}
