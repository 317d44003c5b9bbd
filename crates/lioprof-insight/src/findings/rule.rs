//! What every rule is made of.

pub(super) use super::case::{Case, Look, Nothing, Question, Rule};
pub(super) use super::draft::{Cost, Draft};
pub(super) use super::limits::{Limit, limit};
pub(super) use super::stats::{median, real, share};
