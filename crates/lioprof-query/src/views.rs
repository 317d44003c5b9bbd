//! The views, as SQL.

/// A view over the tables of a dataset, or over other views.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Name.
    pub name: &'static str,
    /// `CREATE VIEW ...`.
    pub sql: &'static str,
}

macro_rules! views {
    ($($name:literal)+) => { &[$(View { name: $name, sql: include_str!(concat!("views/", $name, ".sql")) }),+] };
}

/// All views; each uses only raw tables and views before it.
pub const VIEWS: &[View] = views! {
    "rpcs" "lock_events" "sent_rpcs" "counters" "bandwidth" "flows" "latency" "lock_conflicts" "lock_waits"
};
