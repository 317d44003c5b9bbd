use super::*;

const TEXT: &str = "Lustre: lustre-OST0003: Aborting recovery";
/// 2026-11-25T09:46:40Z.
const UTC_US: i64 = 1_795_600_000_000_000;

fn line(text: &str) -> KernelLine<'_> {
    KernelLine::parse(text.as_bytes()).unwrap_or_else(|| panic!("no line of the kernel: {text}"))
}

fn local(year: Option<i32>, us: i64) -> Stamp {
    Stamp::Local { year, month: 11, day: 25, us }
}

#[test]
fn stamps_of_all_forms() {
    let us = ((9 * 60 + 46) * 60 + 40) * 1_000_000;
    for (prefix, stamp, host) in [
        ("[ 3933.759450] ", Stamp::Boot(3_933_759_450), None),
        ("[12345678.000001] ", Stamp::Boot(12_345_678_000_001), None),
        ("<3>[ 3933.759450] ", Stamp::Boot(3_933_759_450), None),
        ("[ 3933.759450] [ T1234] ", Stamp::Boot(3_933_759_450), None),
        ("[ 3933.759450][   C3] ", Stamp::Boot(3_933_759_450), None),
        ("kern  :err   : [ 3933.759450] ", Stamp::Boot(3_933_759_450), None),
        ("3,1234,3933759450,-;", Stamp::Boot(3_933_759_450), None),
        ("[Wed Nov 25 09:46:40 2026] ", local(Some(2026), us), None),
        ("[Mi Nov 25 09:46:40 2026] ", local(Some(2026), us), None),
        ("[mer. nov. 25 09:46:40 2026] ", local(Some(2026), us), None),
        ("[\u{6c34} 11\u{6708} 25 09:46:40 2026] ", local(Some(2026), us), None),
        ("kern  :warn  : [Wed Nov 25 09:46:40 2026] ", local(Some(2026), us), None),
        ("2026-11-25T10:46:40,000000+01:00 ", Stamp::Unix(UTC_US), None),
        ("Nov 25 09:46:40 oss01 kernel: ", local(None, us), Some("oss01")),
        ("Nov 25 09:46:40 oss01 kern.warn kernel: ", local(None, us), Some("oss01")),
        ("Nov 25 09:46:40 oss01 kernel: [ 3933.759450] ", local(None, us), Some("oss01")),
        ("Nov 25 2026 09:46:40 oss01 kernel: ", local(Some(2026), us), Some("oss01")),
        ("<4>Nov 25 09:46:40.250000 oss01 kernel: ", local(None, us + 250_000), Some("oss01")),
        ("2026-11-25T09:46:40.5+00:00 oss01.site kernel: ", Stamp::Unix(UTC_US + 500_000), Some("oss01.site")),
        ("2026-11-25T04:46:40-0500 oss01 kern.err kernel: ", Stamp::Unix(UTC_US), Some("oss01")),
        ("2026-11-25T09:46:40Z oss01 kernel: ", Stamp::Unix(UTC_US), Some("oss01")),
        ("2026-11-25 09:46:40 oss01 kernel: ", local(Some(2026), us), Some("oss01")),
        ("Wed 2026-11-25 09:46:40 UTC oss01 kernel: ", Stamp::Unix(UTC_US), Some("oss01")),
        ("Wed 2026-11-25 10:46:40 CET oss01 kernel: ", local(Some(2026), us + 3_600_000_000), Some("oss01")),
        ("1795600000.250000 oss01 kernel: ", Stamp::Unix(UTC_US + 250_000), Some("oss01")),
        ("[ 3933.759450] oss01 kernel: ", Stamp::Boot(3_933_759_450), Some("oss01")),
        ("[ 3933.759450 <    0.000012>] ", Stamp::Boot(3_933_759_450), None),
        ("[Nov25 09:46] ", local(None, us - 40_000_000), None),
        ("[Nov 25 09:46] ", local(None, us - 40_000_000), None),
        ("[Nov25 09:46 + 0.500000] ", local(None, us - 40_000_000), None),
        ("[  +0.000012] ", Stamp::Since(12), None),
        ("2026 Nov 25 09:46:40 oss01 kernel: ", local(Some(2026), us), Some("oss01")),
        ("<3>1 2026-11-25T09:46:40.000000Z oss01 kernel - - - ", Stamp::Unix(UTC_US), Some("oss01")),
        ("<3>1 2026-11-25T09:46:40Z oss01 kernel 0 ID7 [a@1 b=\"c d\"] ", Stamp::Unix(UTC_US), Some("oss01")),
        ("2026-11-25T09:46:40.000000000Z [ 3933.759450] ", Stamp::Unix(UTC_US), None),
        ("2026-11-25 09:46:40 [ 3933.759450] ", local(Some(2026), us), None),
        ("2026-11-25T03:46:40.000000-06:00 c0-0c0s1n1 ", Stamp::Unix(UTC_US), Some("c0-0c0s1n1")),
        ("2026-11-25T09:46:40Z oss01 ", Stamp::Unix(UTC_US), Some("oss01")),
        ("[2026-11-25 09:46:40][c0-0c0s1n1]", local(Some(2026), us), Some("c0-0c0s1n1")),
        ("[2026-11-25 09:46:40] [x1000c0s1b0n0] ", local(Some(2026), us), Some("x1000c0s1b0n0")),
        ("[2026-11-25 09:46:40] ", local(Some(2026), us), None),
    ] {
        for end in ["", "\r"] {
            let text = format!("{prefix}{TEXT}{end}");
            let expected = KernelLine { stamp: Some(stamp), host: host.map(str::as_bytes), text: TEXT.as_bytes() };
            assert_eq!(line(&text), expected, "{text}");
        }
    }
    assert_eq!(line("Nov  5 09:46:40 oss01 kernel: x").stamp, Some(Stamp::Local { year: None, month: 11, day: 5, us }));
    assert_eq!(line(TEXT).stamp, None);
}

#[test]
fn lines_of_other_programs_are_none_of_the_kernel() {
    for text in [
        "Nov 25 09:46:40 oss01 systemd[1]: Started Session 1 of user root.",
        "Nov 25 09:46:40 oss01 lctl[4242]: 00000001:02000400:0.0F:1795600000.000000:0:1999:0:(debug.c:1:f()) DEBUG MARKER: x",
        "2026-11-25T09:46:40Z oss01 auditd: x",
        "00000100:00080000:0.0:1795600005.010000:0:2253:0:(import.c:62:f()) x",
        "Nov 25",
        "Nov 32 09:46:40 oss01 kernel: x",
        "<30>1 2026-11-25T09:46:40Z oss01 systemd 1 - - Started x",
        "2026-11-25T09:46:40Z oss01 Started x",
        "[Nov25] x",
        "[+1] x",
        "[2026-11-25] x",
        "free text",
        "",
    ] {
        assert_eq!(KernelLine::parse(text.as_bytes()), None, "{text}");
    }
}

/// `dmesg -e` tells a minute where one begins, and else how long it is since the line before.
#[test]
fn stamps_that_count_from_the_line_before() {
    let minute = 9 * 3_600_000_000;
    let mut before = None;
    let mut next = |stamp: Stamp| {
        before = stamp.behind(before);
        before
    };
    assert_eq!(next(Stamp::Since(5)), None);
    assert_eq!(next(local(None, minute)), Some(local(None, minute)));
    assert_eq!(next(Stamp::Since(59_000_000)), Some(local(None, minute + 59_000_000)));
    assert_eq!(next(local(None, minute)), Some(local(None, minute + 59_000_000)));
    assert_eq!(next(local(None, minute + 60_000_000)), Some(local(None, minute + 60_000_000)));
    assert_eq!(next(Stamp::Boot(7)), Some(Stamp::Boot(7)));
    assert_eq!(next(Stamp::Since(7)), Some(Stamp::Boot(14)));
}

#[test]
fn local_times_become_moments() {
    for (year, month, day, expected_day) in
        [(1970, 1, 1, 0), (2000, 2, 29, 11_016), (2026, 11, 25, 20_782), (2100, 3, 1, 47_541)]
    {
        let stamp = Stamp::Local { year: Some(year), month, day, us: 7 };
        assert_eq!(stamp.as_if_utc_us(1999), Some(expected_day * 86_400_000_000 + 7), "{year}-{month}-{day}");
    }
    assert_eq!(Stamp::Local { year: None, month: 1, day: 2, us: 0 }.as_if_utc_us(1970), Some(86_400_000_000));
    assert_eq!(Stamp::Boot(1).as_if_utc_us(2000), None);
}

#[test]
fn sentences_lose_their_place() {
    let said = "### lock callback timer expired after 151s: evicting client at 10.0.0.1@tcp  ns: filter-a-OST0000_UUID lock: f";
    let text = format!("LustreError: 2194:0:(ldlm_lockd.c:251:expired_lock_main()) {said}");
    let sentence = Sentence::of(text.as_bytes());
    assert_eq!(sentence.text, said.as_bytes());
    assert_eq!(sentence.event().map(|event| event.kind.as_str()), Some("eviction"));
    let skipped = Sentence::of(b"Lustre: 2194:0:(service.c:1:f()) Skipped 12 previous similar messages");
    assert_eq!((skipped.skipped(), skipped.event()), (Some(12), None));
    assert_eq!(Sentence::of(b"LustreError: Skipped 1 previous similar message").skipped(), Some(1));
    for text in ["Lustre: a (b()) c", "Lustre: 10.0.0.1@tcp:(x y:1:f()) c", "LNet: :(a:1:f()) c"] {
        let sentence = Sentence::of(text.as_bytes());
        assert_eq!(sentence.text, text.split_once(": ").unwrap().1.as_bytes());
    }
    assert_eq!(Sentence::of(b"eth0: link up").voice, None);
}

#[test]
fn kernel_logs_are_told_from_other_texts() {
    let debug = "00000100:00080000:0.0:1795600005.010000:0:2253:0:(import.c:62:f()) x";
    for (text, form) in [
        (format!("[ 3933.759450] {TEXT}\n"), Some(KernelLogForm::Dmesg)),
        ("[    0.000000] Linux version 5.14\n[    0.000001] Command line: x\n".to_owned(), Some(KernelLogForm::Dmesg)),
        (format!("{TEXT}\n"), Some(KernelLogForm::Dmesg)),
        (
            "Nov 25 09:46:40 oss01 systemd[1]: x\nNov 25 09:46:40 oss01 kernel: eth0: up\n".to_owned(),
            Some(KernelLogForm::Syslog),
        ),
        (r#"{"__REALTIME_TIMESTAMP":"1795600000000000","MESSAGE":"x"}"#.to_owned(), Some(KernelLogForm::Json)),
        ("{\n        \"__REALTIME_TIMESTAMP\" : \"1\"\n}\n".to_owned(), Some(KernelLogForm::Json)),
        ("data: {\"__REALTIME_TIMESTAMP\" : \"1\"}\n\n".to_owned(), Some(KernelLogForm::Json)),
        ("__CURSOR=s=1\n__REALTIME_TIMESTAMP=1\nMESSAGE=x\n\n".to_owned(), Some(KernelLogForm::Fields)),
        ("Wed 2026-11-25 07:00:01 CET [s=1;i=1]\n    _TRANSPORT=kernel\n".to_owned(), Some(KernelLogForm::Fields)),
        (format!("Nov 25 09:46:40 oss01 kernel: {debug}\n"), None),
        (format!("[ 3933.759450] {debug}\n"), None),
        (format!("{debug}\n"), None),
        (r#"{"analysis": "dk"}"#.to_owned(), None),
        ("obdfilter.work1-OST0004.job_stats=\n".to_owned(), None),
        ("Nov 25 09:46:40 oss01 systemd[1]: x\n".to_owned(), None),
        ("[1] a footnote\n".to_owned(), None),
        (format!("notes\nof a\ncrash:\n{TEXT}\n[ 3933.759450] {TEXT}\n"), None),
        (String::new(), None),
    ] {
        assert_eq!(detect(text.as_bytes()), form, "{text}");
    }
}
