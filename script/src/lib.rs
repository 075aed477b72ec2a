//! Scenarios as people write them: a heading, the rule in prose, and a block of lines with what the engine says.
//!
//! Setup lines first; lines that begin with `> ` are what the engine says about the lines above them.
//!
//! ```text
//! node    NAME GPUS [cordoned]
//! quota   NAME GPUS [in PARENT] [POLICY...]
//! run     NAME QUOTA MODULE pPRIORITY PODS [JOB OPTION...] [idle] [since PERIOD] [on NODE,NODE]
//! submit  NAME QUOTA MODULE pPRIORITY PODS [JOB OPTION...]
//! round | advance PERIOD | scale QUOTA=GPUS... [evict] | update QUOTA POLICY...
//! offer   NAME lingjun|general GPUS xNUMBER original PRICE [at PRICE] [auction] [protection P] [window P] [grace P]
//! bid     NAME OFFER INSTANCES [40%] [limit PRICE] [as-price-goes] [BID OPTION...]
//! price OFFER PRICE [PERIOD ago|ahead] | inventory OFFER N | pass PERIOD
//! cancel JOB | priority JOB N | finish JOB
//! remedy JOB | status JOB | why JOB | bills JOB
//! POLICY      child-level SET MODULES | self-level SET over SET MODULES | scope SCOPE | grace PERIOD | min-runtime PERIOD
//!             | strategy STRATEGY | no-lending
//! JOB OPTION  acceptable | only | fault-tolerance | for PERIOD | checkpoint PERIOD | min PODS
//! BID OPTION  fault-tolerance | for PERIOD | checkpoint PERIOD | of GPUS | mpi | other-framework | no-network
//! ```
//!
//! `advance` runs a round whenever time alone changes something; `pass` runs a scheduled one each minute, in which prices
//! and protections act.
//!
//! Whoever plays a scenario reads its lines with [`line::read`], and lets [`stage::Stage`] set the scene.

pub mod lines;
pub mod words;

pub mod line;
pub mod market;

pub mod place;
pub mod session;
pub mod stage;
