//! The spot market in random runs (rules 6), held against books of its own.

mod auction;
mod bills;
mod books;
mod grants;
mod play;
