//! The two functions that hold everything: [`decide`] judges and changes nothing, [`apply`] changes and judges nothing.

mod apply;
mod authorise;
mod bid;
mod bill;
mod cluster;
mod decide;
mod execution;
mod halt;
mod heirs;
mod job;
mod key;
mod machines;
mod market;
mod names;
mod nodes;
mod plan;
mod quota;
mod report;
mod resize;
mod round;
mod run;
mod scale;
mod stop;
mod turn;
mod workspace;

pub use apply::apply;
pub use authorise::Sender;
pub use authorise::authorise;
pub use authorise::may_on_cluster;
pub use authorise::may_see;
pub use bill::owed;
pub use decide::decide;
pub use execution::elapse;
pub use execution::is_due;
pub use resize::check_resizable;
pub use round::missed_slots;
