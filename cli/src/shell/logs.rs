//! `tidegate logs`: what a job prints.

use std::thread;
use std::time::Duration;
use std::time::Instant;

use clap::Args;
use console_model::log_text::LogPart;
use console_model::log_text::LogText;
use console_model::path;
use engine::explain::Status as JobStatus;
use protocol::answer::JobExplained;
use protocol::answer::JobLog;

use crate::shell::failure::Failure;
use crate::shell::failure::Status;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::prompt;

/// What `tidegate logs` is asked for.
#[derive(Debug, Args)]
pub struct Logs {
    /// The job.
    pub job: String,
    /// Goes on until the job has ended, also when it is evicted and starts again.
    #[arg(long, short)]
    pub follow: bool,
    /// The context [default: the current one].
    #[arg(long)]
    pub context: Option<String>,
}

/// How long we wait before we ask for more.
const PAUSE: Duration = Duration::from_millis(700);
/// A job's agent is asked first for what it prints; so long we wait for the first of it.
const FIRST_WITHIN: Duration = Duration::from_secs(5);
/// With which a job is refused whose agent does not listen.
const AGENT_AWAY: &str = "agent_away";
/// The status of what may be had soon: the service is just starting, or the cluster is being restored.
const UNAVAILABLE: u16 = 503;
/// With which a job is refused that has printed nothing that is kept.
const NO_LOG: &str = "no_log";

/// What was answered.
enum Read {
    /// A part, and whether its run is over.
    Part(LogPart, bool),
    /// Nothing is kept of what it has printed; in a sentence.
    Nothing(String),
    /// It cannot be had now, and may be soon; why not.
    NotNow(Failure),
}

/// Prints it.
pub fn logs(asked: &Logs) -> Result<(), Failure> {
    let mut person = Person::of(asked.context.as_deref())?;
    if asked.follow { followed(&mut person, &asked.job) } else { once(&mut person, &asked.job) }
}

fn once(person: &mut Person, job: &str) -> Result<(), Failure> {
    let (mut log, begun) = (LogText::default(), Instant::now());
    loop {
        match read(person, job, log.next())? {
            Read::Nothing(sentence) => {
                let status = status(person, job)?;
                let text = format!(
                    "nothing is known of what {job} prints ({status}); `tidegate why {job}` says what it waits for, and \
                     `tidegate logs -f {job}` waits with it; of a job that runs nothing is known until the agent of its \
                     machines has told of it (`tidegate nodes`)"
                );
                return Err(Failure::refused(if has_ended(&status) { sentence } else { text }));
            }
            Read::NotNow(failure) => return Err(failure),
            Read::Part(part, is_over) => {
                log.take(&part);
                let text = log.drain();
                print::text(&text)?;
                if is_over || !text.is_empty() {
                    return Ok(());
                }
            }
        }
        if begun.elapsed() > FIRST_WITHIN {
            prompt::say(&format!("tidegate: {job} runs, and has printed nothing yet\n"));
            return Ok(());
        }
        thread::sleep(PAUSE / 4);
    }
}

fn followed(person: &mut Person, job: &str) -> Result<(), Failure> {
    let (mut log, mut told, mut has_begun) = (LogText::default(), String::new(), false);
    loop {
        let remark = match step(person, job, &mut log) {
            Ok(Step::Over) => return Ok(()),
            Ok(Step::On(remark)) => remark,
            // It may be back soon, and the job goes on meanwhile.
            Err(failure) if has_begun && failure.status == Status::Unreachable => {
                format!("{}; trying again", failure.text)
            }
            Err(failure) => return Err(failure),
        };
        has_begun = true;
        if !remark.is_empty() && remark != told {
            prompt::say(&format!("tidegate: {remark}\n"));
        }
        told = remark;
        thread::sleep(PAUSE);
    }
}

/// How following goes on.
enum Step {
    /// Everything is printed, and the job has ended.
    Over,
    /// There may be more; with what is to be said meanwhile.
    On(String),
}

/// Prints what there is now.
fn step(person: &mut Person, job: &str, log: &mut LogText) -> Result<Step, Failure> {
    let is_over = match read(person, job, log.next())? {
        Read::Part(part, is_over) => {
            log.take(&part);
            print::text(&log.drain())?;
            is_over && log.next().is_some()
        }
        Read::Nothing(_) => true,
        Read::NotNow(failure) => return Ok(Step::On(failure.text)),
    };
    if !is_over {
        return Ok(Step::On(String::new()));
    }
    let status = status(person, job)?;
    Ok(if has_ended(&status) { Step::Over } else { Step::On(format!("{job}: {status}")) })
}

fn read(person: &mut Person, job: &str, after: Option<u64>) -> Result<Read, Failure> {
    let after = after.map(|after| format!("?after={after}")).unwrap_or_default();
    let answer = person.answer(&format!("jobs/{}/log{after}", path::escape(job)))?;
    match answer.status {
        200 => {}
        UNAVAILABLE => return Ok(Read::NotNow(person.refused(&answer))),
        _ => {
            let (code, sentence) = answer.refusal();
            return match code.as_str() {
                NO_LOG => Ok(Read::Nothing(sentence)),
                AGENT_AWAY => Ok(Read::NotNow(person.refused(&answer))),
                _ => Err(person.refused(&answer)),
            };
        }
    }
    let log: JobLog = serde_json::from_str(&answer.text).map_err(|error| person.unreadable(&error.to_string()))?;
    let JobLog { job: _, run, bytes, from, text, is_over } = log;
    Ok(Read::Part(LogPart { run: run.to_string(), bytes, from, text }, is_over))
}

/// The job's state in a word.
fn status(person: &mut Person, job: &str) -> Result<String, Failure> {
    let explained: JobExplained = person.read(&format!("jobs/{}/why", path::escape(job)))?;
    Ok(match explained {
        JobExplained::Waits(waits) => waits.status.into_owned(),
        JobExplained::DoesNot(status) => status.status.into_owned(),
    })
}

fn has_ended(status: &str) -> bool {
    let ended = [JobStatus::Succeeded, JobStatus::Failed, JobStatus::Preempted, JobStatus::Cancelled];
    ended.iter().any(|ended| ended.as_str() == status)
}
