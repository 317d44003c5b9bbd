//! Jobs of a client's kernel threads.

use super::digits::dec;

/// A job that is named after a thread of the client's kernel.
///
/// With the name of the process in the job (`jobid_name=%e.%u`), what a kernel thread sends has a job of its own. To Lustre 2.15 that is the
/// thread's whole name, and statahead starts a thread for each process, write-back one of many: a single `find` has a dozen jobs. Lustre 2.17
/// leaves the numbers out (`ll_sa_740.0` and `ll_sa.0`, `kworker/u2:0.0` and `kworker.0`, in captures of 2.15.8 and 2.17.57).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelJob<'a> {
    /// The thread's name without its number.
    pub thread: &'static str,
    /// The job has the number, too, so it is not named as by Lustre 2.17.
    pub has_number: bool,
    /// Process of the client that the thread works for, if its name says so.
    pub process: Option<u32>,
    /// What the job has behind the thread's name, such as a dot and the user's number.
    pub rest: &'a [u8],
}

impl<'a> KernelJob<'a> {
    /// Of a job that begins with the name of such a thread, with a number or without.
    #[inline]
    #[must_use]
    pub fn of(job: &'a [u8]) -> Option<Self> {
        const THREADS: [(&str, bool); 4] = [("ll_sa", true), ("ll_agl", true), ("ldlm_bl", false), ("kworker", false)];
        // Most jobs begin with another letter.
        if !matches!(job, [b'l' | b'k', ..]) {
            return None;
        }
        let find = |(thread, for_process): (&'static str, bool)| {
            let behind = job.strip_prefix(thread.as_bytes())?;
            let (process, rest) = match behind.split_first() {
                Some((b'_', number)) if thread != "kworker" => {
                    let (number, rest) = dec(number)?;
                    (u32::try_from(number).ok().filter(|_| for_process), rest)
                }
                // `kworker/3:1H`: of a CPU; `kworker/u8:2`: of any.
                Some((b'/', worker)) if thread == "kworker" => {
                    let (_, rest) = dec(worker.strip_prefix(b"u").unwrap_or(worker))?;
                    let (_, rest) = dec(rest.strip_prefix(b":")?)?;
                    (None, rest.strip_prefix(b"H").unwrap_or(rest))
                }
                _ => (None, behind),
            };
            let ends = !matches!(rest.first(), Some(b'_' | b'/' | b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'));
            ends.then_some(KernelJob { thread, has_number: rest.len() < behind.len(), process, rest })
        };
        THREADS.into_iter().find_map(find)
    }

    /// The job as Lustre 2.17 writes it.
    #[must_use]
    pub fn name(&self) -> Vec<u8> {
        [self.thread.as_bytes(), self.rest].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_kernel_threads_are_left_out() {
        for (job, name, process) in [
            ("ll_sa_740.0", "ll_sa.0", Some(740)),
            ("ll_agl_740.1000", "ll_agl.1000", Some(740)),
            ("ll_sa_740", "ll_sa", Some(740)),
            ("ldlm_bl_01.0", "ldlm_bl.0", None),
            ("kworker/u2:0.0", "kworker.0", None),
            ("kworker/3:1H.0", "kworker.0", None),
            ("kworker/u2:0:0:host", "kworker:0:host", None),
            ("ll_sa.0", "ll_sa.0", None),
            ("ldlm_bl.0", "ldlm_bl.0", None),
            ("kworker.0", "kworker.0", None),
        ] {
            let found = KernelJob::of(job.as_bytes()).unwrap_or_else(|| panic!("{job}"));
            assert_eq!((found.name(), found.process), (name.into(), process), "{job}");
        }
    }

    #[test]
    fn other_jobs_are_none() {
        for job in
            ["", "ls.0", "ll_sa_run7.0", "ll_sa_740x.0", "ll_save.0", "kworker/R-slub_.0", "kworkers", "k", "ll_sa_"]
        {
            assert_eq!(KernelJob::of(job.as_bytes()), None, "{job}");
        }
    }
}
