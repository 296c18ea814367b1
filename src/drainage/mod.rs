//! Where water would run on a land, without moving a grain of it.
//!
//! [`routing`] finds where each cell drains to, lakes and what drains through a cell.
//! [`network`] makes rivers, lakes and basins of that: as data for games and files, and
//! kept up to date beside a running game. [`channel`] carves a bed along a line.

pub mod channel;
pub mod network;
pub mod routing;

pub(crate) use network::plugin::build;
