//! What an agent's reports mean: those that the log does not know yet, as commands.

use agent::exit::Exit;
use agent::message::RunReport;
use agent::message::RunState;
use agent::message::SyncRequest;
use engine::job::halt::Exit as RunExit;
use engine::job::halt::Fault;
use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::agents::books;
use crate::agents::books::Runs;
use crate::agents::books::Standing;
use crate::agents::contact;
use crate::agents::contact::Contact;
use crate::agents::contact::Contacts;
use crate::agents::contact::Ending;
use crate::agents::contact::Identity;
use crate::agents::contact::Refused;
use crate::agents::fitness;
use crate::agents::judged;
use crate::agents::said::Said;
use crate::agents::silence;

/// How much newer than the last one a checkpoint of a running job is, to be worth a row of the log.
const CHECKPOINT_GAP: Millis = Millis::MINUTE;
/// The same while it is stopping: messages take a while.
const LAST_CHECKPOINT_GAP: Millis = Millis(5_000);

/// What is to be told to the log, and what was found out for that. What is known of the agent changes with it.
pub(super) fn hear<'a>(
    state: &State,
    contacts: &mut Contacts,
    who: &Identity,
    request: &'a SyncRequest,
    has_script: &dyn Fn(&JobId) -> bool,
    now: Timestamp,
) -> Result<(Vec<Command>, Runs, Said<'a>), Refused> {
    contact::current(contacts, who, request.incarnation)?;
    let nodes = judged::judged(state, &request.nodes);
    contact::take_nodes(state, contacts, who, &nodes)?;
    let current = Runs::of(state, contact::current(contacts, who, request.incarnation)?);
    let said = Said::of(request, &current, contacts);
    if let Some(contact) = contacts.get_mut(&who.name) {
        contact.missed = None;
        contact.begun.retain(|run| current.find(*run).is_some_and(|of| of.standing == Standing::Unconfirmed));
        contact.ended.retain(|run, _| current.find(*run).is_some());
        if !contact.gone.is_empty() {
            let open = books::open_orders(state);
            contact.gone.retain(|order| open.contains(order));
        }
        let is_stranger = |report: &&RunReport| {
            let lives = !matches!(report.state, RunState::Ended(_));
            let is_known = || {
                current
                    .find(report.run)
                    .is_some_and(|of| !books::has_unknown_pods(state, &state.jobs[of.job], current.here(), report))
            };
            lives && report.run.epoch() < state.cluster.epoch && !is_known()
        };
        // Only who acts on an answer of this epoch is sure not to begin what it was told in an earlier one.
        if request.answered.is_some_and(|answered| answered.epoch == state.cluster.epoch) {
            contact.epoch = Some(state.cluster.epoch);
            contact.strangers = said.reports.iter().filter(is_stranger).map(|report| report.run).collect();
        }
    }
    let mut reports = Vec::new();
    for report in &*said.reports {
        if let Some(of) = current.find(report.run).filter(|of| of.standing != Standing::GoesOn || has_news(report)) {
            of_run(state, contacts, who, of.job, report, now, &mut reports);
        }
    }
    let unconfirmed = current.iter().filter(|of| of.standing == Standing::Unconfirmed && of.n_pods > 0);
    reports.extend(unconfirmed.filter_map(|of| without_script(&state.jobs[of.job], has_script)));
    let again = silence::heard_again(state, current.here(), request).into_iter().map(Command::NodeHeard);
    let fitness = contacts.get_mut(&who.name).map(|contact| fitness::changed(state, contact, &nodes));
    let fitness = fitness.into_iter().flatten().map(Command::PutNode);
    Ok((again.chain(fitness).chain(reports.into_iter().map(Command::Report)).collect(), current, said))
}

/// Whether something is said of a run that goes on beside that it does.
fn has_news(report: &RunReport) -> bool {
    !(report.state == RunState::Running && report.checkpoint_ms.is_none() && report.gone.is_empty())
}

/// What of a run the log does not know.
fn of_run(
    state: &State,
    contacts: &mut Contacts,
    who: &Identity,
    no: JobNo,
    report: &RunReport,
    now: Timestamp,
    reports: &mut Vec<Report>,
) {
    let job = &state.jobs[no];
    let mut say = |observed| reports.push(Report { job: job.spec.id.clone(), run: job.run_no(), observed });
    let has_begun = match &report.state {
        RunState::Prepared => false,
        RunState::Running | RunState::Stopping => true,
        RunState::Ended(exit) => matches!(exit, Exit::Code(_) | Exit::Signal(_)),
    };
    if has_begun && job.is_unconfirmed() && has_begun_everywhere(state, contacts, who, job, report) {
        say(Observation::Confirmed);
    }
    if is_new_checkpoint(job, report, now) {
        say(Observation::Checkpointed);
    }
    let ending = match &report.state {
        RunState::Ended(exit) => end(state, contacts, who, job, report, exit),
        RunState::Prepared | RunState::Running | RunState::Stopping if report.gone.is_empty() => return,
        RunState::Prepared | RunState::Running | RunState::Stopping => {
            let open = books::open_orders_of(job);
            let gone = report.gone.iter().filter(|order| open.contains(order));
            contacts.get_mut(&who.name).into_iter().for_each(|contact| contact.gone.extend(gone.clone()));
            None
        }
    };
    match ending {
        Some(ending) => say(observed(&ending)),
        None => books::vacated(state, job, report.run, contacts)
            .into_iter()
            .for_each(|order| say(Observation::Vacated { order })),
    }
}

/// Whether all pods of a job have begun, now that these have.
fn has_begun_everywhere(state: &State, contacts: &mut Contacts, who: &Identity, job: &Job, report: &RunReport) -> bool {
    let agents = books::agents_of(state, job, contacts);
    let mut parts = agents.iter().filter(|(_, contact)| books::has_gang(state, job, contact));
    let is_everywhere = parts.all(|(name, contact)| *name == who.name || contact.begun.contains(&report.run));
    if let (false, Some(contact)) = (is_everywhere, contacts.get_mut(&who.name)) {
        contact.begun.insert(report.run);
    }
    is_everywhere
}

/// How a job's run ended, now that it has ended on this agent's nodes; none while it has not ended on others. Its GPUs
/// are free there when it has ended everywhere, and not before.
fn end(
    state: &State,
    contacts: &mut Contacts,
    who: &Identity,
    job: &Job,
    report: &RunReport,
    exit: &Exit,
) -> Option<Ending> {
    let here = Ending { exit: exit.clone(), told: report.told };
    let agents = books::agents_of(state, job, contacts);
    let others = || agents.iter().filter(|(name, _)| *name != who.name);
    if others().any(|(_, contact)| !contact.ended.contains_key(&report.run)) {
        if let Some(contact) = contacts.get_mut(&who.name) {
            contact.ended.insert(report.run, here);
        }
        return None;
    }
    // The first that failed by itself speaks for all: the others were told to stop because of it. So were those that had
    // been told to leave, because of something else.
    let is_part = |contact: &Contact| books::has_part(state, job, contact);
    let of_others = others().filter(|(_, contact)| is_part(contact));
    let endings = of_others.filter_map(|(_, contact)| contact.ended.get(&report.run));
    let mine = contacts.get(&who.name).is_none_or(is_part).then_some(&here);
    endings.chain(mine).min_by_key(|ending| weight(ending)).cloned().or(Some(here.clone()))
}

/// Whose ending speaks for a run: the lowest.
fn weight(ending: &Ending) -> u8 {
    match (&ending.exit, ending.told) {
        (Exit::Code(0), false) => 5,
        (Exit::Code(_) | Exit::Signal(_), false) | (Exit::Command(_), _) => 0,
        (Exit::Start(_), _) => 1,
        (Exit::Lost(_), _) => 2,
        (Exit::Code(_) | Exit::Signal(_), true) => 3,
        (Exit::Unstarted, _) => 4,
    }
}

/// An end as the log takes it. A program that was told to stop has stopped, whatever it says.
fn observed(ending: &Ending) -> Observation {
    let failed = |fault, reason, exit| Observation::Failed { reason, fault, exit };
    match (&ending.exit, ending.told) {
        (Exit::Code(_) | Exit::Signal(_), true) | (Exit::Unstarted, _) => Observation::Stopped,
        (Exit::Code(0), false) => Observation::Finished,
        (Exit::Code(code), false) => failed(Fault::Job, String::new(), Some(RunExit::Code(*code))),
        (Exit::Signal(signal), false) => {
            let signal = u8::try_from(*signal).unwrap_or(u8::MAX);
            failed(Fault::Job, String::new(), Some(RunExit::Signal(signal)))
        }
        (Exit::Command(_), _) => failed(Fault::Job, ending.exit.to_string(), None),
        (Exit::Start(_), _) => failed(Fault::Start, ending.exit.to_string(), None),
        (Exit::Lost(_), _) => failed(Fault::Node, ending.exit.to_string(), None),
    }
}

/// Whether a checkpoint is newer than what is known to be saved.
fn is_new_checkpoint(job: &Job, report: &RunReport, now: Timestamp) -> bool {
    let Some(ago) = report.checkpoint_ms.and_then(|ago| i64::try_from(ago).ok()) else { return false };
    let written = Timestamp(now.0.saturating_sub(ago));
    let confirmed = job.run.as_ref().and_then(|run| run.confirmed);
    match (&job.phase, confirmed, &job.run) {
        (Phase::Running { checkpointed, .. }, Some(confirmed), _) => {
            written > checkpointed.map_or(confirmed, |last| last + CHECKPOINT_GAP)
        }
        (Phase::Stopping(_), Some(confirmed), Some(run)) => {
            let saved = run.saved_before.0.saturating_add((written - confirmed).0);
            saved > job.progress.saved_ms.0.saturating_add(LAST_CHECKPOINT_GAP.0)
        }
        (_, _, _) => false,
    }
}

/// A job that nobody has said how to execute cannot begin.
fn without_script(job: &Job, has_script: &dyn Fn(&JobId) -> bool) -> Option<Report> {
    let reason = || "it has no command; submit it with a script".to_owned();
    let observed = || Observation::Failed { reason: reason(), fault: Fault::Job, exit: None };
    (!has_script(&job.spec.id)).then(|| Report { job: job.spec.id.clone(), run: job.run_no(), observed: observed() })
}
