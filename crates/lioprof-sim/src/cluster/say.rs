//! The one way to write a line.

/// Writes a message of the table with a pen if the log wants it, and moves the pen on.
macro_rules! say {
    ($sim:expr, $pen:expr, $message:ident($($value:expr),*)) => {
        if let Some(text) = $sim.log.line($pen, &$sim.world.wording.sites.$message) {
            crate::wording::text::$message(text, $($value),*);
        }
    };
}

pub(crate) use say;
