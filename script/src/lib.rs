//! Scenarios as people write them: a heading, the rule in prose, and a block of lines with what the engine says.
//!
//! Setup lines first; lines that begin with `> ` are what the engine says about the lines above them.
//!
//! ```text
//! cluster [DIMENSION...] [reported]
//! group   NAME [lingjun|general] [AMOUNT]
//! node    NAME AMOUNT [in GROUP] [cordoned]
//! quota   NAME AMOUNT [in PARENT | from GROUP,GROUP] [POLICY...]
//! run     NAME QUOTA MODULE pPRIORITY PODS [JOB OPTION...] [idle] [since PERIOD] [on NODE,NODE]
//! submit  NAME QUOTA MODULE pPRIORITY PODS [JOB OPTION...]
//! round | advance PERIOD | scale QUOTA=AMOUNT... [evict] | update QUOTA POLICY...
//! offer   NAME lingjun|general AMOUNT xNUMBER original PRICE [at PRICE] [auction] [protection P] [window P] [grace P]
//! bid     NAME OFFER INSTANCES [40%] [limit PRICE] [as-price-goes] [BID OPTION...]
//! price OFFER PRICE [PERIOD ago|ahead] | inventory OFFER N | pass PERIOD | skip PERIOD
//! cancel JOB | priority JOB N | cordon NODE | uncordon NODE | delete NODE
//! finish JOB | report JOB checkpointed|stopped|finished|failed [WHY]
//! remedy JOB | status JOB | why JOB | bills JOB
//! POLICY      child-level SET MODULES | self-level SET over SET MODULES | scope SCOPE | grace PERIOD | min-runtime PERIOD
//!             | starvation PERIOD | strategy STRATEGY | no-lending
//! JOB OPTION  acceptable | only | fault-tolerance | for PERIOD | checkpoint PERIOD | min PODS
//!             | only-on NODES | not-on NODES
//! BID OPTION  fault-tolerance | for PERIOD | checkpoint PERIOD | of AMOUNT | mpi | other-framework | no-network
//! ```
//!
//! An AMOUNT is a number of GPUs (`8`, `0.5`), or says what it counts: `h100=8`, `8,cpu=64,memory=512` (GPUs, cores, GiB).
//! PODS are `16` (one pod), `2x8`, or several roles: `1x0,cpu=4+2x8`. A cluster that is not declared has the dimension
//! `gpu` and simulates its jobs; one that is names its dimensions, of which all but `cpu`, `memory` and `rdma` are types
//! of GPUs. Roots without `from` draw on one group, which is a pool as large as they need, or has the nodes without `in`.
//! What follows a word that begins with `#` is a remark.
//!
//! `advance` runs a round whenever time alone changes something; `pass` runs a scheduled one each minute, in which prices
//! and protections act; `skip` lets nobody look in the meantime.
//!
//! Whoever plays a scenario lets [`stage::Stage`] read its lines and set the scene.

pub mod lines;

mod about;

pub mod amount;
pub mod words;

pub mod line;
pub mod market;
pub mod write;

pub mod place;
pub mod session;
pub mod stage;
