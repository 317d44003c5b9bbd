//! `lioprof check`: the state of servers, without tracing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use lioprof_health::{
    Detail, FACTS_SCHEMA, Fact, ServerFacts, Status, SurveyFacts, TextOptions, Watch, gather, judge, judge_kernel_logs,
    text,
};
use lioprof_model::time::now_us;
use lioprof_model::units::{human_bytes, plural};
use lioprof_model::with_causes;
use lioprof_remote::{RemoteCommand, Ssh, on_all};

use crate::args::{CheckArgs, FailOn};
use crate::exit_code::Code;
use crate::kernel_logs;
use crate::messages::{self, Verbosity};
use crate::survey::{self, Caution};
use crate::survey_files::SurveyFiles;

pub(crate) fn run(args: &CheckArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    if args.facts {
        let mut facts = of_this_server(&args.root, args.watch, verbosity);
        if args.run_survey {
            facts.survey = Some(survey::of_this_server(&args.root, &facts, &args.survey_settings, caution(args)));
        }
        messages::found(true, &facts, "")?;
        return Ok(Code::Success);
    }
    if !args.kernel_log.is_empty() {
        let clock = kernel_logs::Clock { boot_us: args.boot_time, zone_us: args.timezone };
        let report = judge_kernel_logs(kernel_logs::read(&args.kernel_log, clock)?);
        messages::found(args.json, &report, text(&report, TextOptions { all: verbosity == Verbosity::Verbose }))?;
        return Ok(code(&report, args.fail_on));
    }
    let (mut servers, failed) = if let Some(hosts) = &args.hosts {
        if let Some(time) = args.watch {
            messages::note(verbosity, &format!("watching the disks for {}", humantime::format_duration(time)));
        }
        let more = args.watch.map_or_else(Vec::new, |time| vec!["--watch".to_owned(), one_word(time)]);
        // All at once, so that disks are watched at the same time.
        let at_once = if args.watch.is_some() { hosts.len() } else { AT_ONCE };
        of_hosts(hosts.names(), args, &more, at_once, PATIENCE + args.watch.unwrap_or_default())?
    } else if args.facts_files.is_empty() {
        let facts = of_this_server(&args.root, args.watch, verbosity);
        if let Some(why) = facts.unusable() {
            bail!("not a Lustre server: {why}");
        }
        (vec![facts], Vec::new())
    } else {
        let all = args.facts_files.iter().map(|path| of_file(path)).collect::<anyhow::Result<_>>()?;
        (all, Vec::new())
    };
    if let Some(dir) = &args.survey
        && !survey_all(dir, &mut servers, args, verbosity)?
    {
        return Ok(Code::Unusable);
    }
    let report = judge(servers, failed);
    messages::found(args.json, &report, text(&report, TextOptions { all: verbosity == Verbosity::Verbose }))?;
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
/// Time for a survey: large disks and many threads take hours.
const SURVEY_PATIENCE: Duration = Duration::from_secs(86_400);
/// Time for a server to read its files: the kernel log may be long, and the server busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Has each host read its own facts, with more arguments. Hosts that cannot are told apart from those that are not well.
fn of_hosts(
    hosts: &[String],
    args: &CheckArgs,
    more: &[String],
    at_once: usize,
    patience: Duration,
) -> anyhow::Result<(Vec<ServerFacts>, Vec<Detail>)> {
    let ssh = Ssh::new(&args.ssh)?;
    let mut command = RemoteCommand::new(&args.remote_lioprof).args(["check", "--facts"]).as_root();
    for argument in more {
        command = command.arg(argument);
    }
    if args.root != Path::new("/") {
        command = command.arg("--root").arg(args.root.display().to_string());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answers = runtime.block_on(on_all(hosts.to_vec(), at_once, |host| {
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
            Some(why) => Err(format!("not a Lustre server: {why}")),
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

fn one_word(time: Duration) -> String {
    humantime::format_duration(time).to_string().replace(' ', "")
}

fn caution(args: &CheckArgs) -> Caution {
    Caution { under_load: args.survey_under_load, idle: args.survey_idle }
}

/// Surveys all servers that have OSTs, at the same time, and keeps what they found; false if somebody does not want it.
fn survey_all(dir: &Path, servers: &mut [ServerFacts], args: &CheckArgs, verbosity: Verbosity) -> anyhow::Result<bool> {
    let with_osts: Vec<String> =
        servers.iter().filter(|facts| survey::osts(facts).count() > 0).map(|facts| facts.server.clone()).collect();
    let osts: usize = servers.iter().map(|facts| survey::osts(facts).count()).sum();
    ensure!(osts > 0, "--survey: these servers have no OSTs");
    let files = SurveyFiles::open(dir, now_us())?;
    let size = human_bytes(args.survey_settings.size_mib().saturating_mul(1 << 20));
    let what = format!(
        "obdfilter-survey writes {size} to objects of its own on each of {} of {}, several times, and deletes them. It takes minutes, \
         and all that the disks deliver.",
        plural(osts as u64, "OST"),
        plural(with_osts.len() as u64, "server"),
    );
    if !args.yes && !agreed(&what)? {
        messages::note(verbosity, "no survey was made");
        return Ok(false);
    }
    let begun = Instant::now();
    messages::note(verbosity, "the survey has begun; it takes minutes, and says nothing until the last OST is done");
    let surveys: BTreeMap<String, Fact<SurveyFacts>> = if args.hosts.is_some() {
        let mut more =
            vec!["--run-survey".to_owned(), "--survey-settings".to_owned(), args.survey_settings.to_string()];
        more.extend(["--survey-idle".to_owned(), one_word(args.survey_idle)]);
        more.extend(args.survey_under_load.then(|| "--survey-under-load".to_owned()));
        let (surveyed, failed) = of_hosts(&with_osts, args, &more, with_osts.len(), SURVEY_PATIENCE)?;
        let made = surveyed.into_iter().filter_map(|facts| Some((facts.server, facts.survey?)));
        made.chain(failed.into_iter().map(|it| (it.server, Fact::Unknown(it.found)))).collect()
    } else {
        let made = |facts: &ServerFacts| {
            let survey = survey::of_this_server(&args.root, facts, &args.survey_settings, caution(args));
            (facts.server.clone(), survey)
        };
        servers.iter().map(made).collect()
    };
    let took = Duration::from_secs(begun.elapsed().as_secs());
    let said = if surveys.values().any(|survey| matches!(survey, Fact::Known(_))) {
        format!("the survey took {}", humantime::format_duration(took))
    } else {
        "no server was surveyed".to_owned()
    };
    messages::note(verbosity, &said);
    for (server, mut survey) in surveys {
        if let Fact::Known(survey) = &mut survey {
            files.keep(&server, survey)?;
        }
        if let Some(facts) = servers.iter_mut().find(|facts| facts.server == server) {
            facts.survey = Some(survey);
        }
    }
    Ok(true)
}

/// Asks on the terminal.
fn agreed(what: &str) -> anyhow::Result<bool> {
    ensure!(io::stdin().is_terminal(), "--survey: {what} Nobody is there to ask: --yes goes ahead");
    let mut err = io::stderr().lock();
    write!(err, "{what}\nGo ahead? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
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
