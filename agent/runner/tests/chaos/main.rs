//! Real processes on this computer while agents and supervisors are killed at random: none starts twice, none ends
//! unreported, no GPU is held by two, and nothing is left.
//!
//! The agents, the runner, the supervisors and the jobs are real. The service is a stand-in, the model that the
//! simulation of the agent plays against, behind a socket that loses answers: the Worker's side has its own tests.
//!
//! `TIDEGATE_RUNS=n` runs another number, as `cargo xtask chaos local` does; `TIDEGATE_SEED=n` kills in another order.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
#[expect(dead_code, reason = "restores and machines without power are for the simulation")]
#[path = "../../../tests/simulation/authority.rs"]
mod authority;
#[path = "../../../tests/simulation/books.rs"]
mod books;
#[expect(dead_code, reason = "the simulation does these wrong; here nothing is")]
#[path = "../../../tests/simulation/flaw.rs"]
mod flaw;
mod link;
#[path = "../../../tests/simulation/random.rs"]
mod random;
#[path = "../../../tests/simulation/scale.rs"]
mod scale;
mod service;
mod work;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::time::Instant;

use runner::local::Local;
use runner::local::Settings;
use runner::serve;

use crate::authority::AGENTS;
use crate::authority::NODES;
use crate::link::Socket;
use crate::machine::GPUS;
use crate::random::Random;
use crate::service::Service;

/// What the model of the service takes from the simulation's machines.
mod machine {
    pub(crate) const GPUS: u16 = 4;
}

const RUNS: u64 = 40;
/// How long it may take, and how much longer for each run.
const PATIENCE: Duration = Duration::from_mins(1);
const PATIENCE_PER_RUN: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    if let Some(code) = runner::supervise::run_if_asked() {
        return ExitCode::from(code);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["work", folder] => ExitCode::from(work::run(Path::new(folder))),
        ["agent", number, folder] => serve_agent(number.parse().unwrap(), Path::new(folder)),
        _ => {
            chaos();
            ExitCode::SUCCESS
        }
    }
}

fn state(folder: &Path, agent: usize) -> PathBuf {
    folder.join(format!("state-{agent}"))
}

/// An agent as `tidegate agent run` is one. The second one uses control groups, where there are any.
fn serve_agent(agent: usize, folder: &Path) -> ExitCode {
    let mine = NODES.iter().filter(|(_, of)| *of == agent);
    let settings = Settings {
        state: state(folder, agent),
        nodes: mine.map(|(node, _)| ((*node).to_owned(), GPUS)).collect(),
        program: PathBuf::from("/proc/self/exe"),
        part_bytes: 1 << 16,
        cgroups: agent == 1,
    };
    let program = std::env::current_exe().unwrap().display().to_string();
    let command = vec![program, "work".to_owned(), folder.display().to_string()];
    let mut link = Socket { path: folder.join("service"), agent, command };
    match Local::open(settings) {
        Ok(mut local) => {
            let end = serve::serve(&mut link, &mut local, &AtomicBool::new(false));
            eprintln!("agent {agent} ends: {end:?}");
        }
        Err(error) => eprintln!("agent {agent} does not begin: {error}"),
    }
    ExitCode::FAILURE
}

/// What was killed.
#[derive(Default)]
struct Killed {
    agents: u64,
    supervisors: u64,
}

/// The agents' processes, which do not outlive the test.
struct Agents(Vec<Child>);

impl Drop for Agents {
    fn drop(&mut self) {
        for agent in &mut self.0 {
            drop(agent.kill());
            drop(agent.wait());
        }
    }
}

fn chaos() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (n_runs, seed) = (number("TIDEGATE_RUNS").unwrap_or(RUNS), number("TIDEGATE_SEED").unwrap_or_default());
    let folder = std::env::temp_dir().join(format!("tidegate-chaos-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    let begin = Instant::now();
    let service = Service::begin(&folder.join("service"), seed);
    let mut agents = Agents((0..AGENTS).map(|agent| start_agent(&folder, agent)).collect());
    let mut random = Random::new(seed);
    let mut killed = Killed::default();
    let patience = PATIENCE + PATIENCE_PER_RUN * u32::try_from(n_runs).unwrap();
    // Pods join and leave between two kills; on a slow computer that may take more runs than were asked for.
    while service.n_ended() < n_runs || !service.has_turnover() {
        let (n_ended, (joined, left)) = (service.n_ended(), service.turnover());
        assert!(begin.elapsed() < patience, "{n_ended} of {n_runs} runs have ended, {joined} pods joined, {left} left");
        std::thread::sleep(Duration::from_millis(20 + random.below(60)));
        service.go_on(&mut random);
        revive(&mut agents.0, &folder);
        if random.per_mille(400) {
            let at = usize::try_from(random.below(AGENTS as u64)).unwrap();
            agents.0[at].kill().unwrap();
            killed.agents += 1;
        }
        if random.per_mille(120) {
            killed.supervisors += u64::from(kill_a_supervisor(&folder, &mut random));
        }
    }
    let end = Instant::now();
    while let Some(left) = service.left_over().or_else(|| left_over(&folder)) {
        assert!(end.elapsed() < PATIENCE, "there are still {left}");
        service.stop_everything();
        std::thread::sleep(Duration::from_millis(50));
        revive(&mut agents.0, &folder);
    }
    drop(agents);
    let told = check(&folder, &service);
    let Killed { agents, supervisors } = killed;
    println!("{told}; {agents} kills of agents, {supervisors} of supervisors, in {:?}", begin.elapsed());
    std::fs::remove_dir_all(folder).unwrap();
}

fn start_agent(folder: &Path, agent: usize) -> Child {
    let program = std::env::current_exe().unwrap();
    Command::new(program).arg("agent").arg(agent.to_string()).arg(folder).spawn().unwrap()
}

fn revive(agents: &mut [Child], folder: &Path) {
    for (at, agent) in agents.iter_mut().enumerate() {
        if agent.try_wait().unwrap().is_some() {
            *agent = start_agent(folder, at);
        }
    }
}

/// Processes of this test, with their command lines.
fn processes(folder: &Path) -> Vec<(i32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let lines = pids.filter_map(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    let folder = folder.display().to_string();
    lines.filter(|(_, line)| line.contains(&folder)).collect()
}

fn kill_a_supervisor(folder: &Path, random: &mut Random) -> bool {
    let mut found = processes(folder);
    found.retain(|(_, line)| line.contains(" supervise "));
    if found.is_empty() {
        return false;
    }
    let at = usize::try_from(random.below(found.len() as u64)).unwrap();
    let pid = rustix::process::Pid::from_raw(found[at].0).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok()
}

/// What is left of runs on this computer.
fn left_over(folder: &Path) -> Option<String> {
    let count = |path: PathBuf| std::fs::read_dir(path).map(Iterator::count).unwrap_or_default();
    let of_agents = |name: &str| (0..AGENTS).map(|agent| count(state(folder, agent).join(name))).sum::<usize>();
    let (n_folders, n_files) = (of_agents("runs"), of_agents("gpus"));
    let n_jobs = (0..AGENTS).map(|agent| n_marked(&state(folder, agent))).sum::<usize>();
    let is_empty = n_folders + n_files + n_jobs == 0;
    (!is_empty).then(|| format!("{n_folders} folders, {n_files} files of GPUs, {n_jobs} processes of jobs"))
}

/// Processes that have the name of a store in their environment.
fn n_marked(state: &Path) -> usize {
    let Ok(store) = std::fs::read_to_string(state.join("store")) else { return 0 };
    let wanted = format!("TIDEGATE_STORE={store}");
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let environments = entries.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|text| text.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())).count()
}

/// Counts what the jobs wrote down themselves.
fn check(folder: &Path, service: &Service) -> String {
    let notes = std::fs::read_to_string(folder.join("notes")).unwrap();
    let mut starts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut runs: BTreeSet<&str> = BTreeSet::new();
    for line in notes.lines() {
        assert!(!line.starts_with("double "), "a GPU was held by two runs: {line}");
        if let Some(pod) = line.strip_prefix("start ") {
            *starts.entry(pod).or_default() += 1;
            runs.extend(pod.split(' ').next());
        }
    }
    let twice: Vec<_> = starts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "started twice: {twice:?}");
    let reported = service.reported();
    let unreported: Vec<_> = runs.iter().filter(|run| !reported.contains(**run)).collect();
    assert!(unreported.is_empty(), "never reported: {unreported:?}");
    assert!(runs.len() as u64 > service.n_ended() / 3, "hardly anything was started");
    let (joined, left) = service.turnover();
    let n_started = starts.len();
    let n_runs = runs.len();
    format!(
        "{} runs ended, {n_runs} of them had started {n_started} pods; {joined} pods joined, {left} left",
        reported.len()
    )
}
