//! Jobs that people submit to their machines' own scheduler. An agent whose key says so submits them in their users' names,
//! and cancels what they have cancelled there. What the users themselves may not do here, it may not do for them.

use agent::adopt::Ask;
use agent::adopt::Idle;
use agent::adopt::Offered;
use agent::adopt::Standing;
use agent::adopt::Told;
use agent::message::FORMAT;
use agent::script::Script;
use engine::job::phase::Phase;
use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::message::envelope::Envelope;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::transition::may_adopt;
use engine::unit::amount::DimensionKind;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::priority::Priority;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::agents::contact::Identity;
use crate::agents::script;
use crate::cluster::Cluster;
use crate::cluster::Done;
use crate::cluster::REPORTS_PREFIX;
use crate::fault::Failure;
use crate::fault::Fault;
use crate::log::LogStore;
use crate::log::decode;
use crate::log::encode;
use crate::note::Note;
use crate::note::NoteChange;

/// How many rows of the log offered jobs may become in one exchange; what is left comes the next time.
const ROWS_MAX: usize = 50;
/// How often a job is queued again: as often as a scheduler would that sets no limit.
const RESTARTS: FaultTolerance = FaultTolerance { max_restarts: 1_000 };
/// Thousandths of a GPU.
const WHOLE: i64 = 1_000;

impl<S: LogStore> Cluster<S> {
    /// Takes what an agent offers into the log; what is said of each, and the new rows.
    pub(super) fn take_offered(
        &mut self,
        who: &Identity,
        offered: &[Offered],
        now: Timestamp,
    ) -> Result<(Vec<Told>, Vec<Done>), Failure> {
        let (mut told, mut done) = (Vec::new(), Vec::new());
        for offer in offered {
            let standing = match JobId::new(&offer.job) {
                Ok(job) => self.take_one(who, &job, offer, &mut done, now)?,
                Err(bad) => Standing::Refused(bad.to_string()),
            };
            told.push(Told { job: offer.job.clone(), standing });
        }
        Ok((told, done))
    }

    fn take_one(
        &mut self,
        who: &Identity,
        job: &JobId,
        offer: &Offered,
        done: &mut Vec<Done>,
        now: Timestamp,
    ) -> Result<Standing, Failure> {
        let known = self.with_state(|state| {
            let job = &state.jobs[state.jobs.find(job)?];
            Some((standing(job), job.spec.user.clone()))
        })?;
        let command = match known {
            Some(_) if !self.is_offered_by(who, job)? => {
                return Ok(Standing::Refused(format!("job {job} was submitted by somebody else under this name")));
            }
            Some((standing, user)) => {
                let user = user.filter(|_| offer.is_gone && standing != Standing::Over);
                let Some(user) = user else { return Ok(standing) };
                (user, Command::CancelJob(CancelJob { job: job.clone() }), Vec::new())
            }
            None if offer.is_gone => return Ok(Standing::Over),
            None => {
                let Some(ask) = &offer.ask else { return Ok(Standing::Unknown) };
                match self.with_state(|state| submission(state, who, job, ask))? {
                    Ok((user, command)) => (user, command, vec![note(who, job, ask)?]),
                    Err(reason) => return Ok(Standing::Refused(reason)),
                }
            }
        };
        if done.len() >= ROWS_MAX {
            return Ok(Standing::Unknown);
        }
        let (user, command, notes) = command;
        match self.adopt(who, &user, command, &notes, now) {
            Ok(row) => done.push(row),
            Err(Failure::Refused(rejection)) => return Ok(Standing::Refused(rejection.to_string())),
            Err(failure) => return Err(failure),
        }
        let now = self.with_state(|state| state.jobs.find(job).map(|no| standing(&state.jobs[no])))?;
        Ok(now.unwrap_or(Standing::Unknown))
    }

    /// Whether the agent itself has submitted a job.
    fn is_offered_by(&self, who: &Identity, job: &JobId) -> Result<bool, Failure> {
        let Some(text) = self.note(&script::note_name(job))? else { return Ok(false) };
        let script: Script = decode("a script", &text)?;
        Ok(script.adopted.is_some_and(|mark| mark.split(' ').next() == Some(who.name.as_str())))
    }

    /// Sends a command in a user's name, if the agent may.
    fn adopt(
        &mut self,
        who: &Identity,
        user: &UserId,
        command: Command,
        notes: &[NoteChange],
        now: Timestamp,
    ) -> Result<Done, Failure> {
        self.with_state(|state| may_adopt(state, &who.adopts, user, &command))??;
        // No two rows have the same number, so no two of these have the same name.
        let name = format!("{REPORTS_PREFIX}{}", self.mark()?.seq + 1);
        let id = CommandId::new(&name).map_err(|error| Fault::damaged("the name of a command", error))?;
        let envelope = Envelope { format: FORMAT, id, by: Some(who.user.clone()), base: None, dry_run: false, command };
        self.handle_noted(&envelope, user, notes, now)
    }
}

fn standing(job: &Job) -> Standing {
    match job.phase {
        Phase::Queued { .. } => Standing::Waiting,
        Phase::Starting { .. } | Phase::Running { .. } | Phase::Stopping(_) => Standing::Running,
        Phase::Ended { .. } => Standing::Over,
    }
}

/// What a job executes, with the name of the agent that has its mark.
fn note(who: &Identity, job: &JobId, ask: &Ask) -> Result<NoteChange, Failure> {
    let mark = ask.script.adopted.as_deref().unwrap_or_default();
    let script = Script { adopted: Some(format!("{} {mark}", who.name)), ..ask.script.clone() };
    Ok(NoteChange::Put(Note::new(script::note_name(job), encode(&script)?)))
}

/// A job as its user would submit it here.
fn submission(state: &State, who: &Identity, job: &JobId, ask: &Ask) -> Result<(UserId, Command), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let user = UserId::new(&ask.user).map_err(|error| text(&error))?;
    let quota = QuotaId::new(&ask.quota).map_err(|error| text(&error))?;
    let no = state.quota_no(&quota).ok_or_else(|| format!("there is no quota {quota}"))?;
    let groups = &state.domains.list[state.domains.of_quota(no).at()].groups;
    if let Some(other) = groups.iter().map(|no| &state.groups[no.at()].id).find(|group| !who.serves.contains(group)) {
        return Err(format!("quota {quota} also draws on group {other}, where agent {} runs nothing", who.name));
    }
    let mut gpus = state.cluster.dimensions.iter().filter(|dimension| dimension.kind == DimensionKind::Gpu);
    let (Some(gpu), None) = (gpus.next(), gpus.next()) else {
        return Err("the cluster has GPUs of several types, or none; submit the job in Tidegate".to_owned());
    };
    let amount = [(gpu.name.clone(), i64::from(ask.gpus) * WHOLE)].into_iter().collect();
    let duration_ms = ask.duration_ms.map(|duration| Millis(i64::try_from(duration).unwrap_or(i64::MAX)));
    let submission = SubmitJob {
        quota: Some(quota),
        workspace: Some(WorkspaceId::new(&ask.workspace).map_err(|error| text(&error))?),
        user: Some(user.clone()),
        name: Some(ask.name.as_str().into()),
        priority: Priority::new(i64::from(ask.priority)).map_err(|error| text(&error))?,
        idle: match ask.idle {
            Idle::Off => IdlePolicy::Off,
            Idle::Acceptable => IdlePolicy::Acceptable,
            Idle::Only => IdlePolicy::Only,
        },
        fault_tolerance: ask.is_requeued.then_some(RESTARTS),
        duration_ms,
        ..SubmitJob::new(job.clone(), vec![PodGroup { count: 1, amount }])
    };
    Ok((user, Command::SubmitJob(submission)))
}
