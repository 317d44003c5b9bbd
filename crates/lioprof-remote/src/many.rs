//! The same errand on many hosts.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Does `errand` for all hosts, or something of each, at most `at_once` at a time; results are in the order of the hosts.
///
/// # Panics
/// If an errand does.
pub async fn on_all<H, T, F>(hosts: impl IntoIterator<Item = H>, at_once: usize, errand: impl Fn(H) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS)));
    let mut tasks = JoinSet::new();
    for (number, host) in hosts.into_iter().enumerate() {
        let (slots, work) = (Arc::clone(&slots), errand(host));
        tasks.spawn(async move {
            // The semaphore is never closed.
            let _slot = slots.acquire_owned().await;
            (number, work.await)
        });
    }
    let mut results = Vec::with_capacity(tasks.len());
    while let Some(done) = tasks.join_next().await {
        match done {
            Ok(result) => results.push(result),
            Err(err) => std::panic::resume_unwind(err.into_panic()),
        }
    }
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn no_more_than_allowed_run_at_a_time() {
        let hosts: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let results = on_all(hosts.clone(), 3, |host| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                host
            }
        })
        .await;
        assert_eq!(results, hosts);
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }
}
