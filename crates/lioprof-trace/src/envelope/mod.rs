//! How text arrives: what mail clients, web pages, `pdsh`, `grep` and syslog make of a log, undone.
//!
//! Nothing of this runs over a clean log. Two things start it, each where it is met: no header stands where one must
//! ([`prefix`], [`heading`]: something stands before the lines; [`wrap`]: lines were broken), and a known kind of message does not
//! parse ([`characters`]: its characters were changed). From there on to the end of the chunk, [`repair`] writes the log as it was,
//! and the usual path reads that. A record is repaired by itself, so where chunks end makes no difference.
//!
//! What is the same around every line of a file is taken away as it is read ([`frame`]).
//!
//! Lines of several hosts are told apart before they are read ([`split`]): each host's lines are an input of their own.
//!
//! Kernel logs arrive in the same ways ([`kernel`]). They are small, so each line of theirs is looked at.

pub(crate) mod characters;
pub(crate) mod cut;
pub(crate) mod frame;
pub(crate) mod heading;
pub(crate) mod kernel;
pub(crate) mod kinds;
pub(crate) mod prefix;
pub(crate) mod repair;
pub(crate) mod split;
pub(crate) mod wrap;
