//! What heads lead to, kept in bounded memory for the next reader.

use std::rc::Rc;

use crate::history::Folded;

/// How many clusters are kept at most.
const CLUSTERS_MAX: usize = 8;
/// What a job takes in a state, with everything that is kept about it, about.
const JOB_BYTES: usize = 1_000;

/// Clusters that have been read, the one that was asked for last at the end.
#[derive(Debug)]
pub struct Ready {
    kept: Vec<Kept>,
    bytes_max: usize,
}

/// What is known of a cluster.
#[derive(Clone, Debug)]
struct Kept {
    cluster: String,
    folded: Rc<Folded>,
    /// The state as the text of a snapshot, once somebody has asked for it.
    text: Option<Rc<str>>,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.folded.state.jobs.len() * JOB_BYTES + self.text.as_ref().map_or(0, |text| text.len())
    }
}

impl Ready {
    /// Nothing yet; later about so many bytes at most.
    #[must_use]
    pub const fn new(bytes_max: usize) -> Self {
        Self { kept: Vec::new(), bytes_max }
    }

    /// What is known of a cluster: its head with the state, and the state's text.
    pub fn get(&mut self, cluster: &str) -> Option<(Rc<Folded>, Option<Rc<str>>)> {
        let at = self.kept.iter().position(|kept| kept.cluster == cluster)?;
        self.kept[at..].rotate_left(1);
        self.kept.last().map(|kept| (Rc::clone(&kept.folded), kept.text.clone()))
    }

    /// Keeps what is known of a cluster, in place of what was known before and of those that nobody has asked for as
    /// long.
    pub fn keep(&mut self, cluster: &str, folded: Rc<Folded>, text: Option<Rc<str>>) {
        self.kept.retain(|kept| kept.cluster != cluster);
        self.kept.push(Kept { cluster: cluster.to_owned(), folded, text });
        while self.kept.len() > CLUSTERS_MAX || self.is_too_much() && self.kept.len() > 1 {
            self.kept.remove(0);
        }
        // The state stays, as large as it is: folding it for every reader would take no less. Its text is soon made.
        if self.is_too_much() {
            self.kept.iter_mut().for_each(|kept| kept.text = None);
        }
    }

    fn is_too_much(&self) -> bool {
        self.kept.iter().map(Kept::bytes).sum::<usize>() > self.bytes_max
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use engine::host::authority;
    use engine::message;
    use engine::message::command::Command;
    use engine::state::world::State;
    use engine::unit::time::Timestamp;

    use super::CLUSTERS_MAX;
    use super::JOB_BYTES;
    use super::Ready;
    use crate::history::Folded;
    use crate::log::decode;

    fn folded(n_jobs: usize) -> Rc<Folded> {
        let mut state = State::default();
        let jobs = (0..n_jobs).map(|no| {
            format!(r#"{{"submit_job":{{"job":"job-{no}","quota":"q","pods":[{{"amount":{{"gpu":1000}}}}]}}}}"#)
        });
        let founding = [
            r#"{"create_cluster":{"dimensions":[{"name":"gpu","kind":"gpu"}]}}"#,
            r#"{"put_group":{"group":"pool","resource_type":"lingjun","pool":{"gpu":8000}}}"#,
            r#"{"create_quota":{"quota":"q","groups":["pool"],"min":{"gpu":8000}}}"#,
        ];
        for text in founding.map(str::to_owned).into_iter().chain(jobs) {
            let command: Command = message::read(text.as_bytes()).unwrap();
            authority::step(&mut state, &command, Timestamp(0)).unwrap();
        }
        let head = r#"{"format":1,"cluster":"c","seq":1,"revision":1,"at":0,"published_at":0,"snapshot":null,"segments":[],"history":null}"#;
        Rc::new(Folded { head: decode("a head", head).unwrap(), state })
    }

    fn known(ready: &Ready) -> Vec<&str> {
        ready.kept.iter().map(|kept| kept.cluster.as_str()).collect()
    }

    #[test]
    fn those_that_nobody_has_asked_for_as_long_make_room() {
        let mut ready = Ready::new(usize::MAX);
        for number in 0..CLUSTERS_MAX {
            ready.keep(&number.to_string(), folded(0), None);
        }
        assert!(ready.get("0").is_some() && ready.get("none").is_none());
        ready.keep("8", folded(0), None);
        assert_eq!(known(&ready), ["2", "3", "4", "5", "6", "7", "0", "8"]);
        ready.keep("4", folded(1), Some("text".into()));
        assert_eq!(known(&ready), ["2", "3", "5", "6", "7", "0", "8", "4"]);
        let (folded, text) = ready.get("4").unwrap();
        assert_eq!((folded.state.jobs.len(), text.as_deref()), (1, Some("text")));
    }

    #[test]
    fn jobs_and_texts_take_limited_room() {
        let text = |bytes: usize| Some("x".repeat(bytes).into());
        let mut ready = Ready::new(5 * JOB_BYTES);
        ready.keep("a", folded(2), text(JOB_BYTES));
        ready.keep("b", folded(1), text(JOB_BYTES));
        assert_eq!(known(&ready), ["a", "b"]);
        ready.keep("c", folded(1), None);
        assert_eq!(known(&ready), ["b", "c"]);
        ready.keep("d", folded(2), text(4 * JOB_BYTES));
        let (large, no_text) = ready.get("d").unwrap();
        assert_eq!((known(&ready), large.state.jobs.len(), no_text), (vec!["d"], 2, None));
    }
}
