//! `lioprof what-if`.

use std::path::PathBuf;

use lioprof_model::Change;
use lioprof_text::what_if::WhatIfFormat;

use super::shared::LogArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = WHAT_IF_HELP)]
pub(crate) struct WhatIfArgs {
    /// Logs or rows of all servers that took part, as for `analyze`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Make an OST as fast as the others (peers), or FACTOR times as fast as it was (x2, x0.5). Options can be repeated.
    #[arg(long, value_name = "NAME=peers|xFACTOR", value_parser = ost_change)]
    pub(crate) ost: Vec<Change>,
    /// Make all OSTs of a server as fast as those of other servers, as with a better link or more memory.
    #[arg(long, value_name = "NAME=peers", value_parser = server_change)]
    pub(crate) server: Vec<Change>,
    /// Make a client's requests as fast as those of other clients, as with a better link.
    #[arg(long, value_name = "NID=peers", value_parser = client_change)]
    pub(crate) client: Vec<Change>,
    /// Split one client's I/O across N clients, each with its own link.
    #[arg(long, value_name = "NID=N", value_parser = writers_change)]
    pub(crate) writers: Vec<Change>,
    /// Spread the same requests evenly over all OSTs.
    #[arg(long)]
    pub(crate) spread_evenly: bool,
    /// Remove the waits for locks that another client holds.
    #[arg(long)]
    pub(crate) no_lock_waits: bool,
    /// Merge small requests in one object into requests of up to 1 MiB.
    #[arg(long)]
    pub(crate) full_size: bool,
    /// Leave out the small requests of clients that also send large ones.
    #[arg(long)]
    pub(crate) no_small: bool,
    /// What to print on stdout.
    #[arg(long, value_enum, default_value = "summary")]
    pub(crate) format: WhatIfFormat,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

const WHAT_IF_HELP: &str = "\
Examples:
  lioprof what-if oss*/rpc.bin                                     what lioprof tries itself
  lioprof what-if oss*/rpc.bin --ost lustre-OST0002=peers          that OST as fast as the others
  lioprof what-if oss*/rpc.bin --ost lustre-OST0002=x2 --no-lock-waits   both together
  lioprof what-if /shared/rows --writers 10.10.0.11@tcp=4 --format json

docs/what-if.md says how it is done, and what it cannot know. Exit codes: 0 done, 2 wrong arguments or unreadable \
input, 3 more lost than --max-loss.";

/// `NAME=VALUE`; a NID has no `=`.
fn named(text: &str, expected: &str) -> Result<(String, String), String> {
    let named = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = named.ok_or_else(|| format!("expected {expected}; found `{text}`"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn ost_change(text: &str) -> Result<Change, String> {
    let expected = "an OST and what it is to be, such as lustre-OST0002=peers or lustre-OST0002=x2";
    let (target, value) = named(text, expected)?;
    if value == "peers" {
        return Ok(Change::TargetAsPeers { target });
    }
    let factor = value.strip_prefix('x').and_then(|factor| factor.parse::<f64>().ok());
    let factor = factor.filter(|factor| factor.is_finite() && *factor > 0.0);
    factor
        .map(|factor| Change::TargetFaster { target, factor })
        .ok_or_else(|| format!("expected {expected}; found `{text}`"))
}

/// `NAME=peers`.
fn as_peers(text: &str, expected: &str) -> Result<String, String> {
    match named(text, expected)? {
        (name, value) if value == "peers" => Ok(name),
        _ => Err(format!("expected {expected}; found `{text}`")),
    }
}

fn server_change(text: &str) -> Result<Change, String> {
    as_peers(text, "a server as its peers, such as oss2=peers").map(|node| Change::NodeAsPeers { node })
}

fn client_change(text: &str) -> Result<Change, String> {
    let client = as_peers(text, "a client as its peers, such as 10.10.0.12@tcp=peers")?;
    Ok(Change::ClientAsPeers { client })
}

fn writers_change(text: &str) -> Result<Change, String> {
    let expected = "a client and how many are to do its work, from 2 to 1000, such as 10.10.0.11@tcp=2";
    let (client, value) = named(text, expected)?;
    let writers = value.parse().ok().filter(|writers| (2..=1000).contains(writers));
    writers
        .map(|writers| Change::Writers { client, writers })
        .ok_or_else(|| format!("expected {expected}; found `{text}`"))
}
