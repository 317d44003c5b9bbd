//! Files that are missing, cut or full of rubbish: nothing panics, and what is not known says so.

use std::fs;

use lioprof_health::{Status, TextOptions, gather, judge, text};
use lioprof_testkit::files::files_under;

use crate::site::{Site, T_US};

#[test]
fn rubbish_in_every_file() {
    let contents: [&[u8]; 6] = [
        b"",
        b"\0\xff\xfe",
        b"| : |\n:|:\n",
        b"-1\n",
        b"99999999999999999999999 samples\n",
        b"- name:\nstatus:\n,,;;\n",
    ];
    for content in contents {
        let site = Site::new();
        for file in files_under(site.root(2)) {
            fs::write(file, content).unwrap();
        }
        let report = judge(vec![site.facts(2)], Vec::new());
        assert!(!text(&report, TextOptions { all: true }).is_empty());
    }
}

#[test]
fn each_file_missing_or_cut_harms_no_other() {
    let site = Site::new();
    let files = files_under(site.root(2));
    let fine = site.report().results.iter().filter(|result| result.status <= Status::Warning).count();
    assert_eq!((fine, files.len() > 90), (0, true));
    for file in files {
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let without = site.report();
        // Only a mount table that is not there at all, or a list of devices, makes a target look gone.
        let wrong: Vec<_> = without.results.iter().filter(|result| result.status == Status::Critical).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", file.display());
        fs::write(&file, whole.get(..whole.len() / 2).unwrap()).unwrap();
        let _cut = site.report();
        fs::write(&file, whole).unwrap();
    }
}

#[test]
fn an_empty_root_is_no_server() {
    let dir = tempfile::tempdir().unwrap();
    let facts = gather(dir.path(), T_US);
    assert!(facts.unusable().unwrap().contains("is Lustre loaded"), "{facts:?}");
    let report = judge(vec![facts], Vec::new());
    assert_eq!(report.worst(), Status::Unknown);
    assert!(report.results.iter().all(|result| result.status == Status::Unknown), "{report:?}");
}
