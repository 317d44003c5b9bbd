//! What OSTs delivered against what they can.

use crate::analysis::Analysis;
use crate::baseline::Available;
use crate::io::Direction;
use crate::target::TargetKindName;

impl Analysis {
    /// What the OSTs delivered against what they can; `None` without a baseline of that direction, or without bytes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "bytes and bins for a rate")]
    pub fn available(&self, direction: Direction) -> Option<Available> {
        let baseline = self.baseline.as_ref()?;
        let mut moving = vec![false; self.series.bins];
        let (mut bytes, mut ceiling_bytes_per_s, mut osts) = (0, 0.0, 0);
        for target in &self.series.targets {
            let values = direction.pick(&target.read_bytes, &target.write_bytes);
            let sum: u64 = values.iter().sum();
            // Traffic of unknown OSTs has no ceiling.
            if target.kind != TargetKindName::Ost || target.name.is_none() || sum == 0 {
                continue;
            }
            bytes += sum;
            osts += 1;
            ceiling_bytes_per_s += baseline.ost_bytes_per_s(&target.node, direction)?;
            moving.iter_mut().zip(values).for_each(|(moving, bytes)| *moving |= *bytes > 0);
        }
        let seconds = moving.iter().filter(|moving| **moving).count() as f64 * self.series.bin_s;
        let known = seconds > 0.0 && ceiling_bytes_per_s > 0.0;
        let test = direction.pick(direction.name(), baseline.writes.name());
        let bytes_per_s = bytes as f64 / seconds;
        known.then_some(Available { direction, bytes_per_s, ceiling_bytes_per_s, osts, seconds, test })
    }
}
