//! What is known of inputs, and what is decided of them.

use std::collections::BTreeMap;

use lioprof_model::NodeFrom;

use super::contents::Contents;
use crate::input::node::without_compression;
use crate::input::words;

/// What is known of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// The node, if it need not be inferred: `--node`, `node=NAME`, standard input, a host that the log names.
    pub(crate) fixed: Option<(String, NodeFrom)>,
    /// Names of its folders and of the file, the file last; of a member of an archive the archive is a folder.
    pub(crate) components: Vec<String>,
    /// The folder in which the first of them lies.
    pub(crate) here: Option<String>,
    /// What a look at it shows.
    pub(crate) contents: Contents,
    /// It is a kernel log: nothing in it is looked at.
    pub(crate) is_kernel_log: bool,
    /// Its path as it is shown.
    pub(crate) path: String,
}

/// The node of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) node: String,
    pub(crate) from: NodeFrom,
    /// A reason, if there is more to say than that.
    pub(crate) why: Option<String>,
}

/// Inputs whose nodes cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) inputs: Vec<usize>,
    /// What is wrong and what to try.
    pub(crate) message: String,
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decisions {
    /// For each input; `None`: refused.
    pub(crate) nodes: Vec<Option<Decision>>,
    pub(crate) refusals: Vec<Refusal>,
}

/// Suffixes that `split` has made, and the inputs that have them.
type Suffixes<'a> = Vec<(&'a str, usize)>;

/// Files that `split` has made, and what their names were before.
pub(super) fn pieces_of_split(inputs: &[Evidence]) -> BTreeMap<usize, &str> {
    // By folder and what the name was before.
    let mut files: BTreeMap<(&[String], &str), Suffixes<'_>> = BTreeMap::new();
    for (at, input) in inputs.iter().enumerate().filter(|(_, input)| input.fixed.is_none()) {
        if let Some((file, folder)) = input.components.split_last()
            && let Some((whole, suffix)) = words::split_suffix(without_compression(file))
        {
            files.entry((folder, whole)).or_default().push((suffix, at));
        }
    }
    let mut pieces = BTreeMap::new();
    for ((_, whole), mut suffixes) in files {
        suffixes.sort_unstable();
        if suffixes.len() > 1 && words::are_split_suffixes(suffixes.iter().map(|(suffix, _)| *suffix)) {
            pieces.extend(suffixes.into_iter().map(|(_, at)| (at, whole)));
        }
    }
    pieces
}
