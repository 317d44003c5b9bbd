use proptest::prelude::*;

use super::*;

fn names(list: &str) -> Vec<String> {
    list.parse::<HostList>().unwrap_or_else(|err| panic!("{err}")).names
}

#[test]
fn ranges_as_clustershell_and_slurm_write_them() {
    let cases: [(&str, &[&str]); 12] = [
        ("mds1", &["mds1"]),
        ("oss[1,3-5]", &["oss1", "oss3", "oss4", "oss5"]),
        ("oss[08-11],mds1", &["oss08", "oss09", "oss10", "oss11", "mds1"]),
        ("oss[098-101]", &["oss098", "oss099", "oss100", "oss101"]),
        ("oss[9-11]", &["oss9", "oss10", "oss11"]),
        ("oss[0-1]", &["oss0", "oss1"]),
        ("r[1-2]n[1-2].site", &["r1n1.site", "r1n2.site", "r2n1.site", "r2n2.site"]),
        ("oss[0-10/5]", &["oss0", "oss5", "oss10"]),
        (" a b,\nc,, ", &["a", "b", "c"]),
        ("root@oss[1-2]", &["root@oss1", "root@oss2"]),
        ("a,b,a", &["a", "b"]),
        ("10.0.0.[1-2],fe80::1%eth0", &["10.0.0.1", "10.0.0.2", "fe80::1%eth0"]),
    ];
    for (list, expected) in cases {
        assert_eq!(names(list), expected, "{list}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases = [
        ("", "character 1: expected a host, found nothing"),
        (" , ", "found nothing"),
        ("oss[", "character 5: expected `]`, found the end"),
        ("oss[1", "character 6: expected `]`, found the end"),
        ("oss[1-", "character 7: expected `]`, found the end"),
        ("oss[]", "character 5: expected numbers and ranges"),
        ("mds1,oss[a-b]", "character 10: expected numbers and ranges such as [1,3-5], found `a`"),
        ("oss[5-3]", "character 5: the range 5-3 ends before it begins"),
        ("oss[1-3/0]", "a step of 0"),
        ("oss1]", "character 5: found `]` without `[`"),
        ("oss1;reboot", "character 5: expected a letter"),
        ("a,@oss", "character 3: expected a host, found `@`: `nodeset -e`"),
        ("a,-oProxyCommand=x", "`-`"),
        ("ös[1-2", "character 1: expected a letter"),
        ("oss[1-1000000000]", "more than 100000 hosts"),
        ("a[1-9999]b[1-9999]c[1-9999]d[1-9999]e[1-9999]", "more than 100000 hosts"),
        ("oss[1-99999999999999999999]", "18 digits"),
    ];
    for (list, expected) in cases {
        let found = list.parse::<HostList>().map(|list| list.names).unwrap_err().to_string();
        assert!(found.contains(expected), "{list}: {found}");
    }
}

#[test]
fn lists_are_folded() {
    let cases = [
        ("oss01,oss02,oss03,mds1", "oss[01-03],mds1"),
        ("oss9,oss10,oss12", "oss[9-10,12]"),
        ("oss2.site,oss3.site", "oss[2-3].site"),
        ("10.0.0.1,10.0.0.2", "10.0.0.[1-2]"),
        ("a,b", "a,b"),
        ("oss09,oss10", "oss[09-10]"),
        ("oss09,oss9", "oss09,oss9"),
    ];
    for (list, folded) in cases {
        assert_eq!(list.parse::<HostList>().unwrap().to_string(), folded);
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,3}[0-9]{0,4}(-[a-z]{1,2}[0-9]{1,3})?(\\.s[0-9]?)?"
}

proptest! {
    #[test]
    fn folding_loses_nothing(list in prop::collection::vec(name(), 1..40)) {
        let hosts: HostList = list.join(",").parse().unwrap();
        prop_assert_eq!(&hosts.to_string().parse::<HostList>().unwrap(), &hosts);
    }

    #[test]
    fn a_range_has_each_of_its_numbers(first in 0_u64..2000, count in 1_u64..200, width in 0_usize..6) {
        let last = first + count - 1;
        let expected: Vec<String> = (first..=last).map(|number| format!("n{number:0width$}")).collect();
        let list = format!("n[{first:0width$}-{last:0width$}]");
        prop_assert_eq!(names(&list), expected);
    }

    #[test]
    fn nothing_panics(list in "[a\\[\\]0-9,/ @ö-]{0,30}") {
        drop(list.parse::<HostList>());
    }
}
