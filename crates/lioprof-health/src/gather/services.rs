//! Services: threads and schedulers.

use lioprof_params::{SERVICES, Tree};

use crate::facts::{Fact, Policy, ServiceFacts};

pub(super) fn read(tree: &mut Tree) -> Fact<Vec<ServiceFacts>> {
    let mut services = Vec::new();
    for dir in SERVICES {
        // Beside its services a device has its uuid, which is a file (seen on 2.17).
        for name in tree.list(dir).into_iter().filter(|name| name != "uuid") {
            services.push(one(tree, &format!("{dir}/{name}")));
        }
    }
    let known = !services.is_empty();
    Fact::or(known.then_some(services), "no services: the server has no targets, or Lustre is not loaded")
}

fn one(tree: &mut Tree, path: &str) -> ServiceFacts {
    let number = |tree: &mut Tree, file: &'static str| {
        Fact::or(tree.number(file, &format!("{path}/{file}")), &format!("cannot read `{file}`"))
    };
    // Without a TBF scheduler the file gives ENODEV (ptlrpc `nrs_tbf.c`).
    let rules = tree.read("nrs_tbf_rule", &format!("{path}/nrs_tbf_rule")).map(|text| tbf_rules(&text));
    let policies = tree.read("nrs_policies", &format!("{path}/nrs_policies")).and_then(|text| policies(&text));
    ServiceFacts {
        name: path.replace('/', "."),
        threads_started: number(tree, "threads_started"),
        threads_min: number(tree, "threads_min"),
        threads_max: number(tree, "threads_max"),
        policies: Fact::or(policies, "cannot read `nrs_policies`"),
        tbf_rules: rules.unwrap_or_default(),
    }
}

/// Schedulers that are started and not the fallback (ptlrpc `lproc_ptlrpc.c`, `ptlrpc_lprocfs_nrs_policies_seq_show`). `None` if the
/// text has no scheduler at all.
fn policies(text: &str) -> Option<Vec<Policy>> {
    let mut queue = "regular";
    let mut name: Option<&str> = None;
    let (mut started, mut any) = (false, false);
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        match line {
            "regular_requests:" => queue = "regular",
            "high_priority_requests:" => queue = "high_priority",
            _ => {}
        }
        if let Some(new) = line.strip_prefix("- name:") {
            (name, started, any) = (Some(new.trim()), false, true);
        } else if let Some(state) = line.strip_prefix("state:") {
            started = state.trim() == "started";
        } else if let Some(fallback) = line.strip_prefix("fallback:")
            && let Some(name) = name.take()
            && started
            && fallback.trim() != "yes"
        {
            found.push(Policy { queue: queue.to_owned(), name: name.to_owned() });
        }
    }
    any.then_some(found)
}

/// `NAME CONDITION RATE, ref N` under `CPT N:`; the rule `default` is there whenever the scheduler is. A rule that all CPTs have
/// counts once.
fn tbf_rules(text: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some((rule, _)) = line.rsplit_once(", ref ") else { continue };
        if !rule.starts_with("default ") && rules.iter().all(|known| known != rule) {
            rules.push(rule.to_owned());
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_that_are_started() {
        let text = "\nregular_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n    queued: 0                   \n    \
                    active: 0                   \n\n  - name: tbf jobid\n    state: started\n    fallback: no\n    queued: 3\n    \
                    active: 1\n\nhigh_priority_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n\n  - name: crrn\n    \
                    state: stopped\n    fallback: no\n";
        let found = policies(text).unwrap();
        assert_eq!(found, [Policy { queue: "regular".to_owned(), name: "tbf jobid".to_owned() }]);
        assert_eq!(policies("rubbish\n- name\n"), None);
        assert_eq!(policies(""), None);
    }

    #[test]
    fn throttles_without_the_default_one() {
        let text = "regular_requests:\nCPT 0:\nlimit jobid={dd.0} 100, ref 0\ndefault * 10000, ref 0\nCPT 1:\nlimit jobid={dd.0} 100, \
                    ref 2\ndefault * 10000, ref 0\nhigh_priority_requests:\n";
        assert_eq!(tbf_rules(text), ["limit jobid={dd.0} 100"]);
        assert!(tbf_rules("x, ref").is_empty());
    }
}
