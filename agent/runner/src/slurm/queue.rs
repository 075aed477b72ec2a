//! The queue of Slurm, as it is now: its jobs are known by their comments, never by numbers that were remembered. Slurm
//! forgets jobs and gives their numbers again when its controller is killed.

use std::io;

use agent::run::RunId;

use crate::slurm::ask::ask;

/// What begins the comment of each job that an agent submits.
const WORD: &str = "tidegate";
/// Number, state, reason, comment: the comment last, since it may have any letters.
const FORMAT: &str = "%i|%T|%r|%k";

/// A job of Slurm that an agent submitted: a part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlurmJob {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) reason: String,
    pub(super) run: RunId,
    /// The name of the part.
    pub(super) part: String,
    /// Whether people have submitted it themselves.
    pub(super) is_adopted: bool,
}

impl SlurmJob {
    /// Whether it may have processes, or may come to have some.
    pub(super) fn is_live(&self) -> bool {
        !matches!(
            self.state.as_str(),
            "BOOT_FAIL"
                | "CANCELLED"
                | "COMPLETED"
                | "DEADLINE"
                | "FAILED"
                | "NODE_FAIL"
                | "OUT_OF_MEMORY"
                | "PREEMPTED"
                | "REVOKED"
                | "TIMEOUT"
        )
    }

    /// Whether its processes may have outlived it: Slurm gives a job up that was on a node which does not answer.
    pub(super) fn is_given_up(&self) -> bool {
        matches!(self.state.as_str(), "NODE_FAIL" | "BOOT_FAIL")
    }
}

/// What names a part to Slurm, and to people who look at the queue.
pub(super) fn comment(store: &str, run: RunId, part: &str) -> String {
    format!("{WORD} {store} {run} {part}")
}

/// The jobs of a store that Slurm knows, ended ones included as long as it remembers them.
pub(super) fn jobs(store: &str) -> io::Result<Vec<SlurmJob>> {
    let said = ask("squeue", ["--all", "--noheader", "--states=all", "--format", FORMAT])?;
    Ok(said.lines().filter_map(|line| job(store, line)).collect())
}

fn job(store: &str, line: &str) -> Option<SlurmJob> {
    let mut fields = line.splitn(4, '|');
    let (id, state, reason, comment) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let mut words = comment.split_whitespace();
    let (word, of, run, part) = (words.next()?, words.next()?, words.next()?, words.next()?);
    (word == WORD && of == store && words.next().is_none()).then_some(())?;
    let (id, state, reason) = (id.to_owned(), state.to_owned(), reason.to_owned());
    Some(SlurmJob { id, state, reason, run: RunId::parse(run)?, part: part.to_owned(), is_adopted: false })
}

#[cfg(test)]
mod tests {
    use super::comment;
    use super::job;
    use agent::run::RunId;

    #[test]
    fn jobs_are_known_by_their_comments() {
        let run = RunId::parse("0-12").expect("it is one");
        let line = |comment: &str| format!("7|RUNNING|None|{comment}");
        let seen = job("abc", &line(&comment("abc", run, "n1"))).expect("it is one of ours");
        assert_eq!((seen.id.as_str(), seen.run, seen.part.as_str(), seen.is_live()), ("7", run, "n1", true));
        for other in
            ["", "(null)", "tidegate", "tidegate xyz 0-12 n1", "tidegate abc 012 n1", "tidegate abc 0-12 n1 more"]
        {
            assert_eq!(job("abc", &line(other)), None, "{other}");
        }
        assert!(!job("abc", "7|NODE_FAIL|None|tidegate abc 0-12 n1").expect("it is").is_live());
    }
}
