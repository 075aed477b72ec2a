//! The runtime's bindings, each under its name: the KV namespace `CLUSTERS`, the objects `CLUSTER`, the secrets
//! `ADMIN_KEY`, `MONITOR_KEY`, `MASTER_SECRET` and `MASTER_SECRET_BEFORE`, the variables `PACE`, `PAST_DAYS`,
//! `JOBS_OF_*_MAX`, `NOTE_BYTES_OF_USER_MAX`, `RESTORE_OPERATIONS`, `CLOCK_CALLS`, `MISSED_AFTER_S`, `SESSION_IDLE_S`, `KV_LATE_S` and `ACCESS_*`.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::key::Master;
use protocol::agents::silence::MISSED_AFTER;
use protocol::deletion::steps::KV_LATE;
use protocol::fault::Fault;
use protocol::kv::KvStore;
use protocol::kv::Listed;
use protocol::limits::Limits;
use protocol::name::is_fixed;
use protocol::profile::Pace;
use protocol::profile::Profile;
use protocol::restore::steps::Budget;
use worker::Date;
use worker::Env;
use worker::Stub;

use crate::answer::Problem;

/// The object that knows all clusters. No cluster can have this name.
pub(crate) const REGISTRY: &str = "~registry";

/// How long KV may show a published object from its cache, in seconds. It never changes, but that it was not there yet
/// is remembered as long.
const OBJECT_CACHE_S: u64 = 300;

/// Now, by the runtime's clock: the only clock there is.
pub(crate) fn now() -> Timestamp {
    Timestamp(i64::try_from(Date::now().as_millis()).unwrap_or(i64::MAX))
}

/// How many bytes a key of the service has at least: the administrator's opens everything.
const ADMIN_KEY_BYTES_MIN: usize = 32;

/// The administrator's key; empty if none is set, which opens nothing.
pub(crate) fn admin_key(env: &Env) -> Result<String, Problem> {
    let key = env.secret("ADMIN_KEY").map(|secret| secret.to_string()).unwrap_or_default();
    if key.is_empty() || key.len() >= ADMIN_KEY_BYTES_MIN { Ok(key) } else { Err(Problem::ShortAdminKey) }
}

/// The key that opens figures alone; empty if none is set, or if it is too easily guessed.
pub(crate) fn monitor_key(env: &Env) -> String {
    let key = env.secret("MONITOR_KEY").map(|secret| secret.to_string()).unwrap_or_default();
    if key.len() >= ADMIN_KEY_BYTES_MIN { key } else { String::new() }
}

/// The secret that all secrets of access keys are derived from. While it is changed, `MASTER_SECRET_BEFORE` serves too.
pub(crate) fn master(env: &Env) -> Result<Master, Problem> {
    let named = |name: &str| Master::new(env.secret(name).map(|secret| secret.to_string()).ok()?.as_bytes());
    Ok(named("MASTER_SECRET").ok_or(Problem::NoMaster)?.after(named("MASTER_SECRET_BEFORE")))
}

/// A variable; empty if it is not set.
pub(crate) fn variable(env: &Env, name: &str) -> String {
    env.var(name).map(|value| value.to_string()).unwrap_or_default()
}

/// The profile: `PACE = "each-round"` is for a plan with few writes a day. `PAST_DAYS` says how long
/// the past can be read; 0 is for ever.
pub(crate) fn profile(env: &Env) -> Profile {
    let is_sparing = variable(env, "PACE") == "each-round";
    let usual = if is_sparing { Profile::of_few_writes() } else { Profile::default() };
    let past_kept = match variable(env, "PAST_DAYS").parse() {
        Ok(0) => None,
        Ok(days) => Some(Millis(Millis::DAY.0.saturating_mul(days))),
        Err(_) => usual.past_kept,
    };
    Profile { past_kept, limits: limits(env), ..usual }
}

/// How many unfinished jobs there may be: `JOBS_OF_USER_MAX`, `JOBS_OF_WORKSPACE_MAX`, `JOBS_OF_CLUSTER_MAX`; and how much
/// of the notes may be one user's: `NOTE_BYTES_OF_USER_MAX`.
fn limits(env: &Env) -> Limits {
    let number = |name: &str, usual: u64| variable(env, name).parse().unwrap_or(usual);
    let Limits { jobs_of_user, jobs_of_workspace, jobs_of_cluster, note_bytes_of_user, .. } = Limits::USUAL;
    Limits {
        jobs_of_user: number("JOBS_OF_USER_MAX", jobs_of_user),
        jobs_of_workspace: number("JOBS_OF_WORKSPACE_MAX", jobs_of_workspace),
        jobs_of_cluster: number("JOBS_OF_CLUSTER_MAX", jobs_of_cluster),
        note_bytes_of_user: number("NOTE_BYTES_OF_USER_MAX", note_bytes_of_user),
        ..Limits::USUAL
    }
}

/// Calls of KV that one invocation may make for a restore: the smallest plan has 50 in all, the others 1,000.
const RESTORE_OPERATIONS: [usize; 2] = [40, 800];
/// After how many bytes an invocation goes on in another one: reading them takes most of a second.
const RESTORE_BYTES: usize = 16 * 1024 * 1024;

/// What an invocation may do for a restore.
pub(crate) fn restore_budget(env: &Env) -> Budget {
    let [few, many] = RESTORE_OPERATIONS;
    let usual = if profile(env).pace == Pace::EachRound { few } else { many };
    let operations = variable(env, "RESTORE_OPERATIONS").parse().unwrap_or(usual).max(1);
    Budget { operations, bytes: RESTORE_BYTES }
}

/// Calls that an invocation may make: of objects, of KV and of other services.
const CALLS: [usize; 2] = [50, 1_000];

/// How many calls the clock's invocations make at most; `CLOCK_CALLS` says it otherwise.
pub(crate) fn calls_max(env: &Env) -> usize {
    let [few, many] = CALLS;
    let usual = if profile(env).pace == Pace::EachRound { few } else { many };
    variable(env, "CLOCK_CALLS").parse().unwrap_or(usual)
}

/// After how long without a word an agent is missed.
pub(crate) fn missed_after(env: &Env) -> Millis {
    seconds(env, "MISSED_AFTER_S").filter(|period| period.0 > 0).unwrap_or(MISSED_AFTER)
}

/// A variable that says a period in seconds, if it is set to one.
fn seconds(env: &Env, name: &str) -> Option<Millis> {
    variable(env, name).parse().ok().map(|seconds: i64| Millis(seconds.saturating_mul(1_000)))
}

/// After how long a session ends that nobody uses, in `SESSION_IDLE_S` or else this.
const SESSION_IDLE: Millis = Millis(2 * Millis::HOUR.0);

/// After how long a session ends that nobody uses.
pub(crate) fn session_idle(env: &Env) -> Millis {
    seconds(env, "SESSION_IDLE_S").filter(|period| period.0 > 0).unwrap_or(SESSION_IDLE)
}

/// How long KV may show what is old, in `KV_LATE_S` or else as long as the platform says.
pub(crate) fn kv_late(env: &Env) -> Millis {
    seconds(env, "KV_LATE_S").unwrap_or(KV_LATE)
}

/// How many objects of KV a minute deletes at most: fewer on the plan with few calls, and elsewhere more than a head each
/// second can leave over.
const DELETED: [usize; 2] = [20, 200];

/// How many objects of KV a minute deletes at most.
pub(crate) fn deleted_a_minute(env: &Env) -> usize {
    let [few, many] = DELETED;
    if profile(env).pace == Pace::EachRound { few } else { many }
}

/// How much memory this instance has taken: it never gives any back.
pub(crate) fn memory_bytes() -> u64 {
    #[cfg(target_arch = "wasm32")]
    let pages = core::arch::wasm32::memory_size(0);
    #[cfg(not(target_arch = "wasm32"))]
    let pages = 0_usize;
    (pages as u64) << 16
}

/// The object of a name.
pub(crate) fn object(env: &Env, name: &str) -> Result<Stub, Problem> {
    Ok(env.durable_object("CLUSTER")?.id_from_name(name)?.get_stub()?)
}

/// The KV namespace.
pub(crate) struct Kv(worker::KvStore);

impl Kv {
    pub(crate) fn of(env: &Env) -> Result<Self, Problem> {
        Ok(Self(env.kv("CLUSTERS")?))
    }
}

impl KvStore for Kv {
    async fn get(&self, key: &str) -> Result<Option<String>, Fault> {
        let request = self.0.get(key);
        let request = if is_fixed(key) { request.cache_ttl(OBJECT_CACHE_S) } else { request };
        request.text().await.map_err(|error| Fault::Kv { key: key.to_owned(), reason: error.to_string() })
    }

    async fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        let fault = |error: worker::KvError| Fault::Kv { key: key.to_owned(), reason: error.to_string() };
        self.0.put(key, value).map_err(fault)?.execute().await.map_err(fault)
    }

    async fn delete(&self, key: &str) -> Result<(), Fault> {
        let fault = |error: worker::KvError| Fault::Kv { key: key.to_owned(), reason: error.to_string() };
        self.0.delete(key).await.map_err(fault)
    }

    async fn list(&self, start: &str, cursor: Option<&str>, count: usize) -> Result<Listed, Fault> {
        let fault = |error: worker::KvError| Fault::Kv { key: start.to_owned(), reason: error.to_string() };
        let list = self.0.list().prefix(start.to_owned()).limit(count as u64);
        let list = if let Some(cursor) = cursor { list.cursor(cursor.to_owned()) } else { list };
        let listed = list.execute().await.map_err(fault)?;
        let keys = listed.keys.into_iter().map(|key| key.name).collect();
        Ok(Listed { keys, cursor: listed.cursor.filter(|_| !listed.list_complete) })
    }
}
