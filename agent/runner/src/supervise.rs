//! The process that watches over one run.
//!
//! It claims before it starts, ends everything of the run before it gives the GPUs back, and gives them back before it
//! records the end. So where there is no record something may live, and where there is one nothing does.
//! Killed at any moment, it leaves what the agent needs to clear up after it.

use std::io;
use std::path::Path;

use agent::exit::Exit;
use agent::exit::shorten;
use agent::run::RunId;

use crate::cgroup::Cgroup;
use crate::clock;
use crate::folder::Claim;
use crate::folder::Folder;
use crate::folder::Order;
use crate::folder::Work;
use crate::gpus::Gpus;
use crate::pod;
use crate::processes::Mark;
use crate::store;
use crate::watch::Ground;
use crate::watch::Watch;

/// The first argument by which the program knows that it is to supervise.
pub const SUBCOMMAND: &str = "supervise";

/// How often what is left of a run is killed before that is noted as something that cannot be done.
const KILLS_MAX: u32 = 600;

/// What the program that the agent belongs to does first: if its arguments are those of a supervisor or of a pod to be,
/// it is one, and this says with what code it ends.
#[must_use]
pub fn run_if_asked() -> Option<u8> {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == pod::SUBCOMMAND => u8::try_from(pod::r#become(rest)).ok().or(Some(1)),
        Some((first, rest)) if first == SUBCOMMAND => Some(match rest {
            [state, run] => match run.to_str().and_then(RunId::parse).map(|run| supervise(Path::new(state), run)) {
                Some(Ok(())) => 0,
                Some(Err(_)) | None => 1,
            },
            _ => 2,
        }),
        Some(_) | None => None,
    }
}

/// Watches over a run from its claim to its end; does nothing if somebody else does or has done.
fn supervise(state: &Path, run: RunId) -> io::Result<()> {
    let folder = Folder::of(state, run);
    let Some(lock) = folder.lock()? else { return Ok(()) };
    let Some(order) = folder.order()? else { return Ok(()) };
    let (Some(work), false) = (&order.work, folder.is_claimed()) else { return Ok(()) };
    let gpus = Gpus::of(state);
    if gpus.take(run, &work.want.pods)?.is_err() {
        // What holds it is about to end, or to be cleared up; the agent tries again.
        return Ok(());
    }
    let cgroup = order.cgroups.then(|| Cgroup::make(&order.store, run)).flatten();
    let path = cgroup.as_ref().map(|group| group.path().display().to_string());
    let is_claimed = folder.reserve().and_then(|()| folder.claim(&Claim { at: clock::now(), cgroup: path }));
    if !is_claimed.as_ref().is_ok_and(|is_first| *is_first) {
        cgroup.iter().for_each(Cgroup::remove);
        gpus.release(run)?;
        return is_claimed.map(|_| ());
    }
    let result = watch(state, &folder, &order, work, cgroup.as_ref());
    let ancestor = i32::try_from(std::process::id()).ok();
    let mark = Mark { run: run.to_string(), store: &order.store, cgroup, ancestor, pod: None };
    let mut end = match result {
        Ok((exit, mut left)) => {
            let is_clear = mark.kill(KILLS_MAX, || left.reap());
            left.drain();
            is_clear.then_some((exit, left.is_told()))
        }
        Err(error) => mark.kill(KILLS_MAX, || {}).then(|| (Exit::Start(shorten(&error.to_string())), false)),
    };
    // What cannot be killed keeps its GPUs; the agent goes on trying.
    if let Some((exit, told)) = end.take() {
        gpus.release(run)?;
        folder.record(exit, told)?;
    }
    drop(lock);
    store::ring(&state.join("changed"));
    Ok(())
}

/// Starts the pods and waits for their end; the rest of them may still live then.
fn watch(
    state: &Path,
    folder: &Folder,
    order: &Order,
    work: &Work,
    cgroup: Option<&Cgroup>,
) -> io::Result<(Exit, Watch)> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let ground = Ground { state, folder, order, work, cgroup };
    let mut watch = Watch::new(&ground)?;
    let started = watch.start(&ground);
    store::ring(&state.join("changed"));
    let exit = match started {
        Ok(()) => watch.wait(&ground),
        Err(exit) => exit,
    };
    Ok((exit, watch))
}
