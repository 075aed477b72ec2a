//! Fuzzing on the stable compiler: what comes from outside is taken from a corpus, changed at random, and handed to the
//! code that reads it.
//!
//! Executions are numbered, and the number alone says what is executed: a run goes on where an earlier one ended, and one
//! line repeats what it found. There is no feedback from coverage; in its stead the changes know what the corpus is made
//! of: they exchange words and numbers, and put parts of one text into another.

mod corpus;
mod mutate;
mod random;
pub mod run;
mod targets;
mod told;
