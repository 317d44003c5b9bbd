//! From what is known of each input to its node. A pure function: it looks at no file.

use std::collections::{BTreeMap, BTreeSet};

use glob::Pattern;
use lioprof_model::NodeFrom;

use super::contents::Contents;
use super::evidence::{Decision, Decisions, Evidence, Refusal, pieces_of_split};
use super::groups::{Contradiction, contradictions};
use crate::input::node::{self, Named};
use crate::input::words;

/// So many threads with equal pids prove that logs with such names are of one server.
const EQUAL_PIDS_OF_PIECES: usize = 2;
const EQUAL_PIDS_OF_OTHERS: usize = 3;
/// So many names in one folder are compared with each other at most.
const MOST_COMPARED: usize = 64;
/// So many inputs are listed in a refusal at most.
const MOST_LISTED: usize = 16;

/// Decides by the rules of [the module](super).
pub(crate) fn decide(inputs: &[Evidence]) -> Decisions {
    let mut deciding = Deciding::new(inputs);
    deciding.name_each();
    deciding.by_folders_of_hosts();
    deciding.by_folders_of_kernel_logs();
    deciding.by_hints();
    deciding.split_contradictions();
    deciding.merge_pieces();
    deciding.by_requests_of_hosts();
    deciding.conclude()
}

struct Deciding<'a> {
    inputs: &'a [Evidence],
    /// What each is called up to now.
    nodes: Vec<Decision>,
    /// What each path says by itself; `None` if that is not asked.
    named: Vec<Option<Named>>,
}

impl<'a> Deciding<'a> {
    fn new(inputs: &'a [Evidence]) -> Self {
        let unknown = Decision { node: String::new(), from: NodeFrom::Name, why: None };
        Self { inputs, nodes: vec![unknown; inputs.len()], named: vec![None; inputs.len()] }
    }

    /// Judges each path by itself, but for the suffixes of `split`, which only show beside each other.
    fn name_each(&mut self) {
        let pieces = pieces_of_split(self.inputs);
        for (at, input) in self.inputs.iter().enumerate() {
            if let Some((node, from)) = &input.fixed {
                self.nodes[at] = Decision { node: node.clone(), from: *from, why: None };
                continue;
            }
            let here = || input.here.clone();
            let named = match pieces.get(&at) {
                Some(whole) => {
                    let mut components = input.components.clone();
                    components.pop();
                    components.push((*whole).to_owned());
                    node::by_itself(&components, here)
                }
                None => node::by_itself(&input.components, here),
            };
            let why = pieces.contains_key(&at).then(|| "it is a piece that `split` made".to_owned());
            self.nodes[at] = Decision { node: named.node.clone(), from: named.from, why };
            self.named[at] = Some(named);
        }
    }

    /// The same file name in the folders of several hosts: `oss01/before.txt`, `oss02/before.txt`.
    fn by_folders_of_hosts(&mut self) {
        for group in self.groups().into_values() {
            let files = group.iter().filter(|&&at| {
                let named = self.named[at].as_ref();
                named.is_some_and(|named| named.from == NodeFrom::Name && !words::is_host_like(&named.node))
            });
            let folders: Vec<(usize, String)> = files
                .filter_map(|&at| {
                    let (_, folders) = self.inputs[at].components.split_last()?;
                    Some((at, node::folder(folders).filter(|folder| words::is_host_like(folder))?))
                })
                .collect();
            let hosts: BTreeSet<&String> = folders.iter().map(|(_, folder)| folder).collect();
            if hosts.len() > 1 {
                for (at, folder) in &folders {
                    self.call(*at, folder.clone(), NodeFrom::Path, "the same file name is in folders of several hosts");
                }
            }
        }
    }

    /// `a/run.txt` and `b/run.txt`, if they are kernel logs: nothing in them proves that they are of one server, or of two. Folders that are called
    /// as pieces are (`day1`) are of one.
    fn by_folders_of_kernel_logs(&mut self) {
        for group in self.groups().into_values() {
            let is_open = |at: usize| self.inputs[at].is_kernel_log && self.nodes[at].from == NodeFrom::Name;
            if words::is_host_like(&self.nodes[group[0]].node) || !group.iter().all(|&at| is_open(at)) {
                continue;
            }
            let parents = group.iter().filter_map(|&at| {
                let parent = self.inputs[at].components.iter().nth_back(1)?;
                let is_name = !words::core(parent).is_empty() && !words::is_number(parent) && is_own_name(parent);
                is_name.then(|| (at, parent.clone()))
            });
            let parents: Vec<(usize, String)> = parents.collect();
            let different: BTreeSet<&String> = parents.iter().map(|(_, parent)| parent).collect();
            if parents.len() == group.len() && different.len() > 1 {
                for (at, parent) in &parents {
                    self.call(
                        *at,
                        parent.clone(),
                        NodeFrom::Path,
                        "kernel logs do not show whether they are of one server",
                    );
                }
            }
        }
    }

    /// `debug-alpha.log` beside `debug-beta.log`: what is too little for a host's name by itself is one where several files differ by it.
    fn by_hints(&mut self) {
        for group in self.groups().into_values() {
            if words::is_host_like(&self.nodes[group[0]].node) {
                continue;
            }
            let mut folders: BTreeMap<&[String], Vec<(usize, String)>> = BTreeMap::new();
            for &at in &group {
                if let Some((_, folder)) = self.inputs[at].components.split_last()
                    && let Some(hint) = self.named[at].as_ref().and_then(|named| named.hint.clone())
                {
                    folders.entry(folder).or_default().push((at, hint));
                }
            }
            for hints in folders.into_values() {
                let different: BTreeSet<&String> = hints.iter().map(|(_, hint)| hint).collect();
                if different.len() > 1 && hints.iter().all(|(_, hint)| is_own_name(hint)) {
                    for (at, hint) in &hints {
                        self.call(*at, hint.clone(), NodeFrom::Path, "the files' names differ by it");
                    }
                }
            }
        }
    }

    /// Inputs of one name that are certainly of different servers get names by what their paths differ in.
    fn split_contradictions(&mut self) {
        for (name, group) in self.groups() {
            let found = contradictions(&self.with_contents(&group));
            if found.is_empty() {
                continue;
            }
            if let Some(names) = self.differing_part(&name, &group, &found) {
                let why = format!("they are of different servers: {}", found[0]);
                for (at, node) in names {
                    self.call(at, node, NodeFrom::Path, &why);
                }
            }
        }
    }

    /// The part of the paths in which all inputs differ that contradict each other: names of hosts, else whatever is nearest to the file.
    fn differing_part(&self, name: &str, group: &[usize], found: &[Contradiction]) -> Option<Vec<(usize, String)>> {
        let depth = group.iter().map(|&at| self.inputs[at].components.len()).max()?;
        let mut best: Option<Vec<(usize, String)>> = None;
        for level in 0..depth {
            let part = |at: usize| self.part(at, level);
            let differs = |it: &Contradiction| {
                let [a, b] = it.inputs.map(part);
                a.is_some() && b.is_some() && a != b
            };
            if !found.iter().all(differs) {
                continue;
            }
            let parts: Vec<(usize, String)> = group.iter().filter_map(|&at| Some((at, part(at)?))).collect();
            if parts.len() < group.len() {
                continue;
            }
            if parts.iter().all(|(_, part)| words::is_host_like(part)) {
                return Some(parts);
            }
            best.get_or_insert_with(|| {
                let keep = words::is_host_like(name) || words::is_contrast(name);
                let with_name = |part: String| if keep { format!("{part}-{name}") } else { part };
                parts.into_iter().map(|(at, part)| (at, with_name(part))).collect()
            });
        }
        best
    }

    /// What the file (level 0) or a folder above it is called, if that may name a host.
    fn part(&self, at: usize, level: usize) -> Option<String> {
        let components = &self.inputs[at].components;
        let name = components.get(components.len().checked_sub(level + 1)?)?;
        let shorter = if level == 0 { node::host_of(node::stem(name)) } else { name.as_str() };
        let core = words::core(shorter);
        let part = if words::is_host_like(core) || level == 0 { core } else { shorter };
        // Numbers and dates of files are those of pieces.
        let is_piece = level == 0 && words::without_pieces(part).is_some_and(|rest| rest.is_empty());
        (!part.is_empty() && !is_piece).then(|| part.to_owned())
    }

    /// Inputs of different names that are pieces of one log.
    fn merge_pieces(&mut self) {
        let mut folders: BTreeMap<&'a [String], BTreeMap<String, Vec<usize>>> = BTreeMap::new();
        for (name, group) in self.groups() {
            let all_by_file = group.iter().all(|&at| self.nodes[at].from == NodeFrom::Name && self.named[at].is_some());
            if let Some((_, folder)) = self.inputs[group[0]].components.split_last()
                && all_by_file
                && group.iter().all(|&at| self.inputs[at].components.split_last().is_some_and(|(_, it)| it == folder))
            {
                folders.entry(folder).or_default().insert(name, group);
            }
        }
        for (folder, groups) in folders {
            self.merge_in_folder(folder, &groups);
        }
    }

    fn merge_in_folder(&mut self, folder: &[String], groups: &BTreeMap<String, Vec<usize>>) {
        // By what is left of their names without the words of pieces.
        let mut pieces: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for name in groups.keys() {
            let rest = words::without_pieces(name);
            if rest.is_some() || words::is_host_like(name) {
                pieces.entry(rest.unwrap_or_else(|| name.clone())).or_default().push(name);
            }
        }
        let here = self.inputs[groups.values().next().map_or(0, |group| group[0])].here.clone();
        let place = node::folder(folder).or_else(|| folder.last().cloned()).or(here);
        let mut merged: Vec<(Option<String>, Vec<&String>)> = Vec::new();
        for (rest, names) in pieces.iter().filter(|(_, names)| names.len() > 1) {
            let host = Some(rest.clone()).filter(|rest| words::is_host_like(rest));
            let proves = |a: &Contents, b: &Contents| {
                let equal = a.equal_pids(b);
                equal.is_some_and(|n| n >= EQUAL_PIDS_OF_PIECES || host.is_some()) || a.shares_request(b)
            };
            let of_host = host.clone();
            merged.extend(self.clusters(groups, names, &proves).into_iter().map(|names| (of_host.clone(), names)));
        }
        let is_merged = |name: &String| merged.iter().any(|(_, names)| names.contains(&name));
        let others: Vec<&String> =
            groups.keys().filter(|name| may_be_a_piece(name) && !is_merged(name)).take(MOST_COMPARED).collect();
        let proves = |a: &Contents, b: &Contents| {
            a.equal_pids(b).is_some_and(|n| n >= EQUAL_PIDS_OF_OTHERS && a.shares_target(b)) || a.shares_request(b)
        };
        let of_others = self.clusters(groups, &others, &proves);
        merged.extend(of_others.into_iter().map(|names| (None, names)));
        // Where several logs are in a folder it cannot give its name to one of them.
        let alone = merged.iter().filter(|(host, _)| host.is_none()).count() == 1;
        for (host, names) in &merged {
            let first = names[0].clone();
            let node = host.clone().or_else(|| place.clone().filter(|_| alone)).unwrap_or(first);
            let why = format!("{} files are pieces of one server's log: threads have the same pids", names.len());
            for &at in names.iter().flat_map(|name| &groups[*name]) {
                self.call(at, node.clone(), NodeFrom::Contents, &why);
            }
        }
    }

    /// What somebody quotes of a host's log, in a mail or in notes, is of that host: no other server handles the same request.
    fn by_requests_of_hosts(&mut self) {
        let is_host = |it: &Self, at: usize| it.inputs[at].fixed.is_some() || words::is_host_like(&it.nodes[at].node);
        let (hosts, others): (Vec<usize>, Vec<usize>) = (0..self.inputs.len()).partition(|&at| is_host(self, at));
        for at in others.into_iter().take(MOST_COMPARED) {
            let mine = &self.inputs[at].contents;
            let shares = hosts.iter().filter(|&&host| mine.shares_request(&self.inputs[host].contents));
            let nodes: BTreeSet<String> = shares.map(|&host| self.nodes[host].node.clone()).collect();
            if let ([node], true) = (Vec::from_iter(&nodes).as_slice(), may_be_a_piece(&self.nodes[at].node)) {
                self.call(at, (*node).clone(), NodeFrom::Contents, "requests in it are in that node's log, too");
            }
        }
    }

    /// Names whose inputs are of one server each: of several names.
    fn clusters<'n>(
        &self,
        groups: &BTreeMap<String, Vec<usize>>,
        names: &[&'n String],
        proves: &dyn Fn(&Contents, &Contents) -> bool,
    ) -> Vec<Vec<&'n String>> {
        let contents = |name: &String| self.with_contents(&groups[name]);
        let mut clusters: Vec<Vec<&String>> = Vec::new();
        for name in names {
            let mine = contents(name);
            let fits = clusters.iter().position(|cluster| {
                let theirs: Vec<_> = cluster.iter().flat_map(|name| contents(name)).collect();
                let both: Vec<_> = theirs.iter().chain(&mine).copied().collect();
                let proven = mine.iter().any(|(_, mine)| theirs.iter().any(|(_, other)| proves(mine, other)));
                proven && contradictions(&both).is_empty()
            });
            match fits {
                Some(at) => clusters[at].push(name),
                None => clusters.push(vec![name]),
            }
        }
        clusters.retain(|cluster| cluster.len() > 1);
        clusters
    }

    /// What is left to contradict is refused.
    fn conclude(self) -> Decisions {
        let mut refusals = Vec::new();
        let mut refused: BTreeSet<usize> = BTreeSet::new();
        for (name, group) in self.groups() {
            if let Some(first) = contradictions(&self.with_contents(&group)).first() {
                refusals.push(Refusal { message: self.refusal(&name, &group, first), inputs: group.clone() });
                refused.extend(group);
            }
        }
        let nodes = self.nodes.into_iter().enumerate();
        let nodes = nodes.map(|(at, node)| (!refused.contains(&at)).then_some(node)).collect();
        Decisions { nodes, refusals }
    }

    fn refusal(&self, name: &str, group: &[usize], first: &Contradiction) -> String {
        let path = |at: usize| &self.inputs[at].path;
        let [a, b] = first.inputs.map(path);
        let rules = group.iter().zip(1..).take(MOST_LISTED).map(|(&at, number)| {
            format!("--node server{number}='{}'", Pattern::escape(path(at)).replace('\'', "'\\''"))
        });
        let rules: Vec<String> = rules.collect();
        let more = group.len().saturating_sub(MOST_LISTED);
        let more = if more > 0 { format!(" .. and so on for {more} more") } else { String::new() };
        format!(
            "`{a}` and `{b}` are logs of different servers, but both would be node {name}: {first}; say which server each is of: {}{more}",
            rules.join(" ")
        )
    }

    /// Inputs by what they are called, without those whose node is given.
    fn groups(&self) -> BTreeMap<String, Vec<usize>> {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| self.inputs[*at].fixed.is_none()) {
            groups.entry(node.node.clone()).or_default().push(at);
        }
        groups
    }

    fn with_contents(&self, group: &[usize]) -> Vec<(usize, &'a Contents)> {
        let inputs = self.inputs;
        group.iter().map(|&at| (at, &inputs[at].contents)).collect()
    }

    fn call(&mut self, at: usize, node: String, from: NodeFrom, why: &str) {
        self.nodes[at] = Decision { node, from, why: Some(why.to_owned()) };
    }
}

/// Whether a name is neither that of a piece nor one side of a comparison.
fn is_own_name(name: &str) -> bool {
    words::without_pieces(name).is_none() && !words::is_contrast(name)
}

/// Whether what a log holds may tell more than its name: neither that of a host nor one side of a comparison.
fn may_be_a_piece(name: &str) -> bool {
    !words::is_host_like(name) && !words::is_contrast(name)
}
