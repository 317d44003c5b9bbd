//! What the tree is made of.

use std::collections::BTreeMap;

use crate::kernel::{Mask, Parameter};

/// Which file system a file pretends to be on: they refuse what a file cannot do in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// debugfs: opening works, reading or writing gives `EINVAL`.
    Debugfs,
    /// sysfs and `/proc/sys`: opening gives `EACCES`, even to root.
    Sysfs,
    /// procfs: opening works, reading or writing gives `EIO`.
    Procfs,
}

/// What is behind a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// A mask by names.
    Mask(Mask),
    /// A mask as a number; signed or not.
    MaskNumber(Mask, bool),
    /// `daemon_file`.
    DaemonFile,
    /// `dump_kernel`.
    DumpKernel,
    /// `debug_marker`.
    DebugMarker,
    /// `debug_mb`.
    DebugMb,
    /// A plain module parameter.
    Parameter(Parameter),
    /// A value from [`super::Stats`].
    Stats(String),
    /// `/dev/kmsg`.
    Kmsg,
    /// Something that is made anew at each opening.
    Live(Live),
    /// A text that never changes.
    Text(Vec<u8>),
    /// The simulator's own command file.
    Director,
}

/// Files that are made anew at each opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// `/proc/stat`.
    ProcStat,
    /// `/proc/uptime`.
    Uptime,
    /// The kernel's account of what was logged and lost, JSON.
    Account,
}

/// A file, directory or symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TreeNode {
    Directory,
    Link(String),
    File { content: FileContent, mode: u16, flavour: Flavour },
}

impl TreeNode {
    pub(super) fn mode(&self) -> u16 {
        match self {
            Self::Directory => 0o755,
            Self::Link(_) => 0o777,
            Self::File { mode, .. } => *mode,
        }
    }
}

/// All nodes by path, without leading slash; the root is the empty path.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeNodes(BTreeMap<String, TreeNode>);

impl TreeNodes {
    pub(super) fn directory(&mut self, path: &str) {
        let mut at = 0;
        self.0.entry(String::new()).or_insert(TreeNode::Directory);
        while let Some(slash) = path[at..].find('/') {
            self.0.entry(path[..at + slash].to_owned()).or_insert(TreeNode::Directory);
            at += slash + 1;
        }
        self.0.entry(path.to_owned()).or_insert(TreeNode::Directory);
    }

    fn put(&mut self, path: &str, node: TreeNode) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.directory(parent);
        }
        self.0.insert(path.to_owned(), node);
    }

    pub(super) fn file(&mut self, path: &str, mode: u16, flavour: Flavour, content: FileContent) {
        self.put(path, TreeNode::File { content, mode, flavour });
    }

    pub(super) fn text(&mut self, path: &str, flavour: Flavour, text: impl Into<Vec<u8>>) {
        self.file(path, 0o444, flavour, FileContent::Text(text.into()));
    }

    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.put(path, TreeNode::Link(target.to_owned()));
    }

    pub(super) fn get(&self, path: &str) -> Option<&TreeNode> {
        self.0.get(path)
    }

    /// Names and nodes in a directory.
    pub(super) fn children<'a>(&'a self, directory: &str) -> impl Iterator<Item = (&'a str, &'a TreeNode)> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let cut = prefix.len();
        let end = prefix.clone();
        self.0
            .range(prefix..)
            .take_while(move |(path, _)| path.starts_with(&end))
            .filter(move |(path, _)| path.len() > cut && !path[cut..].contains('/'))
            .map(move |(path, node)| (&path[cut..], node))
    }
}
