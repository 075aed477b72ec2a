//! Rules by example, and what messages, roles and limits hold. They are one program, which takes a third of the time that
//! one for each took to compile.

mod alarm;
mod authorisation;
mod checker;
mod deleted_nodes;
mod limits;
mod market;
mod messages;
mod no_room;
mod plan;
mod pools;
#[path = "../proofs/random.rs"]
mod random;
mod three_teams;
