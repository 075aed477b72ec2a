//! Scenarios as people write them: a heading, the rule in prose, and a block of lines with what the engine says.
//!
//! Setup lines first; lines that begin with `> ` are what the engine says about the lines above them.
//!
//! What lines there are, with every option and an example of each, is in [`reference`].
//!
//! A cluster that is not declared has the dimension `gpu` and simulates its jobs; one that is names its dimensions, of
//! which all but `cpu`, `memory` and `rdma` are types of GPUs. Roots without `from` draw on one group, which is a pool as
//! large as they need, or has the nodes without `in`. What follows a word that begins with `#` is a remark.
//!
//! `advance` runs a round whenever time alone changes something; `pass` runs a scheduled one each minute, in which prices
//! and protections act; `skip` lets nobody look in the meantime.
//!
//! Whoever plays a scenario lets [`stage::Stage`] read its lines and set the scene.

pub mod lines;

mod about;

pub mod fault;

pub mod amount;
pub mod words;

pub mod line;
pub mod market;
pub mod reference;
pub mod write;

pub mod place;
pub mod session;
pub mod stage;
