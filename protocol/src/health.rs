//! How a cluster does, with the reasons: what is wrong, since when, the numbers, and what to do.
//!
//! | state | means |
//! |---|---|
//! | ok | nothing is known to be wrong |
//! | degraded | commands are decided, and somebody should look before it gets worse |
//! | lost | commands are refused |
//!
//! What the log and its memory tell is found here; what only a host knows it has [`Seen`]. Nothing is said of jobs but how
//! many there are: whoever watches a service is a member of nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engine::explain;
use engine::host::authority;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::agents::contact::Contacts;
use crate::cluster::Cluster;
use crate::cluster::SLOT_MS;
use crate::document::Head;
use crate::fault::Fault;
use crate::fault::Lost;
use crate::limits;
use crate::log::LogStore;
use crate::memory::Memory;
use crate::profile::Pace;
use crate::profile::Profile;

/// How far a publication may be behind what the profile says before that is a reason.
const LATE: Millis = Millis(2 * Millis::MINUTE.0);
/// After how long without a scheduled round the clock is said to stand: one may be late, and one may be left out.
pub(crate) const ROUNDS_LATE: Millis = Millis(3 * SLOT_MS);
/// For how long KV may show an older head than the one that was written.
const SHOWN_LATE: Millis = Millis(5 * Millis::MINUTE.0);
/// How long damage that was met is told.
const DAMAGE_TOLD: Millis = Millis::HOUR;
/// From which part of a limit on it is near, in percent.
const NEAR_PERCENT: u64 = 90;
/// The memory that an isolate of the platform has.
const MEMORY_BYTES_MAX: u64 = 128 << 20;
/// What an object of the platform may store.
const STORED_BYTES_MAX: u64 = 10 << 30;

/// How a cluster does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Nothing is known to be wrong.
    Ok,
    /// Commands are decided, and somebody should look.
    Degraded,
    /// Commands are refused.
    Lost,
}

/// How a cluster does, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterHealth {
    /// The worst of its reasons.
    pub state: Condition,
    /// What is wrong, the worst first.
    pub reasons: Vec<Reason>,
}

/// Something that is wrong, or that somebody should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// What it is, for programs.
    pub code: Cow<'static, str>,
    /// How bad it is.
    pub state: Condition,
    /// Since when; not known of everything.
    pub since: Option<Timestamp>,
    /// Its numbers by their names.
    pub figures: BTreeMap<Cow<'static, str>, u64>,
    /// A sentence for people.
    pub message: String,
    /// What to do.
    pub remedy: Cow<'static, str>,
}

/// What a host has seen of a cluster that the log does not tell.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The head that KV shows, if it was asked.
    pub shown: Option<Result<Option<Head>, Fault>>,
    /// The last publication that failed, if none has worked since.
    pub unpublished: Option<Failed>,
    /// The last damage that was met.
    pub damage: Option<(Timestamp, String)>,
    /// What is kept of agents.
    pub contacts: Contacts,
    /// The memory that the instance has taken.
    pub memory_bytes: u64,
    /// What the object stores.
    pub stored_bytes: u64,
}

/// Something that goes on failing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// When it failed first.
    pub since: Timestamp,
    /// How often it has.
    pub times: u64,
    /// What was said the last time.
    pub reason: String,
}

impl ClusterHealth {
    fn of(mut reasons: Vec<Reason>) -> Self {
        // In the order in which they are looked for among those that are as bad.
        engine::unit::sort::by(&mut reasons, |a, b| b.state.cmp(&a.state));
        Self { state: reasons.first().map_or(Condition::Ok, |worst| worst.state), reasons }
    }
}

fn reason(code: &'static str, state: Condition, since: Option<Timestamp>, message: String) -> Reason {
    Reason { code: code.into(), state, since, figures: BTreeMap::new(), message, remedy: "".into() }
}

impl Reason {
    fn with(mut self, name: &'static str, figure: u64) -> Self {
        self.figures.insert(name.into(), figure);
        self
    }

    fn so(self, remedy: &'static str) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

impl<S: LogStore> Cluster<S> {
    /// How the cluster does; none where nothing has ever been stored or published, as far as anybody knows.
    pub fn health(&mut self, seen: &Seen, now: Timestamp) -> Option<ClusterHealth> {
        let first = self.store.records(0, 1).ok().and_then(|records| Some(records.first()?.at));
        let missing = self.missing().unwrap_or_default();
        let profile = self.profile;
        let memory = match self.memory() {
            Err(fault) => return Some(of_fault(fault)),
            Ok(memory) if memory.seq == 0 => return of_nothing(seen),
            Ok(memory) => &*memory,
        };
        let mut reasons: Vec<Reason> = Vec::new();
        reasons.extend(behind(memory, &profile, now));
        reasons.extend(of_kv(memory, seen, now));
        reasons.extend(rounds(memory, first, now));
        reasons.extend(damage(seen, now));
        reasons.extend(near(memory, &profile, seen));
        reasons.extend(silence(&memory.state, seen));
        reasons.extend(overdue(&memory.state, now));
        if let (Some(newest), Some(oldest)) = (missing.first(), missing.last()) {
            let message = format!("since the cluster was restored, entries of its past are missing: {newest}");
            let entries = missing.iter().map(|gap| gap.last + 1 - gap.first).sum();
            let told = reason("past_missing", Condition::Ok, None, message).with("first", oldest.first);
            reasons.push(
                told.with("entries", entries).so("they cannot be recovered; the current state does not need them"),
            );
        }
        Some(ClusterHealth::of(reasons))
    }
}

/// How a cluster does of which the storage has nothing. Without a log, only KV knows whether there was one.
#[must_use]
pub fn of_nothing(seen: &Seen) -> Option<ClusterHealth> {
    let told = match seen.shown.as_ref()? {
        Ok(None) => return None,
        Ok(Some(head)) => {
            let Lost { revision, published_at } = Lost::of(head);
            let message = format!("the storage has no log, and KV shows the cluster at revision {revision}");
            reason("storage_lost", Condition::Lost, Some(published_at), message)
                .with("revision", revision)
                .so("restore it (POST restore), or give it up for a new one (?anew=REVISION)")
        }
        Err(fault) => {
            let message = format!("the storage has no log, and KV cannot be asked whether it should: {fault}");
            reason("kv_unreadable", Condition::Lost, None, message).so("check the status of the platform's KV")
        }
    };
    Some(ClusterHealth::of(vec![told]))
}

/// How a cluster does whose log cannot be read.
#[must_use]
pub fn of_fault(fault: Fault) -> ClusterHealth {
    ClusterHealth::of(vec![unreadable(fault)])
}

fn unreadable(fault: Fault) -> Reason {
    match fault {
        Fault::Restoring(progress) => {
            let (read, state) = (progress.read, progress.state);
            let told = reason("restoring", Condition::Lost, None, progress.to_string());
            told.with("read", read).with("objects", state).so("no action needed; POST restore shows the progress")
        }
        Fault::Damaged { .. } => {
            let remedy = "restore it from KV with POST restore?force=true; to keep the damaged log for analysis, restore under \
                          another name instead (restore?from=NAME)";
            reason("log_damaged", Condition::Lost, None, fault.to_string()).so(remedy)
        }
        Fault::Log { .. } | Fault::Kv { .. } | Fault::Missing { .. } | Fault::Unfounded | Fault::Deleted => {
            let remedy = "check the platform's status; what is committed is safe, and service resumes by itself";
            reason("log_unreadable", Condition::Lost, None, fault.to_string()).so(remedy)
        }
    }
}

/// How far what KV shows is behind the log. Rounds in which nothing happens wait.
fn behind(memory: &Memory, profile: &Profile, now: Timestamp) -> Option<Reason> {
    let since = memory.unpublished_since()?;
    let apart = match profile.pace {
        Pace::AtMostEvery(period) => period,
        Pace::EachRound => profile.rounds_apart,
    };
    let late = now - since;
    let entries = memory.seq - memory.published.as_ref().map_or(0, |head| head.seq);
    let seconds = late.0 / 1_000;
    let message = format!("unpublished entries: {entries}; the oldest news is {seconds} s old");
    let told = reason("publication_behind", Condition::Degraded, Some(since), message)
        .with("entries", entries)
        .with("seconds", seconds.unsigned_abs())
        .so("losing the storage now would lose them: check kv_fails, then publish with POST flush");
    (late > Millis(apart.0 + LATE.0)).then_some(told)
}

fn of_kv(memory: &Memory, seen: &Seen, now: Timestamp) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(Failed { since, times, reason: why }) = &seen.unpublished {
        let message = format!("failed publications in a row: {times}; the last error: {why}");
        let remedy = "check the status of the platform's KV and its daily limit of writes; retries go on by themselves";
        let told = reason("kv_fails", Condition::Degraded, Some(*since), message);
        reasons.push(told.with("failures", *times).so(remedy));
    }
    let published = memory.published.as_ref();
    match (&seen.shown, published) {
        (Some(Err(fault)), _) => {
            let told = reason("kv_unreadable", Condition::Degraded, None, fault.to_string());
            reasons.push(told.so("check the status of the platform's KV; reads by members go on"));
        }
        (Some(Ok(shown)), Some(published)) if now - published.published_at > SHOWN_LATE => {
            let at = shown.as_ref().map_or(0, |head| head.revision);
            if at < published.revision {
                let message =
                    format!("KV shows the cluster at revision {at}, but {} was published", published.revision);
                let remedy = "KV was changed from outside: send any command and publish with POST flush, which writes a new \
                              head; then restore under another name to check the copy";
                let told = reason("head_lost", Condition::Degraded, Some(published.published_at), message);
                reasons.push(told.with("shown", at).with("published", published.revision).so(remedy));
            }
        }
        (Some(Ok(_)) | None, _) => {}
    }
    reasons
}

fn rounds(memory: &Memory, first: Option<Timestamp>, now: Timestamp) -> Option<Reason> {
    let last = memory.state.last_slot.map(|slot| Timestamp(slot.saturating_mul(SLOT_MS)));
    let since = last.or(first).unwrap_or(memory.at);
    let late = now - since;
    if late <= ROUNDS_LATE {
        return None;
    }
    let minutes = late.0 / SLOT_MS;
    let message = format!("no scheduled round for {minutes} minutes");
    let remedy = "check that the cron trigger is deployed (wrangler.toml, [triggers]) and what its log says; jobs that fit \
                  still start when they are submitted";
    let told =
        reason("rounds_missed", Condition::Degraded, Some(since), message).with("minutes", minutes.unsigned_abs());
    Some(told.with("missed_slots", memory.state.missed_slots.unsigned_abs()).so(remedy))
}

fn damage(seen: &Seen, now: Timestamp) -> Option<Reason> {
    let (at, what) = seen.damage.as_ref().filter(|(at, _)| now - *at <= DAMAGE_TOLD)?;
    let message = format!("stored data is damaged or missing: {what}");
    let remedy = "restore under another name (restore?from=NAME) to see what is intact";
    Some(reason("damage", Condition::Degraded, Some(*at), message).so(remedy))
}

/// What is near a limit.
fn near(memory: &Memory, profile: &Profile, seen: &Seen) -> Vec<Reason> {
    let jobs = limits::weight_of_all(&memory.state);
    let figures = [
        (
            "memory",
            seen.memory_bytes,
            MEMORY_BYTES_MAX,
            "lower JOBS_OF_CLUSTER_MAX, or cancel queued jobs; memory is given back when the instance is made anew",
        ),
        (
            "storage",
            seen.stored_bytes,
            STORED_BYTES_MAX,
            "find what fills the object; notes of jobs are the usual cause",
        ),
        (
            "jobs",
            jobs,
            profile.limits.jobs_of_cluster,
            "new jobs will be rejected: cancel some, or raise JOBS_OF_CLUSTER_MAX as far as memory allows",
        ),
    ];
    let is_near = |used: u64, limit: u64| used >= limit / 100 * NEAR_PERCENT && used > 0;
    let near = figures.into_iter().filter(|(_, used, limit, _)| is_near(*used, *limit));
    let told = near.map(|(what, used, limit, remedy)| {
        let message = format!("{what}: {used} of {limit}");
        let told = reason("near_limit", Condition::Degraded, None, message).with("used", used).with("limit", limit);
        told.so(remedy)
    });
    told.collect()
}

/// Agents and nodes of which nothing is heard.
fn silence(state: &State, seen: &Seen) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let missed: Vec<(&str, Timestamp)> =
        seen.contacts.iter().filter_map(|(name, contact)| Some((name.as_str(), contact.missed?))).collect();
    if let Some((name, since)) = missed.iter().min_by_key(|(_, since)| *since) {
        let message = format!("silent agents: {}, {name} the longest", missed.len());
        let remedy = "check the agent's log on its machine, and the network in between";
        let told = reason("agents_missed", Condition::Degraded, Some(*since), message);
        reasons.push(told.with("agents", missed.len() as u64).with("known", seen.contacts.len() as u64).so(remedy));
    }
    let silent = || state.nodes.iter().filter_map(|node| Some((node, node.silence.as_ref()?)));
    if let Some((node, silence)) = silent().min_by_key(|(_, silence)| silence.since) {
        let count = silent().count() as u64;
        let message = format!("silent nodes: {count}, {} the longest; no jobs are placed on them", node.id);
        let remedy = "restart the agent on that machine, or declare the node dead once nothing can run there any more";
        let told = reason("nodes_silent", Condition::Degraded, Some(silence.since), message);
        reasons.push(told.with("nodes", count).so(remedy));
    }
    reasons.extend(unfit(seen));
    reasons
}

/// Nodes of which their agents say that nothing can begin there.
fn unfit(seen: &Seen) -> Option<Reason> {
    let unfit = || seen.contacts.values().flat_map(|contact| &contact.unfit);
    let (node, why) = unfit().next()?;
    let count = unfit().count() as u64;
    let message = format!("nodes on which nothing can start: {count}, among them {node}: {why}");
    let remedy =
        "mend the machine; or tell the cluster what it has from now on (put_node, with the GPUs that are left)";
    Some(reason("nodes_unfit", Condition::Degraded, None, message).with("nodes", count).so(remedy))
}

/// What should have been reported of jobs that really run.
fn overdue(state: &State, now: Timestamp) -> Option<Reason> {
    if !state.cluster.is_reported() {
        return None;
    }
    let overdue = explain::overdue(&authority::as_of(state, now), now);
    let since = overdue.iter().map(|one| one.since).min()?;
    let message = format!("overdue reports of runs: {}; their GPUs stay booked", overdue.len());
    let told = reason("reports_overdue", Condition::Degraded, Some(since), message).with("runs", overdue.len() as u64);
    Some(told.so("GET overdue lists them by node; check the agents there"))
}
