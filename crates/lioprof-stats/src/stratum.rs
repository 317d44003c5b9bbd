//! Times that can be compared.

/// Times of requests that are alike in everything but whose they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratum {
    /// How long they took, each time once, ascending.
    times_us: Vec<u64>,
    /// How many took as long.
    counts: Vec<u64>,
    /// How many took less.
    shorter: Vec<u64>,
    count: u64,
}

/// Equally long times: how many own ones and how many of peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Equal {
    pub(crate) time_us: u64,
    pub(crate) own: u64,
    pub(crate) peers: u64,
}

impl Stratum {
    /// Number of all times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Own times, in ascending order and with how many took so long, each with how many of the peers took less. What is not one of the
    /// stratum's times is left out.
    pub(crate) fn among(&self, own: &[(u64, u64)]) -> impl Iterator<Item = (u64, Equal)> {
        let mut own_shorter = 0;
        own.iter().filter_map(move |&(time_us, own)| {
            let place = self.times_us.binary_search(&time_us).ok()?;
            let peers_shorter = self.shorter[place].saturating_sub(own_shorter);
            own_shorter += own;
            Some((peers_shorter, Equal { time_us, own, peers: self.counts[place].saturating_sub(own) }))
        })
    }

    /// All times, with how many of them are own ones.
    pub(crate) fn with(&self, own: &[(u64, u64)]) -> impl Iterator<Item = Equal> {
        let mut own = own.iter().copied().peekable();
        self.times_us.iter().zip(&self.counts).map(move |(&time_us, &count)| {
            let own = own.next_if(|of_own| of_own.0 == time_us).map_or(0, |of_own| of_own.1);
            Equal { time_us, own, peers: count.saturating_sub(own) }
        })
    }
}

/// Of times in ascending order and how many took so long, microseconds.
impl FromIterator<(u64, u64)> for Stratum {
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(times: T) -> Self {
        let mut stratum = Self::default();
        for (time_us, count) in times {
            let is_last = stratum.times_us.last() == Some(&time_us);
            if let Some(equal) = stratum.counts.last_mut().filter(|_| is_last) {
                *equal += count;
            } else {
                stratum.times_us.push(time_us);
                stratum.counts.push(count);
                stratum.shorter.push(stratum.count);
            }
            stratum.count += count;
        }
        stratum
    }
}
