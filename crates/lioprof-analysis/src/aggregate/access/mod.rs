//! How reads and writes lie in their objects and in time: what findings about access rest on.
//!
//! * `stream`: one client's reads or writes of one object: shape and order.
//! * `object`: streams summed up by object.
//! * `mix`: small RPCs between large ones.
//! * `spread`: over how many OSTs requests are spread at any moment.

mod class;
mod finish;
mod mix;
mod object;
mod spread;
mod stream;
mod sums;

pub(crate) use sums::AccessSums;
