//! Upper bounds of every collection, checked where data enters.

/// Nodes of a cluster.
pub const NODES_MAX: usize = 20_000;
/// GPUs of one node.
pub const NODE_GPUS_MAX: usize = 16;
/// The same, as a value to compare amounts with.
pub const NODE_GPUS_MAX_I64: i64 = 16;
/// Quotas of a cluster.
pub const QUOTAS_MAX: usize = 10_000;
/// Levels of the quota tree, the root included (rules 2.1).
pub const DEPTH_MAX: usize = 16;
/// Resource groups of a cluster.
pub const GROUPS_MAX: usize = 1_000;
/// Workspaces of a cluster.
pub const WORKSPACES_MAX: usize = 10_000;
/// Members of one workspace.
pub const MEMBERS_MAX: usize = 10_000;
/// Access keys of a cluster. Those that serve no more are forgotten when there is no room for another one.
pub const KEYS_MAX: usize = 10_000;
/// Access keys of one user that have not been revoked.
pub const KEYS_OF_USER_MAX: usize = 20;
/// How long the secret before the newest may still serve: a week.
pub const KEY_OVERLAP_MS_MAX: i64 = 7 * 24 * 3_600_000;
/// Jobs that the state holds, ended ones included.
pub const JOBS_MAX: usize = 1_000_000;
/// Pods of one job.
pub const PODS_MAX: u32 = 10_000;
/// Roles of one job.
pub const ROLES_MAX: usize = 16;
/// The largest value of any dimension of any amount: far above every machine, far below overflow.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000;
/// The least of a GPU that anything asks for or has, in thousandths: what is below it was meant as whole ones.
pub const GPU_SHARE_MIN: i64 = 10;
/// The longest period that can be asked for, in milliseconds: 100 years.
pub const PERIOD_MS_MAX: i64 = 100 * 365 * 24 * 3_600_000;
/// Quotas that one scale command may name.
pub const SCALE_TARGETS_MAX: usize = 1_000;
/// Bytes of a job's display name or command.
pub const TEXT_BYTES_MAX: usize = 4_096;
/// Ended jobs that are kept for their story, those counted several times that ask for much; the oldest beyond that are
/// forgotten.
pub const ENDED_JOBS_KEPT: u64 = 20_000;
/// Episodes that one job's history keeps; the oldest beyond that are counted only.
pub const HISTORY_MAX: usize = 64;
/// How long it may be waited for a run to start, in milliseconds: between 10 seconds and a day.
pub const START_WITHIN_MS_MIN: i64 = 10_000;
/// The longest of these.
pub const START_WITHIN_MS_MAX: i64 = 24 * 3_600_000;
/// After how long a silence runs may be killed, in milliseconds: between a minute and a week.
pub const SILENCE_MS_MIN: i64 = 60_000;
/// The longest of these.
pub const SILENCE_MS_MAX: i64 = 7 * 24 * 3_600_000;
/// Commands that one plan may apply.
pub const PLAN_COMMANDS_MAX: usize = 200;
/// Reports of jobs and nodes that may come together: an agent tells everything at once.
pub const REPORTS_MAX: usize = 1_000;
/// How far ahead a plan may look, in milliseconds: 366 days.
pub const PLAN_MS_MAX: i64 = 366 * 24 * 3_600_000;
/// Offers of the spot market.
pub const OFFERS_MAX: usize = 1_000;
/// Instances of one offer.
pub const INVENTORY_MAX: i64 = 1_000_000;
/// The highest original price: 10,000 units of currency for an instance-minute, in micro-units.
pub const PRICE_MAX: i64 = 10_000_000_000;
/// The longest averaging window: a week.
pub const WINDOW_MS_MAX: i64 = 7 * 24 * 3_600_000;
/// Changes of a price inside its averaging window: one a minute in the longest one.
pub const PRICE_CHANGES_MAX: usize = 10_080;
/// Hours of which an offer remembers how its price was: a week.
pub const PRICE_HOURS: i64 = 168;
