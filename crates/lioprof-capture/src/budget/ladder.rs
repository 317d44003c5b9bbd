//! The levels of tracing, and their order.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::duty::Duty;

/// How much is traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "level")]
pub(crate) enum Level {
    /// As configured.
    #[default]
    Configured,
    /// Longer segments: fewer renames, less work per record.
    WideRotation,
    /// The light profile: only `rpctrace`.
    LightProfile,
    /// Tracing part of the time.
    DutyCycle(Duty),
    /// No tracing.
    Stopped,
}

impl Level {
    /// How many times longer than configured a segment may become.
    pub(crate) fn rotation_factor(self) -> u32 {
        if self == Self::Configured { 1 } else { 4 }
    }

    /// Whether the light profile replaces the configured one.
    pub(crate) fn light(self) -> bool {
        !matches!(self, Self::Configured | Self::WideRotation)
    }

    /// The duty cycle, if there is one.
    pub(crate) fn duty(self) -> Option<Duty> {
        if let Self::DutyCycle(duty) = self { Some(duty) } else { None }
    }

    /// About how much work there is, relative to the full profile. It only serves to foresee what a step up will
    /// cost, so a rough figure does: a bulk RPC logs 2.4 kB with `rpctrace` and 0.9 kB more with `net`, an
    /// uncontended lock 2.5 kB more with `dlmtrace`.
    pub(super) fn relative_load(self) -> f64 {
        const LIGHT: f64 = 0.5;
        match self {
            Self::Configured => 1.0,
            Self::WideRotation => 0.95,
            Self::LightProfile => LIGHT,
            Self::DutyCycle(duty) => LIGHT * duty.share(),
            Self::Stopped => 0.0,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("as configured"),
            Self::WideRotation => f.write_str("longer segments"),
            Self::LightProfile => f.write_str("light profile"),
            Self::DutyCycle(duty) => write!(f, "{} of every {} s", duty.on_s, duty.period_s),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

/// The levels in the order in which they are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ladder {
    /// The levels, from everything to nothing.
    pub(crate) levels: Vec<Level>,
}

impl Ladder {
    /// A ladder for a daemon that begins with the full profile, or with the light one already. `duties` go from
    /// much to little; one that traces no less than the one before is left out.
    pub(crate) fn new(full: bool, duties: &[Duty]) -> Self {
        let mut levels = vec![Level::Configured, Level::WideRotation];
        levels.extend(full.then_some(Level::LightProfile));
        let mut least = 1.0;
        for &duty in duties {
            if duty.on_s > 0 && duty.share() < least {
                least = duty.share();
                levels.push(Level::DutyCycle(duty));
            }
        }
        levels.push(Level::Stopped);
        Self { levels }
    }

    pub(super) fn last(&self) -> usize {
        self.levels.len() - 1
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Self::new(true, &[30, 15, 5].map(|on_s| Duty { on_s, period_s: 60 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_rotation_profile_duty_stop() {
        let text: Vec<String> = Ladder::default().levels.iter().map(ToString::to_string).collect();
        let expected = [
            "as configured",
            "longer segments",
            "light profile",
            "30 of every 60 s",
            "15 of every 60 s",
            "5 of every 60 s",
            "stopped",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn a_light_daemon_has_no_light_step_and_bad_duties_are_left_out() {
        let duties = [(10, 60), (20, 60), (0, 60), (70, 60), (5, 60)].map(|(on_s, period_s)| Duty { on_s, period_s });
        let ladder = Ladder::new(false, &duties);
        let expected = [
            Level::Configured,
            Level::WideRotation,
            Level::DutyCycle(Duty { on_s: 10, period_s: 60 }),
            Level::DutyCycle(Duty { on_s: 5, period_s: 60 }),
            Level::Stopped,
        ];
        assert_eq!(ladder.levels, expected);
    }
}
