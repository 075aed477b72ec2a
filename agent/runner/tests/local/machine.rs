//! A state directory of its own for each test, and short words for what tests do to runs.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use agent::act::Instead;
use agent::act::Stop;
use agent::exit::Exit;
use agent::message::FORMAT;
use agent::message::Pod;
use agent::message::Want;
use agent::run::RunId;
use agent::script::Script;
use agent::seen::Phase;
use runner::clock;
use runner::local::Local;
use runner::local::Settings;
use runner::verbs::Runner;

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Machine {
    pub(crate) settings: Settings,
    local: Option<Local>,
}

impl Machine {
    pub(crate) fn new(name: &str) -> Self {
        Self::with(name, |_| {})
    }

    pub(crate) fn with(name: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let state = std::env::temp_dir().join(format!("tidegate-local-{}-{name}", std::process::id()));
        drop(std::fs::remove_dir_all(&state));
        let mut settings = Settings {
            state,
            nodes: vec![("n1".to_owned(), 8)],
            program: PathBuf::from(env!("CARGO_BIN_EXE_tidegate-runner")),
            part_bytes: 1 << 20,
            cgroups: false,
        };
        change(&mut settings);
        Self { local: Some(Local::open(settings.clone()).unwrap()), settings }
    }

    /// The agent ends, and comes back.
    pub(crate) fn reopen(&mut self) {
        // The lock of the old one has to go first.
        self.local = None;
        self.local = Some(Local::open(self.settings.clone()).unwrap());
    }

    pub(crate) fn local(&mut self) -> &mut Local {
        self.local.as_mut().unwrap()
    }

    pub(crate) fn file(&self, run: RunId, name: &str) -> PathBuf {
        self.settings.state.join("runs").join(run.to_string()).join(name)
    }

    /// Prepares a run of a shell command and starts it.
    pub(crate) fn begin(&mut self, number: u64, gpus: &[u16], line: &str) -> RunId {
        self.begin_with(number, gpus, line, |_, _| {})
    }

    pub(crate) fn begin_with(
        &mut self,
        number: u64,
        gpus: &[u16],
        line: &str,
        change: impl FnOnce(&mut Want, &mut Script),
    ) -> RunId {
        let run = run(number);
        let mut want = Want {
            run,
            job: format!("job-{number}"),
            pods: vec![Pod { rank: 0, node: "n1".to_owned(), gpus: gpus.to_vec() }],
            world: 1,
            leader: "localhost".to_owned(),
            port: 29_500,
            script: "digest".to_owned(),
            stop_after_ms: None,
        };
        let mut script = Script {
            format: FORMAT,
            command: ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
            directory: None,
            environment: BTreeMap::new(),
            checkpoint: None,
            adopted: None,
        };
        change(&mut want, &mut script);
        self.local().prepare(&want, &script).unwrap();
        self.local().start(run).unwrap();
        run
    }

    /// Another supervisor of a run, to its end: one that comes late.
    pub(crate) fn supervise_late(&self, run: RunId) {
        let state = self.settings.state.canonicalize().unwrap();
        let mut command = std::process::Command::new(&self.settings.program);
        let status = command.arg("supervise").arg(&state).arg(run.to_string()).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn phase(&mut self, run: RunId) -> Option<Phase> {
        self.local().list().unwrap().runs.get(&run).map(|seen| seen.phase.clone())
    }

    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn until_running(&mut self, run: RunId) {
        self.until("it runs", |machine| matches!(machine.phase(run), Some(Phase::Running { .. })));
    }

    pub(crate) fn until_there(&mut self, run: RunId, name: &str) {
        self.until(name, |machine| machine.file(run, name).exists());
    }

    pub(crate) fn exit(&mut self, run: RunId) -> Exit {
        self.until("it has ended", |machine| matches!(machine.phase(run), Some(Phase::Ended(_))));
        match self.phase(run) {
            Some(Phase::Ended(exit)) => exit,
            other => panic!("{other:?}"),
        }
    }

    /// Whether the run had been told to stop before it ended.
    pub(crate) fn was_told(&mut self, run: RunId) -> bool {
        self.exit(run);
        self.local().list().unwrap().runs[&run].told
    }

    pub(crate) fn stop(&mut self, run: RunId, within: u64) {
        let stop = Stop { job: "job".to_owned(), kill_at: clock::now() + within, instead: Instead::Unstarted };
        self.local().stop(run, &stop).unwrap();
    }

    pub(crate) fn log(&mut self, run: RunId) -> String {
        String::from_utf8(self.local().log(run, 0, 1 << 20).unwrap().bytes).unwrap()
    }

    /// The processes of a run, by what stands in their environment.
    pub(crate) fn living(&self, run: RunId) -> Vec<i32> {
        let wanted = format!("TIDEGATE_RUN={run}");
        let store = format!("TIDEGATE_STORE={}", self.local.as_ref().unwrap().store());
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| {
            let text = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let entries: Vec<&[u8]> = text.split(|byte| *byte == 0).collect();
            entries.contains(&wanted.as_bytes()) && entries.contains(&store.as_bytes())
        })
        .collect()
    }

    /// The supervisor, as the parent of the first process.
    pub(crate) fn supervisor(&mut self, run: RunId) -> i32 {
        self.until("it has processes", |machine| !machine.living(run).is_empty());
        let line = format!("supervise {} {run}", self.settings.state.canonicalize().unwrap().display());
        let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        pids.find(|pid| {
            let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&text).replace('\0', " ").contains(&line)
        })
        .unwrap()
    }

    pub(crate) fn gpu_files(&self) -> usize {
        std::fs::read_dir(self.settings.state.join("gpus")).unwrap().count()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.settings.state));
    }
}

pub(crate) fn run(number: u64) -> RunId {
    RunId::parse(&format!("0-{number}")).unwrap()
}

pub(crate) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
