//! The daemon of this server.

use std::sync::mpsc::Sender;
use std::time::Duration;

use lioprof_capture::Client;
use lioprof_model::Live;
use lioprof_top::Update;

use crate::args::TopArgs;
use crate::daemon_client;
use crate::messages::Verbosity;

/// How long to wait for an answer: the daemon may be decoding a large segment.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn ask(args: &TopArgs, verbosity: Verbosity) -> anyhow::Result<Live> {
    daemon_client::ask(&args.talk, PATIENCE, verbosity, Client::live)
}

/// Asks again and again, on a thread of its own, for as long as somebody listens.
pub(super) fn follow(args: &TopArgs, verbosity: Verbosity, updates: Sender<Update>) -> anyhow::Result<()> {
    // Without a daemon there is nothing to follow: that is better said before the screen is taken.
    let socket = daemon_client::find(&args.talk, PATIENCE, verbosity)?;
    let interval = args.interval;
    std::thread::Builder::new().name("ask".to_owned()).spawn(move || {
        let client = Client::new(&socket, PATIENCE);
        loop {
            let update = match client.live() {
                Ok(live) => Update::Live(Box::new(live)),
                Err(err) => Update::Trouble(lioprof_model::with_causes(&err)),
            };
            if updates.send(update).is_err() {
                return;
            }
            std::thread::sleep(interval);
        }
    })?;
    Ok(())
}
