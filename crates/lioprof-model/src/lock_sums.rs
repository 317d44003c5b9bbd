//! What is counted of the locks of targets: once as sums, once as an analysis shows them, from one list.

use serde::{Deserialize, Serialize};

use crate::units::summed_seconds;

/// Number of lock conflicts by the parties involved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictKinds {
    /// Conflicts between different clients: contention.
    pub client: u64,
    /// Conflicts of a client with a lock of its own.
    pub own: u64,
    /// Conflicts that servers cause: unlink and destroy for the MDT, locks without a client.
    pub server: u64,
}

crate::merge_fields!(ConflictKinds { client, own, server });

/// Declares [`LockTargetSums`] and [`LockTotals`]: a figure is added to both, to what merges and to what is shown by being in the list.
///
/// * `lines`: only the lock manager's own lines show it. A sum is 0 without them, a total `null`.
/// * `always`: RPCs show it as well.
/// * `summed`: only a sum; `shown`: only in totals, made of the sums by a function.
macro_rules! lock_figures {
    ($(
        lines { $($(#[$line_meta:meta])* $line:ident,)* }
        always { $($(#[$always_meta:meta])* $always:ident,)* }
        $(summed { $($(#[$summed_meta:meta])* $summed:ident: $summed_type:ty,)+ })?
        $(shown { $($(#[$shown_meta:meta])* $shown:ident: $shown_type:ty = $made:expr,)+ })?
    )+) => {
        crate::sums! {
            /// Lock figures of a target as they are summed up.
            #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            pub struct LockTargetSums {$(
                $($(#[$line_meta])* pub $line: u64,)*
                $($(#[$always_meta])* pub $always: u64,)*
                $($($(#[$summed_meta])* pub $summed: $summed_type,)+)?
            )+}
        }

        /// Sums of the lock figures of one or more targets.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct LockTotals {$(
            $($(#[$line_meta])* pub $line: Option<u64>,)*
            $($(#[$always_meta])* pub $always: u64,)*
            $($($(#[$shown_meta])* pub $shown: $shown_type,)+)?
        )+}

        impl LockTargetSums {
            /// What these sums say; `lines`: the log has the lock manager's own lines.
            #[must_use]
            pub fn totals(&self, lines: bool) -> LockTotals {
                LockTotals {$(
                    $($line: lines.then_some(self.$line),)*
                    $($always: self.$always,)*
                    $($($shown: ($made)(self),)+)?
                )+}
            }
        }
    };
}

lock_figures! {
    lines {
        /// Number of locks that clients requested; unknown without dlmtrace, since an enqueue RPC names no target.
        enqueues,
        /// Number of these locks that were granted in the reply; unknown without dlmtrace.
        granted_at_once,
    }
    always {
        /// Number of requests that had to wait. Without dlmtrace: those that caused a blocking callback, or got a completion callback.
        blocked,
    }
    summed {
        /// Conflicts between clients.
        client_conflicts: u64,
        /// Conflicts of a client with itself.
        own_conflicts: u64,
        /// Conflicts with servers.
        server_conflicts: u64,
    }
    shown {
        /// Conflicts by kind; contention is `kinds.client`.
        kinds: ConflictKinds = LockTargetSums::kinds,
        /// Conflicts between clients.
        conflicts: u64 = |sums: &LockTargetSums| sums.client_conflicts,
    }

    lines {
        /// Conflicts whose requested extents overlap; unknown without dlmtrace, like the next five.
        true_conflicts,
        /// Conflicts in which only an extent that the server expanded overlaps.
        expansion_conflicts,
        /// Conflicts that cannot be classified: an extent is missing from the log, or the lock has none.
        unclassified_conflicts,
        /// Conflicts of two writers.
        write_write,
        /// Conflicts of a reader and a writer.
        read_write,
        /// Conflicts with a group lock.
        group,
    }
    always {
        /// Changes of owner: grants to a client that waited for another client's lock.
        handovers,
        /// Number of blocking callbacks sent, which ask the holder to give the lock back.
        blocking_asts,
        /// Number of completion callbacks sent, which tell the waiter that it has the lock.
        completion_asts,
        /// Number of glimpse callbacks sent, which ask the holder for the file size.
        glimpse_asts,
    }
    shown {
        /// Number of LDLM_CANCEL requests; they name no target, so this is `null` except in the totals over all targets.
        cancels: Option<u64> = |_| None,
    }

    lines {}
    always {
        /// Number of clients evicted for not giving a lock back.
        evictions,
        /// Number of callbacks that were not answered in time.
        callback_timeouts,
    }

    lines {
        /// Number of clients' locks whose creation is not in the log, so the requested extent may be missing; unknown without dlmtrace.
        unborn_locks,
    }
    always {}
    summed {
        /// Time that clients waited for other clients' locks.
        wait_us: u64,
        /// The same at least.
        wait_min_us: u64,
        /// The same at most.
        wait_max_us: u64,
        /// Time that clients waited for the answers to glimpse callbacks.
        glimpse_wait_us: u64,
    }
    shown {
        /// Client-seconds spent waiting until the holder of a lock had answered a glimpse callback: how large a file is that it writes.
        #[serde(default)]
        glimpse_wait_s: f64 = |sums: &LockTargetSums| summed_seconds(sums.glimpse_wait_us),
        /// Client-seconds spent waiting for another client's lock.
        wait_s: f64 = |sums: &LockTargetSums| summed_seconds(sums.wait_us),
        /// The same at least: without dlmtrace the end of a wait is inferred.
        #[serde(default)]
        wait_min_s: f64 = |sums: &LockTargetSums| summed_seconds(sums.wait_min_us),
        /// The same at most.
        #[serde(default)]
        wait_max_s: f64 = |sums: &LockTargetSums| summed_seconds(sums.wait_max_us),
    }

    lines {}
    always {
        /// Number of waits that were still going on when the log ended, or whose end is missing; not in the time waited.
        open_waits,
    }
    summed {
        /// Bytes that holders wrote between the callback and the release.
        flushed_bytes: u64,
        /// Time during which someone waited. Of waits that overlap: while rows are summed up it is not here, but in their union.
        contended_us: i64,
    }
}

impl LockTargetSums {
    /// Conflicts by kind.
    #[must_use]
    pub fn kinds(&self) -> ConflictKinds {
        ConflictKinds { client: self.client_conflicts, own: self.own_conflicts, server: self.server_conflicts }
    }
}
