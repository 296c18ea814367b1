//! Where water would run on a land, without moving a grain of it.
//!
//! [`routing`] finds where each cell drains to, lakes and what drains through a cell.

pub mod routing;
