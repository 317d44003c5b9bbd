//! The one way to write a line.

/// Writes a line with a pen if the log wants it, and moves the pen on.
macro_rules! say {
    ($sim:expr, $pen:expr, $site:ident, |$line:ident| $body:expr) => {{
        let sites = &$sim.world.wording.sites;
        if let Some(mut out) = $sim.log.line($pen, &sites.$site) {
            let $line = &mut out;
            $body;
        }
    }};
}

/// Writes a line about a lock.
macro_rules! say_lock {
    ($sim:expr, $pen:expr, $site:ident, $message:expr, $lock:expr, $look:expr) => {{
        let wording = $sim.world.wording;
        say!($sim, $pen, $site, |line| crate::wording::ldlm::lock(
            line,
            wording,
            $message,
            &$sim.world.lock_line($lock, $look)
        ));
    }};
}

pub(crate) use {say, say_lock};
