//! The views, as SQL.

use std::sync::LazyLock;

use lioprof_model::traffic::sql;

/// A view over the tables of a dataset, or over other views.
#[derive(Clone, Debug)]
pub struct View {
    /// Name of the view in SQL.
    pub name: &'static str,
    /// Its `CREATE VIEW ...` statement.
    pub sql: String,
}

macro_rules! views {
    ($($name:literal)+) => { &[$(($name, include_str!(concat!("views/", $name, ".sql")))),+] };
}

const FILES: &[(&str, &str)] = views! {
    "rpcs" "lock_events" "sent_rpcs" "counters" "bandwidth" "flows" "latency" "lock_conflicts" "lock_waits"
};

/// All views; each uses only raw tables and views before it.
pub static VIEWS: LazyLock<Vec<View>> =
    LazyLock::new(|| FILES.iter().map(|(name, text)| View::new(name, text)).collect());

impl View {
    /// Replaces the names of rules in braces by the model's SQL for them.
    fn new(name: &'static str, text: &str) -> Self {
        let sql = text
            .replace("{on_mdt}", sql::ON_MDT)
            .replace("{operation_class}", sql::OPERATION_CLASS)
            .replace("{from_server}", &sql::from_server("client_uuid"))
            .replace("{window_from_server}", &sql::from_server("window_client_uuid"));
        Self { name, sql }
    }
}
