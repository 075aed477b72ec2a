//! Jobs that people submit by `sbatch` and Slurm holds for the service. What is known of one stands in its comment, which
//! the plugin writes and nobody but administrators can change:
//!
//! `tidegate-held MARK minutes=60 requeue=1 [run=0-12 node=n1 store=...] [not taken: ...] [tidegate: what its user says]`

use std::io;

use agent::adopt::Idle;
use agent::run::RunId;
use agent::script::Signal;

use crate::slurm::ask::ask;

/// What begins the comment of each of them.
pub(super) const WORD: &str = "tidegate-held";
/// What begins what its user says of a job, in the comment.
const OPTIONS: &str = "tidegate:";
/// What begins why a job is not taken.
const NOT_TAKEN: &str = "not taken:";
/// Number, state, reason, user, account, GPUs, restarts, name, comment: what may have any letters last.
const FORMAT: &str = "%i|%T|%r|%u|%a|%b|%k|%j";

/// A job that Slurm holds, or held, for the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldJob {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) is_held: bool,
    pub(super) reason: String,
    pub(super) user: String,
    pub(super) account: String,
    pub(super) gpus: u16,
    pub(super) name: String,
    pub(super) mark: String,
    /// How long it may run, in minutes.
    pub(super) minutes: Option<u64>,
    pub(super) is_requeued: bool,
    /// The run that it was given last, with its node.
    pub(super) run: Option<(RunId, String)>,
    /// Why it is not taken, as its user is told.
    pub(super) not_taken: String,
    /// What its user says of it.
    pub(super) options: String,
}

impl HeldJob {
    /// What it is called in the service. Numbers are given again, marks are not.
    pub(super) fn job(&self) -> String {
        format!("slurm-{}-{}", self.id, self.mark.get(..8).unwrap_or(&self.mark))
    }

    /// Whether it waits to be started by Slurm, held or not.
    pub(super) fn is_pending(&self) -> bool {
        self.state == "PENDING"
    }

    /// The comment with this run, or with why the job is not taken.
    pub(super) fn comment(&self, store: &str, run: Option<(RunId, &str)>, not_taken: &str) -> String {
        let mut words = vec![WORD.to_owned(), self.mark.clone()];
        words.extend(self.minutes.map(|minutes| format!("minutes={minutes}")));
        words.push(format!("requeue={}", u8::from(self.is_requeued)));
        words.extend(run.map(|(run, node)| format!("run={run} node={node} store={store}")));
        words.extend((!not_taken.is_empty()).then(|| format!("{NOT_TAKEN} {not_taken}")));
        words.extend((!self.options.is_empty()).then(|| format!("{OPTIONS} {}", self.options)));
        words.join(" ")
    }
}

/// What the users of jobs may say of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) priority: u8,
    pub(super) idle: Idle,
    pub(super) checkpoint: Option<Signal>,
}

impl Options {
    /// Reads them; what cannot be read is named.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut options = Self { priority: 1, idle: Idle::Off, checkpoint: None };
        for word in text.split_whitespace() {
            let wrong = || {
                format!(
                    "{word} is not understood; write priority=1 to 9, idle=off, acceptable or only, checkpoint=USR1, USR2, INT or HUP"
                )
            };
            let (name, value) = word.split_once('=').ok_or_else(wrong)?;
            match name {
                "priority" => {
                    options.priority = value.parse().ok().filter(|value| (1..=9).contains(value)).ok_or_else(wrong)?;
                }
                "idle" => {
                    options.idle = match value {
                        "off" => Idle::Off,
                        "acceptable" => Idle::Acceptable,
                        "only" => Idle::Only,
                        _ => return Err(wrong()),
                    };
                }
                "checkpoint" => {
                    options.checkpoint = Some(match value.trim_start_matches("SIG") {
                        "USR1" => Signal::Usr1,
                        "USR2" => Signal::Usr2,
                        "INT" => Signal::Int,
                        "HUP" => Signal::Hup,
                        _ => return Err(wrong()),
                    });
                }
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }
}

/// The jobs of a partition that are held for the service, or were.
pub(super) fn jobs(partition: &str) -> io::Result<Vec<HeldJob>> {
    let said = ask("squeue", ["--all", "--noheader", "--states=all", "--partition", partition, "--format", FORMAT])?;
    Ok(said.lines().filter_map(job).collect())
}

fn job(line: &str) -> Option<HeldJob> {
    let mut fields = line.splitn(8, '|');
    let mut field = || fields.next();
    let (id, state, reason, user, account) = (field()?, field()?, field()?, field()?, field()?);
    let (gpus, comment, name) = (field()?, field()?, field()?);
    let (known, options) = comment.split_once(OPTIONS).unwrap_or((comment, ""));
    let (known, not_taken) = known.split_once(NOT_TAKEN).unwrap_or((known, ""));
    let mut words = known.split_whitespace();
    let mark = words.next().filter(|word| *word == WORD).and_then(|_| words.next())?;
    let is_plain = |letter: char| letter.is_ascii_hexdigit();
    (mark.len() >= 16 && mark.chars().all(is_plain)).then_some(())?;
    let value = |name: &str| known.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let run = value("run").and_then(RunId::parse).zip(value("node").map(str::to_owned));
    Some(HeldJob {
        id: id.to_owned(),
        state: state.to_owned(),
        is_held: reason.contains("Held") || reason.contains("held"),
        reason: reason.to_owned(),
        user: user.to_owned(),
        account: account.to_owned(),
        gpus: gpus.rsplit(':').next().and_then(|count| count.parse().ok()).unwrap_or_default(),
        name: name.to_owned(),
        mark: mark.to_owned(),
        minutes: value("minutes").and_then(|minutes| minutes.parse().ok()),
        is_requeued: value("requeue") == Some("1"),
        run,
        not_taken: not_taken.trim().to_owned(),
        options: options.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use agent::adopt::Idle;
    use agent::run::RunId;

    use super::Options;
    use super::job;

    const MARK: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn what_the_comment_says_is_read_and_written() {
        let line = format!(
            "7|PENDING|JobHeldUser|ann|ml|gres:gpu:2|tidegate-held {MARK} minutes=60 requeue=1 tidegate: priority=3|train a|b"
        );
        let held = job(&line).expect("it is one");
        assert_eq!((held.job().as_str(), held.gpus, held.minutes), ("slurm-7-01234567", 2, Some(60)));
        assert_eq!((held.name.as_str(), held.is_held, held.is_requeued), ("train a|b", true, true));
        let run = RunId::parse("0-12").expect("it is one");
        let comment = held.comment("s", Some((run, "n1")), "");
        let line = format!("7|RUNNING|None|ann|ml|gres:gpu:2|{comment}|x");
        let again = job(&line).expect("it is one");
        assert_eq!((again.run.clone(), again.options.as_str()), (Some((run, "n1".to_owned())), "priority=3"));
        let told = job(&format!("7|PENDING|JobHeldUser|ann|ml|N/A|{}|x", again.comment("s", None, "no quota")));
        let told = told.expect("it is one");
        assert_eq!((told.run, told.not_taken.as_str(), told.options.as_str()), (None, "no quota", "priority=3"));
        for other in ["", "(null)", "tidegate-held", "tidegate-held ../x", "tidegate s 0-1 n1"] {
            assert_eq!(job(&format!("7|PENDING|x|ann|ml|N/A|{other}|x")), None, "{other}");
        }
    }

    #[test]
    fn what_users_say_is_understood_or_named() {
        let options = Options::read("priority=4 idle=only checkpoint=SIGUSR1").expect("they are good");
        assert_eq!((options.priority, options.idle, options.checkpoint.is_some()), (4, Idle::Only, true));
        for bad in ["priority=10", "priority", "idle=maybe", "checkpoint=KILL", "nice=3"] {
            let told = Options::read(bad).expect_err("it is not understood");
            assert!(told.starts_with(&format!("{bad} is not understood")), "{told}");
        }
    }
}
