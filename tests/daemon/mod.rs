//! `lioprof daemon` as a process, on a simulated server (`lioprof replay`) with real files.
//!
//! * `same`: what the daemon keeps gives the same analysis as the log that was played.
//! * `kill`: SIGKILL at any stage, then a restart: no row lost, none twice, all settings as before.
//! * `disk`: full disks, for the rows and for the kernel.
//! * `frozen`: a disk that does not answer for a while.
//! * `files`: segments that vanish.
//! * `others`: other debug daemons, other people's masks, modules unloaded.
//! * `overload`: a burst above the kernel's buffer, a clock that is stepped.
//! * `before`: what was logged before the capture.
//! * `start`: what keeps it from starting.
//! * `room`: where the segments go, and how much room they get.
//! * `left`: what a killed daemon left is found, whatever its directory.
//! * `lustre`: Lustre that is loaded late, unloaded, and loaded again.
//! * `by_hand`: the commands of the documentation.
//! * `talk`: commands, metrics, rubbish.
//! * `ending`: signals, `--for`, `--until`, triggers.
//! * `traced`: when there was tracing, as an analysis tells it.
//! * `record`: many servers at once, over ssh.
//! * `top`: what the server does now, on a real terminal and over ssh as well.
//! * `budget`: step by step down to nothing.
//! * `dashboards`: those for Grafana, and rules, against a real Prometheus (`scripts/check-metrics`).
//!
//! They need root, `/dev/fuse` and loop devices, wait for states instead of sleeping, and each has its own directory.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod before;
mod budget;
mod by_hand;
mod checked;
mod dashboards;
mod disk;
mod ending;
mod files;
mod fixture;
mod frozen;
mod kill;
mod left;
mod lustre;
mod node;
mod others;
mod overload;
mod process;
mod record;
mod room;
mod same;
mod start;
mod talk;
mod tmpfs;
mod tmux;
mod top;
mod traced;
