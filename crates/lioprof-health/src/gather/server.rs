//! All facts of one server.

use std::path::Path;

use lioprof_params::{LustreVersion, Tree, host};

use super::{kernel_log, lnet, services, settings, targets};
use crate::facts::{FACTS_SCHEMA, Fact, ServerFacts};

/// Reads the facts of the server whose file system is below `root`, normally `/`; `time_us` is the present time. Opens files for
/// reading only. What cannot be read is [`Fact::Unknown`].
#[must_use]
pub fn gather(root: &Path, time_us: i64) -> ServerFacts {
    let mut tree = Tree::new(root);
    let version = tree.read("version", "version").and_then(|text| LustreVersion::parse(&text));
    let targets = targets::read(&mut tree);
    let settings = settings::read(&mut tree, targets.known().map_or(&[], Vec::as_slice));
    ServerFacts {
        schema: FACTS_SCHEMA.to_owned(),
        server: host::short_name(root).unwrap_or_else(|| "server".to_owned()),
        time_us,
        version: Fact::or(
            version.map(|version| version.text),
            "no file `version`: is Lustre loaded, and is this root?",
        ),
        health: health(&mut tree),
        targets,
        services: services::read(&mut tree),
        lnet: lnet::read(&mut tree),
        kernel_log: kernel_log::read(root, time_us),
        settings,
        survey: None,
    }
}

/// `health_check`: one word, or since when devices are named several lines (obdclass `obd_sysfs.c`).
fn health(tree: &mut Tree) -> Fact<String> {
    let text = tree.read("health_check", "health_check").map(|text| text.trim().to_owned());
    Fact::or(text.filter(|text| !text.is_empty()), "no file `health_check`: is Lustre loaded, and is this root?")
}
