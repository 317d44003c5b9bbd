//! `lioprof check`: the state of servers, without tracing.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use lioprof_health::{Detail, FACTS_SCHEMA, ServerFacts, Status, TextOptions, Watch, gather, judge, text};
use lioprof_model::time::now_us;
use lioprof_model::with_causes;
use lioprof_remote::{HostList, RemoteCommand, Ssh, on_all};

use crate::args::{CheckArgs, FailOn};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &CheckArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let mut out = io::stdout().lock();
    if args.facts {
        let facts = of_this_server(&args.root, args.watch, verbosity);
        serde_json::to_writer_pretty(&mut out, &facts)?;
        writeln!(out)?;
        return Ok(Code::Success);
    }
    let (servers, failed) = if let Some(hosts) = &args.hosts {
        if let Some(time) = args.watch {
            messages::note(verbosity, &format!("watching the disks for {}", humantime::format_duration(time)));
        }
        of_hosts(hosts, args)?
    } else if args.facts_files.is_empty() {
        let facts = of_this_server(&args.root, args.watch, verbosity);
        if let Some(why) = facts.unusable() {
            bail!("this is no Lustre server: {why}");
        }
        (vec![facts], Vec::new())
    } else {
        let all = args.facts_files.iter().map(|path| of_file(path)).collect::<anyhow::Result<_>>()?;
        (all, Vec::new())
    };
    let report = judge(servers, failed);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text(&report, TextOptions { all: verbosity == Verbosity::Verbose }))?;
    }
    Ok(code(&report, args.fail_on))
}

fn of_this_server(root: &Path, watch: Option<Duration>, verbosity: Verbosity) -> ServerFacts {
    let watched = watch.map(|time| {
        messages::note(verbosity, &format!("watching the disks for {}", humantime::format_duration(time)));
        let watch = Watch::begin(root);
        // The time itself is what was asked for.
        std::thread::sleep(time);
        watch
    });
    let mut facts = gather(root, now_us());
    if let Some(watch) = watched {
        watch.end(&mut facts);
    }
    facts
}

/// Servers that are asked at the same time; each takes an ssh process here.
const AT_ONCE: usize = 64;
/// Time for a server to read its files: the kernel log may be long, and the server busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Has each host read its own facts. Hosts that cannot are told apart from those that are not well.
fn of_hosts(hosts: &HostList, args: &CheckArgs) -> anyhow::Result<(Vec<ServerFacts>, Vec<Detail>)> {
    let ssh = Ssh::new(&args.ssh)?;
    let mut command = RemoteCommand::new(&args.remote_lioprof).args(["check", "--facts"]).as_root();
    if let Some(time) = args.watch {
        command = command.arg("--watch").arg(humantime::format_duration(time).to_string().replace(' ', ""));
    }
    if args.root != Path::new("/") {
        command = command.arg("--root").arg(args.root.display().to_string());
    }
    let patience = PATIENCE + args.watch.unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // All at once, so that disks are watched at the same time.
    let at_once = if args.watch.is_some() { hosts.len() } else { AT_ONCE };
    let answers = runtime.block_on(on_all(hosts.names(), at_once, |host| {
        let (ssh, command) = (ssh.clone(), command.clone());
        async move {
            let answer = ssh.run(&host, &command, b"", patience).await;
            (host, answer)
        }
    }));
    let (mut servers, mut failed) = (Vec::new(), Vec::new());
    for (host, answer) in answers {
        let facts = match answer {
            Ok(output) => of_json(&output.stdout).map_err(|err| format!("it runs another version of lioprof: {err:#}")),
            Err(error) => Err(with_causes(&error)),
        };
        let facts = facts.and_then(|facts| match facts.unusable() {
            Some(why) => Err(format!("this is no Lustre server: {why}")),
            None => Ok(facts),
        });
        match facts {
            // Two hosts may call themselves the same; the name that was asked for tells them apart.
            Ok(facts) => servers.push(ServerFacts { server: host, ..facts }),
            Err(found) => failed.push(Detail { status: Status::Unknown, server: host, target: String::new(), found }),
        }
    }
    Ok((servers, failed))
}

fn of_file(path: &Path) -> anyhow::Result<ServerFacts> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).context("failed to read standard input")?;
    } else {
        bytes = fs::read(path).with_context(|| format!("failed to read `{}`", path.display()))?;
    }
    of_json(&bytes).with_context(|| {
        format!("`{}`: expected what `lioprof check --facts` prints, of the same version of lioprof", path.display())
    })
}

fn of_json(bytes: &[u8]) -> anyhow::Result<ServerFacts> {
    let facts: ServerFacts = serde_json::from_slice(bytes)?;
    ensure!(facts.schema == FACTS_SCHEMA, "schema `{}`, expected `{FACTS_SCHEMA}`", facts.schema);
    Ok(facts)
}

fn code(report: &lioprof_health::Report, fail_on: FailOn) -> Code {
    let limit = match fail_on {
        FailOn::Warning => Status::Warning,
        FailOn::Critical => Status::Critical,
    };
    if report.worst() <= limit {
        Code::Failed
    } else if report.failed.is_empty() {
        Code::Success
    } else {
        Code::Unusable
    }
}
