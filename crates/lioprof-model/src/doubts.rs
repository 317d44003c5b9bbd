//! What is estimated, inferred or unknown: how that is decided and worded, for plots, pages and text. What was lost, says
//! [`Loss::how_much`](crate::Loss::how_much).

use crate::analysis::Totals;
use crate::io::Io;
use crate::lock_sums::LockTotals;
use crate::locks::{LockEvidence, LockTarget, Locks};
use crate::units::{RULES, UNKNOWN, human_bounds, human_bytes, real, share, short_bytes, short_percent, thousands};

impl Io {
    /// Bytes for people: `1.00 MiB`, `~1.00 MiB` if any of them are estimated, `?` if none are known.
    #[must_use]
    pub fn bytes_in_words(&self) -> String {
        match self.known_bytes() {
            None => UNKNOWN.to_owned(),
            Some(bytes) if self.is_exact() => human_bytes(bytes),
            Some(bytes) => format!("{}{}", RULES.estimated, human_bytes(bytes)),
        }
    }

    /// How sure they are: `23 estimated: 20.1 MiB to 20.8 MiB; 4 of unknown size`. `None` if every byte is exact.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.bounded_rpcs > 0 {
            let bounds = human_bounds(self.bytes_min, self.bytes_max);
            parts.push(format!("{} estimated: {bounds}", thousands(self.bounded_rpcs)));
        }
        if self.unsized_rpcs > 0 {
            parts.push(format!("{} of unknown size", thousands(self.unsized_rpcs)));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// A share for a sentence, `None` of nothing.
fn part(part: u64, of: u64) -> Option<String> {
    (part > 0 && of > 0).then(|| short_percent(share(part, of).min(1.0)))
}

impl Totals {
    /// Which sizes are estimated or unknown, in sentences; empty if none are.
    #[must_use]
    pub fn doubts_of_sizes(&self) -> Vec<String> {
        let (read, write) = (&self.read, &self.write);
        let rpcs = read.rpcs.saturating_add(write.rpcs);
        let bounds = [(read.bytes_min, write.bytes_min), (read.bytes_max, write.bytes_max)]
            .map(|(read, write)| short_bytes(real(read.saturating_add(write))));
        let estimated = part(read.bounded_rpcs.saturating_add(write.bounded_rpcs), rpcs).map(|part| {
            let [low, high] = bounds;
            format!(
                "The size of {part} of the reads and writes is estimated; the true total is between {low} and {high}."
            )
        });
        let unknown = part(read.unsized_rpcs.saturating_add(write.unsized_rpcs), rpcs)
            .map(|part| format!("{part} are of unknown size and not in the bytes."));
        estimated.into_iter().chain(unknown).collect()
    }

    /// How many reads and writes have no target, in a sentence.
    #[must_use]
    pub fn doubt_of_targets(&self) -> Option<String> {
        let rpcs = |read: &Io, write: &Io| read.rpcs.saturating_add(write.rpcs);
        let unknown = rpcs(&self.unattributed.read, &self.unattributed.write);
        let part = part(unknown, rpcs(&self.read, &self.write))?;
        Some(format!("The OST of {part} of the reads and writes is unknown (unattributed)."))
    }
}

impl LockTotals {
    /// How long clients waited: `4.20 s`, `~4.19 s (4.02 to 4.19 s)` if ends of waits are inferred.
    #[must_use]
    pub fn wait_in_words(&self) -> String {
        let Self { wait_s, wait_min_s, wait_max_s, .. } = self;
        // Of an older file there are no bounds.
        if wait_min_s < wait_max_s {
            format!("{}{wait_s:.2} s ({wait_min_s:.2} to {wait_max_s:.2} s)", RULES.estimated)
        } else {
            format!("{wait_s:.2} s")
        }
    }
}

impl LockTarget {
    /// Whether its figures are inferred from callbacks alone.
    #[must_use]
    pub fn is_inferred(&self) -> bool {
        self.evidence == LockEvidence::Rpctrace
    }
}

impl Locks {
    /// What the figures rest on, in sentences.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let conflicts = |targets: &mut dyn Iterator<Item = &LockTarget>| {
            targets.fold(0_u64, |sum, target| sum.saturating_add(target.totals.conflicts))
        };
        let all = conflicts(&mut self.targets.iter());
        let inferred = conflicts(&mut self.targets.iter().filter(|target| target.is_inferred()));
        let mut sentences = vec![match self.evidence {
            LockEvidence::Dlmtrace => "Evidence: the lock manager's own lines (dlmtrace).".to_owned(),
            LockEvidence::Rpctrace => "Evidence: only RPCs (rpctrace), so conflicts, objects and waits are inferred from \
                callbacks sent during requests, and which extents collide is not known."
                .to_owned(),
            LockEvidence::Mixed if inferred == 0 => {
                "Evidence: the lock manager's own lines (dlmtrace); of some servers only RPCs (rpctrace), which show no \
                 conflict."
                    .to_owned()
            }
            LockEvidence::Mixed => format!(
                "Evidence: the lock manager's own lines (dlmtrace); for {} of the conflicts only RPCs (rpctrace), \
                 which are inferred.",
                short_percent(share(inferred, all))
            ),
        }];
        let unclassified = self.totals.unclassified_conflicts.unwrap_or(0);
        let unclassified =
            part(unclassified, self.totals.conflicts).filter(|_| self.evidence == LockEvidence::Dlmtrace);
        sentences.extend(
            unclassified.map(|part| format!("{part} of the conflicts are unclassified: an extent is missing.")),
        );
        let cut = "Too many objects or pairs of clients fought to keep all of them: figures of those listed are lower bounds.";
        sentences.extend(self.cut.then(|| cut.to_owned()));
        sentences
    }
}

/// How many of the single RPCs are shown, in a sentence.
#[must_use]
pub fn shown(one_in: u64) -> String {
    if one_in <= 1 { "Every RPC shown.".to_owned() } else { format!("1 in {} RPCs shown.", thousands(one_in)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::RpcSize;

    #[test]
    fn estimates_are_marked() {
        let mut io = Io::default();
        assert_eq!((io.bytes_in_words().as_str(), io.doubt()), ("0 B", None));
        io.add(RpcSize::Exact(4096), false);
        assert_eq!((io.bytes_in_words().as_str(), io.doubt()), ("4.00 KiB", None));
        io.add(RpcSize::Unknown, false);
        assert_eq!((io.bytes_in_words().as_str(), io.doubt().as_deref()), ("~4.00 KiB", Some("1 of unknown size")));
        io.add(RpcSize::Bounded { best: 4096, min: 1024, max: 8192 }, false);
        assert_eq!(io.doubt().as_deref(), Some("1 estimated: 5.00 KiB to 12.0 KiB; 1 of unknown size"));
        let unknown = Io { rpcs: 1, unsized_rpcs: 1, ..Io::default() };
        assert_eq!(unknown.bytes_in_words(), "?");
    }

    #[test]
    fn doubts_say_how_much() {
        let mut totals = Totals::default();
        assert_eq!((totals.doubts_of_sizes(), totals.doubt_of_targets()), (Vec::new(), None));
        totals.read.add(RpcSize::Bounded { best: 4096, min: 1024, max: 8192 }, false);
        totals.write.add(RpcSize::Unknown, false);
        totals.unattributed.write.rpcs = 1;
        let sizes = [
            "The size of 50 % of the reads and writes is estimated; the true total is between 1 KiB and 8 KiB.",
            "50 % are of unknown size and not in the bytes.",
        ];
        assert_eq!(totals.doubts_of_sizes(), sizes);
        let targets = "The OST of 50 % of the reads and writes is unknown (unattributed).";
        assert_eq!(totals.doubt_of_targets().as_deref(), Some(targets));
    }
}
