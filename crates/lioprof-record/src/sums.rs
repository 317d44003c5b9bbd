//! Sums of the servers' rows, which each server makes itself: all that a report needs, in a thousandth of the bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lioprof_analysis::{NodeSums, Question, SUMS_SCHEMA};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_store::{MOST_SUMS_BYTES, SumsFile, SumsHeader};

use crate::connection::Agent;
use crate::error::HostError;
use crate::protocol::Request;
use crate::state::{HostRecord, Recording};

/// Time for a host to read all rows of a recording once, when all else comes first there.
const SUMMED_WITHIN: Duration = Duration::from_secs(900);

/// What is asked of a host: a question, with its times on another clock if one is given.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) clock: Option<ClockLine>,
}

/// Brings a host's sums. Returns whether it has any rows.
pub(crate) async fn bring(
    agent: &mut Agent,
    id: &str,
    record: &HostRecord,
    asked: &Asked,
    dir: &Path,
) -> Result<bool, HostError> {
    let Asked { question, clock } = asked.clone();
    let to = path(dir, &record.node);
    let before = load(dir, &record.node).ok();
    let request = Request::Sums { id: id.to_owned(), question, clock };
    let mut bytes = Vec::new();
    agent.receive(&request, SUMMED_WITHIN, MOST_SUMS_BYTES, (&mut bytes, &to)).await?;
    if bytes.is_empty() {
        return Ok(false);
    }
    let (header, mut sums) = read(&bytes, &record.node).map_err(HostError::Protocol)?;
    if !sums.answers(&record.node, &asked.question) {
        return Err(HostError::Protocol("sums of something else".to_owned()));
    }
    if let (Some(_), Some(before)) = (asked.clock, before) {
        sums = sums.compared_as(before);
        bytes = SumsFile::new(SUMS_SCHEMA, &record.node, header.parts, sums.to_bytes()).to_bytes();
    }
    let failed = |source| HostError::Write { path: to.clone(), source };
    fs::create_dir_all(Recording::sums(dir)).map_err(failed)?;
    let new = to.with_added_extension("new");
    fs::write(&new, bytes).and_then(|()| fs::rename(&new, &to)).map_err(failed)?;
    Ok(true)
}

/// The sums of a host's rows, if they are here.
///
/// # Errors
/// What is wrong with which file.
pub fn sums_of(dir: &Path, host: &HostRecord) -> Result<Option<NodeSums>, String> {
    if host.has_sums { load(dir, &host.node).map(Some) } else { Ok(None) }
}

/// Deletes a host's sums.
pub(crate) fn drop_them(record: &mut HostRecord, dir: &Path) {
    record.has_sums = false;
    // Nobody looks at what is left.
    drop(fs::remove_file(path(dir, &record.node)));
    drop(fs::remove_dir(Recording::sums(dir)));
}

fn load(dir: &Path, node: &str) -> Result<NodeSums, String> {
    let path = path(dir, node);
    let told = |why: String| format!("`{}`: {why}", path.display());
    let bytes = fs::read(&path).map_err(|err| told(err.to_string()))?;
    read(&bytes, node).map(|(_, sums)| sums).map_err(told)
}

fn read(bytes: &[u8], node: &str) -> Result<(SumsHeader, NodeSums), String> {
    let SumsFile { header, sums } = SumsFile::from_bytes(bytes)?;
    if (header.schema.as_str(), header.node.as_str()) != (SUMS_SCHEMA, node) {
        return Err(format!("expected `{SUMS_SCHEMA}` of {node}, found `{}` of {}", header.schema, header.node));
    }
    Ok((header, NodeSums::from_bytes(&sums)?))
}

fn path(dir: &Path, node: &str) -> PathBuf {
    // What a server calls itself is not believed to be a file's name.
    Recording::sums(dir).join(format!("{}.sums", node.replace('/', "_")))
}
