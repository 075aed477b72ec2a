//! The runs of a Slurm cluster, each in its parts: what is known of them, and what follows from that whatever is wanted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::io;

use agent::act::Instead;
use agent::exit::Exit;
use agent::message::Want;
use agent::run::RunId;
use agent::seen::Phase;
use agent::seen::Seen;

use crate::clock;
use crate::folder::Folder;
use crate::folder::Held;
use crate::folder::Order;
use crate::folder::Work;
use crate::log;
use crate::slurm::adopt::Adopt;
use crate::slurm::adopt::Adoption;
use crate::slurm::ask::ask;
use crate::slurm::batch;
use crate::slurm::part;
use crate::slurm::part::Part;
use crate::slurm::part::PartEnd;
use crate::slurm::portion;
use crate::slurm::portion::Portion;
use crate::slurm::queue;
use crate::slurm::queue::SlurmJob;
use crate::slurm::view::View;
use crate::store::Store;
use crate::stored;

/// How long the rest of a run may take to stop when one of its parts has failed.
const REST_GRACE_MS: u64 = 30_000;
/// How long after its deadline a run is killed by Slurm, if its batch script has not done so.
pub(super) const KILL_LATE_MS: u64 = 5_000;
/// How long we wait for the last word of a batch script: shared file systems may show it late.
const LAST_WORD_MS: u64 = 5_000;
/// How long nothing of a batch script is seen that Slurm does not know any more, until it is gone.
const LOST_AFTER_MS: u64 = 45_000;
const SIGKILL: i32 = 9;
/// What stands for a job whose name cannot be told any more.
const UNKNOWN: &str = "unknown";

/// The runs that the store has.
pub(super) struct Runs {
    pub(super) store: Store,
    pub(super) view: View,
    pub(super) adoption: Option<Adoption>,
    /// What `sbatch` is told besides.
    options: Vec<String>,
    /// When parts were last submitted.
    submitted: BTreeMap<(RunId, String), u64>,
    /// What was last seen of batch scripts whose jobs are gone, and since when it is so.
    signs: BTreeMap<(RunId, String), (Option<String>, u64)>,
}

impl Runs {
    pub(super) fn new(store: Store, options: Vec<String>, adopt: Option<Adopt>) -> io::Result<Self> {
        let view = View::first(&store.name, adopt.as_ref().map(|adopt| adopt.partition.clone()))?;
        let adoption = adopt.map(|adopt| Adoption::open(adopt, &store.path)).transpose()?;
        Ok(Self { store, view, adoption, options, submitted: BTreeMap::new(), signs: BTreeMap::new() })
    }

    /// Where the files of a run's parts are: in its folder, and of people's own jobs where their users may write.
    pub(super) fn open(&self, folder: &Folder, work: &Work) -> Folder {
        let adoption = self.adoption.as_ref().filter(|_| work.script.adopted.is_some());
        adoption.map_or_else(
            || folder.clone(),
            |adoption| Folder { run: folder.run, path: adoption.run_folder(folder.run) },
        )
    }

    /// Drops what is remembered of a run.
    pub(super) fn drop_memory(&mut self, run: RunId) {
        self.submitted.retain(|(of, _), _| *of != run);
        self.signs.retain(|(of, _), _| *of != run);
    }

    pub(super) fn folder(&self, run: RunId) -> Folder {
        Folder::of(&self.store.path, run)
    }

    pub(super) fn order(&self, job: &str, work: Option<Work>) -> Order {
        // Slurm has groups of processes of its own, and one file for what a run prints.
        Order { job: job.to_owned(), work, store: self.store.name.clone(), part_bytes: u64::MAX, cgroups: false }
    }

    /// Asks Slurm again, if that was some time ago.
    pub(super) fn look_at_slurm(&mut self) {
        self.view.refresh(&self.store.name);
    }

    /// The parts of a run as they are.
    pub(super) fn parts(&self, folder: &Folder, work: &Work) -> io::Result<Vec<(Portion, Part)>> {
        let (open, run) = (self.open(folder, work), work.want.run);
        let part = |portion: Portion| {
            let part = Part::of(&open, &portion.name, &self.view.of_part(run, &portion.name))?;
            Ok((portion, part))
        };
        portion::all(folder, &work.want)?.into_iter().map(part).collect()
    }

    /// Those that have not been told to leave: they speak for the run.
    fn staying(&self, folder: &Folder, work: &Work) -> io::Result<Vec<(Portion, Part)>> {
        let mut parts = self.parts(folder, work)?;
        parts.retain(|(portion, _)| portion.leaves.is_none());
        Ok(parts)
    }

    /// Does what follows from how far the parts of a run are, whatever is wanted.
    pub(super) fn tend(&mut self, folder: &Folder) -> io::Result<()> {
        let Some(Order { work: Some(work), .. }) = folder.order()? else { return Ok(()) };
        if folder.ended()?.is_some() {
            self.cancel_rest(folder, &work);
            return Ok(());
        }
        let open = self.open(folder, &work);
        self.turn_over(folder, &work)?;
        for (portion, part) in self.parts(folder, &work)? {
            if let Part::Gone(job) = part {
                // One that Slurm has queued again by itself is over too, and what it had may live on a node that is lost.
                let is_killed = job.is_some_and(|job| !job.is_given_up() && !job.is_adopted);
                self.tend_gone(folder, &open, &portion, is_killed)?;
            }
        }
        let parts = self.staying(folder, &work)?;
        let refusal = parts.iter().find_map(|(_, part)| match part {
            Part::Refused(reason) => Some(reason.clone()),
            Part::Absent | Part::Queued | Part::Buried | Part::Live | Part::Gone(_) | Part::Ended(_) => None,
        });
        let is_open = parts.iter().any(|(_, part)| part.is_live() || part.is_unclaimed());
        let has_failed = |part: &Part| *part == Part::Buried || ended(part).is_some_and(PartEnd::is_bad);
        if is_open && (refusal.is_some() || parts.iter().any(|(_, part)| has_failed(part))) {
            let instead = refusal.map_or(Instead::Unstarted, Instead::Start);
            self.end_all(folder, &work, &instead, REST_GRACE_MS)?;
        }
        let ends: Vec<&PartEnd> = parts.iter().filter_map(|(_, part)| ended(part)).collect();
        if !ends.is_empty() && parts.iter().all(|(_, part)| ended(part).is_some() || *part == Part::Buried) {
            // The first that failed by itself speaks for all: the others were told to stop because of it.
            let by_itself = ends.iter().find(|end| end.is_bad() && !end.told);
            let speaks = by_itself.or(ends.iter().find(|end| end.told)).or(ends.first());
            speaks.map_or(Ok(()), |end| folder.record(end.exit.clone(), end.told))?;
        }
        let is_late = folder.kill_at()?.is_some_and(|at| at.saturating_add(KILL_LATE_MS) <= clock::now());
        if is_late {
            self.signal(folder, &work, &["--full", "--signal=KILL"]);
        }
        Ok(())
    }

    /// A part whose job is over and whose batch script has not told its end: Slurm has killed it, or has lost it. What it
    /// has lost may still live, and is ended by its batch script, which finds the order.
    fn tend_gone(&mut self, folder: &Folder, open: &Folder, portion: &Portion, is_killed: bool) -> io::Result<()> {
        let Portion { name, node, leaves, .. } = portion;
        let sign = part::sign_of_life(open, name)?;
        let key = (folder.run, name.clone());
        let (last, since) = self.signs.entry(key).or_insert_with(|| (sign.clone(), self.view.at));
        if *last != sign {
            (*last, *since) = (sign, self.view.at);
        }
        // What Slurm said before is from long ago if it is silent now.
        let unseen_for = self.view.at.saturating_sub(*since);
        if is_killed && unseen_for >= LAST_WORD_MS {
            part::note_end(open, name, SIGKILL, leaves.is_some() || folder.kill_at()?.is_some())?;
        } else if !is_killed && unseen_for >= LOST_AFTER_MS && self.view.hears(node) {
            part::note_lost(open, name, node)?;
        }
        Ok(())
    }

    /// Rules out what has not begun, and orders the rest to end; says how the run ended if nothing had begun.
    pub(super) fn end_all(
        &mut self,
        folder: &Folder,
        work: &Work,
        instead: &Instead,
        within_ms: u64,
    ) -> io::Result<()> {
        let open = self.open(folder, work);
        for (portion, part) in self.parts(folder, work)? {
            if part.is_unclaimed() {
                part::bury(&open, &portion.name)?;
            }
        }
        let parts = self.parts(folder, work)?;
        if parts.iter().all(|(_, part)| *part == Part::Buried) {
            record_instead(folder, instead)?;
            self.cancel_rest(folder, work);
            return Ok(());
        }
        let kill_at = clock::now().saturating_add(within_ms);
        if folder.kill_at()?.is_none_or(|earlier| kill_at < earlier) {
            stored::replace(&folder.file("stop"), &kill_at.to_string())?;
            part::order_stop(&open, part::STOP, within_ms)?;
            self.signal(folder, work, &["--batch", "--signal=USR2"]);
        }
        Ok(())
    }

    /// Cancels jobs that would find that they must not begin.
    fn cancel_rest(&self, folder: &Folder, work: &Work) {
        // People's own jobs wait again; whether they are cancelled the service says.
        let own = self.view.of_run(folder.run).into_iter().filter(|job| job.is_adopted && job.state == "PENDING");
        own.for_each(|job| drop(ask("scontrol", ["hold", &job.id])));
        if work.script.adopted.is_none() {
            self.signal(folder, work, &[]);
        }
    }

    /// Has Slurm signal the jobs of a run, or cancel them if nothing is said of how.
    fn signal(&self, folder: &Folder, work: &Work, how: &[&str]) {
        signal(work, &self.view.of_run(folder.run), how);
    }

    /// Submits the parts of a run for which Slurm has no job.
    pub(super) fn submit_absent(&mut self, folder: &Folder, work: &Work) -> io::Result<()> {
        for (portion, part) in self.staying(folder, work)? {
            let submitted = self.submitted.get(&(work.want.run, portion.name.clone()));
            // Whether it is there now, only a later look at the queue tells.
            if part == Part::Absent && submitted.is_none_or(|at| *at < self.view.at) {
                match &work.script.adopted {
                    Some(mark) => self.start_held(folder, work, mark, &portion)?,
                    None => self.submit(folder, work, &portion)?,
                }
            }
        }
        Ok(())
    }

    /// Has Slurm start a job that somebody has submitted there. The agent's name stands before its mark.
    fn start_held(&mut self, folder: &Folder, work: &Work, mark: &str, portion: &Portion) -> io::Result<()> {
        let Some(adoption) = &self.adoption else {
            return Err(io::Error::other("this agent adopts no jobs; start it with --adopt"));
        };
        let mark = mark.split(' ').next_back().unwrap_or(mark);
        let held = self.view.held.iter().find(|held| held.mark == mark);
        let held = held.ok_or_else(|| io::Error::other("Slurm has no such job any more"))?;
        adoption.make_room(folder.run)?;
        let batch = batch::text(&self.open(folder, work), work, &self.store.name, portion);
        adoption.start(held, &self.store.name, folder.run, &portion.node, &batch)?;
        self.submitted.insert((work.want.run, portion.name.clone()), clock::now());
        Ok(())
    }

    /// The jobs whose runs have not ended.
    pub(super) fn busy(&self) -> io::Result<BTreeSet<String>> {
        let mut busy = BTreeSet::new();
        for run in self.store.runs()? {
            let folder = self.folder(run);
            if folder.ended()?.is_none() {
                busy.extend(folder.order()?.map(|order| order.job));
            }
        }
        Ok(busy)
    }

    fn submit(&mut self, folder: &Folder, work: &Work, portion: &Portion) -> io::Result<()> {
        let (want, Portion { name: part, node, pods, .. }) = (&work.want, portion);
        let batch = folder.file(&format!("batch-{part}"));
        fs::write(&batch, batch::text(folder, work, &self.store.name, portion))?;
        part::make_room(folder, &portion.order_file())?;
        let is_first = want.pods.iter().min_by_key(|pod| pod.rank).is_some_and(|first| pods.contains(first));
        let output = folder.file(&if is_first { log::first_name() } else { format!("out-{part}") });
        let gpus: usize = pods.iter().map(|pod| pod.gpus.len()).sum();
        let mut arguments = vec!["--parsable".to_owned(), "--no-requeue".to_owned(), "--nodes=1".to_owned()];
        // A second job for the same part writes nothing, and must not drop what the first one has written.
        arguments.push("--open-mode=append".to_owned());
        arguments.extend(self.options.iter().cloned());
        arguments.extend((gpus > 0).then(|| format!("--gres=gpu:{gpus}")));
        arguments.push(format!("--nodelist={node}"));
        arguments.push(format!("--job-name={}", name(want)));
        arguments.push(format!("--comment={}", queue::comment(&self.store.name, want.run, part)));
        arguments.push(format!("--chdir={}", folder.path.display()));
        arguments.push(format!("--output={}", output.display()));
        arguments.push(batch.display().to_string());
        let answer = ask("sbatch", arguments.iter().map(String::as_str));
        // It may have come to be all the same: whether it has, the next look at the queue tells.
        self.submitted.insert((want.run, part.clone()), clock::now());
        answer.map(drop)
    }

    pub(super) fn seen(&self, folder: &Folder) -> io::Result<Seen> {
        let order = folder.order()?;
        let job = order.as_ref().map_or_else(|| UNKNOWN.to_owned(), |order| order.job.clone());
        let work = order.and_then(|order| order.work);
        let parts = work.as_ref().map(|work| self.parts(folder, work)).transpose()?.unwrap_or_default();
        let open = work.as_ref().map_or_else(|| folder.clone(), |work| self.open(folder, work));
        let want = work.map(|work| work.want);
        let kill_at = folder.kill_at()?;
        let ended = folder.ended()?;
        let told = ended.as_ref().is_some_and(|record| record.told);
        let (phase, since) = if let Some(record) = ended {
            (Phase::Ended(record.exit), record.at)
        } else {
            let begun = parts.iter().filter_map(|(of, _)| part::age(&open, &format!("claim-{}", of.name))).max();
            (phase(&parts, kill_at), clock::now().saturating_sub(begun.unwrap_or_default()))
        };
        let told_pods = folder.told_pods()?;
        let Held { pods, gone } = portion::held(&parts, told_pods.as_ref());
        Ok(Seen {
            job,
            stop_after_ms: want.as_ref().and_then(|want| want.stop_after_ms),
            pods: told_pods.as_ref().map_or_else(|| pods.clone(), |told| told.with(&pods)),
            told_pods,
            gone,
            since,
            log_bytes: log::bytes(&folder.path)?,
            checkpoint: open.checkpoint(),
            phase,
            told,
        })
    }
}

/// How far a run is that has not ended as a whole.
fn phase(parts: &[(Portion, Part)], kill_at: Option<u64>) -> Phase {
    let any = |is_so: fn(&Part) -> bool| parts.iter().any(|(_, part)| is_so(part));
    if any(Part::is_lost) {
        return Phase::Orphaned;
    }
    // What Slurm has not begun, or has forgotten before that, is still to be started.
    let first = |(of, part): &(Portion, Part)| of.is_first && of.leaves.is_none() && part.is_unclaimed();
    let is_to_start = kill_at.is_none() && parts.iter().any(first);
    let has_begun = any(Part::is_live) || any(|part| ended(part).is_some());
    if has_begun && !is_to_start { Phase::Running { kill_at } } else { Phase::Prepared }
}

fn ended(part: &Part) -> Option<&PartEnd> {
    match part {
        Part::Ended(end) => Some(end),
        Part::Absent | Part::Queued | Part::Refused(_) | Part::Buried | Part::Live | Part::Gone(_) => None,
    }
}

/// Has Slurm signal jobs of a run, or cancel them if nothing is said of how. Their name is said as well: Slurm may have given
/// the number of one to another job.
pub(super) fn signal<'a>(work: &Work, jobs: impl IntoIterator<Item = &'a SlurmJob>, how: &[&str]) {
    let name = match work.script.adopted {
        Some(_) => "--state=RUNNING".to_owned(),
        None => format!("--name={}", name(&work.want)),
    };
    for job in jobs.into_iter().filter(|job| job.is_live()) {
        // The batch script finds the order by itself, what is late is signalled again, and what has ended needs nothing.
        drop(ask("scancel", how.iter().copied().chain(["--quiet", &name, &job.id])));
    }
}

/// What a run is called in Slurm's queue.
fn name(want: &Want) -> String {
    format!("{}.{}", want.job, want.run)
}

/// Says how a run ended of which nothing had begun, and nothing will.
pub(super) fn record_instead(folder: &Folder, instead: &Instead) -> io::Result<()> {
    let exit = match instead {
        Instead::Unstarted => Exit::Unstarted,
        Instead::Start(reason) => Exit::Start(reason.clone()),
        Instead::Lost => Exit::Lost("it is not here, and may have ended before the restore".to_owned()),
    };
    folder.record(exit, false)
}
