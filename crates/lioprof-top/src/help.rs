//! What the keys do.

pub(crate) const HELP: &[(&str, &str)] = &[
    ("1 2 3 4 5, Tab", "OSTs, clients, jobs, objects, who waits for whom"),
    ("up, down, k, j", "select a row; also page up and down, home, end"),
    ("Enter", "an OST's clients, a client's objects, an object's clients"),
    ("Esc", "back; out of the filter first"),
    ("left, right, < >", "sort by the column beside; beyond the last one: as at first"),
    ("r", "reverse the order"),
    ("/", "show only rows that contain a text; Enter keeps it, Esc drops it"),
    ("space", "freeze, and go on"),
    ("?, h", "this help"),
    ("q, Ctrl-C", "quit"),
];

pub(crate) const NOTES: &[&str] = &[
    "Rates are of the last 10 seconds, and a few seconds late: the kernel's log is read in pieces.",
    "queue, serv: half of the RPCs waited or took at most this long; q99, s99: 99 % of them.",
    "in flight, waiting: requests at a time, on average. confl/s: conflicts over locks between clients.",
    "read KiB, write KiB: per RPC. - is unknown. Verdicts are of the last full window, a minute long.",
];
