//! Runs on this computer: real processes, each test in a state directory of its own.
mod machine;
mod pods;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use std::time::Instant;

use agent::exit::Exit;
use agent::message::Pod;
use agent::script::Signal;
use agent::seen::Phase;
use runner::clock;
use runner::leave;
use runner::local::Local;
use runner::verbs::Runner;

use crate::machine::Machine;
use crate::machine::kill;
use crate::machine::run;

/// SIGKILL.
const KILLED: i32 = 9;
/// SIGTERM.
const TERMINATED: i32 = 15;

#[test]
fn a_run_is_told_who_it_is_and_its_end_is_kept() {
    let mut machine = Machine::new("told");
    let line = "echo $TIDEGATE_JOB $TIDEGATE_RUN $CUDA_VISIBLE_DEVICES $RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR:$MASTER_PORT; exit 3";
    let run = machine.begin(7, &[2, 5], line);
    assert_eq!(machine.exit(run), Exit::Code(3));
    assert_eq!(machine.log(run), "job-7 0-7 2,5 0/1 0 localhost:29500\n");
    assert_eq!(machine.gpu_files(), 0);
    machine.reopen();
    assert_eq!((machine.exit(run), machine.was_told(run)), (Exit::Code(3), false));
    // Its supervisor may not have gone yet.
    machine.until("it is forgotten", |machine| {
        machine.local().forget(run).unwrap();
        machine.phase(run).is_none()
    });
}

#[test]
fn each_pod_has_its_rank_and_the_first_that_fails_ends_all() {
    let mut machine = Machine::new("pods");
    let line = "echo $RANK $LOCAL_RANK $CUDA_VISIBLE_DEVICES; [ $RANK = 1 ] && sleep 0.2 && exit 4; sleep 100";
    let run = machine.begin_with(1, &[0], line, |want, _| {
        want.pods.push(Pod { rank: 1, node: "n1".to_owned(), gpus: vec![1] });
        want.world = 2;
    });
    assert_eq!(machine.exit(run), Exit::Code(4));
    let mut lines: Vec<String> = machine.log(run).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["[0] 0 0 0", "[1] 1 1 1"], "each line says which pod has printed it");
    assert!(machine.living(run).is_empty());
}

#[test]
fn who_ignores_the_signal_is_killed_at_the_deadline() {
    let mut machine = Machine::new("ignores");
    let run = machine.begin(1, &[0], "trap '' TERM; touch ready; while :; do sleep 0.05; done");
    machine.until_there(run, "work/ready");
    let begin = Instant::now();
    machine.stop(run, 400);
    assert_eq!(machine.exit(run), Exit::Signal(KILLED));
    assert!(begin.elapsed() >= Duration::from_millis(390), "{:?}", begin.elapsed());
}

#[test]
fn who_hears_the_signal_ends_at_once() {
    let mut machine = Machine::new("hears");
    let run = machine.begin(1, &[0], "sleep 100");
    machine.until_running(run);
    machine.until("it sleeps", |machine| !machine.living(run).is_empty());
    machine.stop(run, 60_000);
    assert_eq!(machine.exit(run), Exit::Signal(TERMINATED));
}

#[test]
fn a_checkpoint_comes_before_the_end() {
    let mut machine = Machine::new("checkpoint");
    let line = "trap 'echo saved > $TIDEGATE_CHECKPOINT; echo saved' USR1; trap 'echo end; exit 0' TERM; touch ready; while :; do sleep 0.02; done";
    let run = machine.begin_with(1, &[0], line, |_, script| script.checkpoint = Some(Signal::Usr1));
    machine.until_there(run, "work/ready");
    let begin = Instant::now();
    machine.stop(run, 60_000);
    assert_eq!((machine.exit(run), machine.was_told(run)), (Exit::Code(0), true));
    assert!(begin.elapsed() < Duration::from_secs(15), "it did not wait for half of the time");
    let log = machine.log(run);
    assert!(log.starts_with("saved\n") && log.ends_with("end\n"), "{log}");
    assert!(machine.local().list().unwrap().runs[&run].checkpoint.is_some());
}

#[test]
fn who_leaves_ends_everything_and_waits_for_it() {
    let mut machine = Machine::new("leaves");
    let line = "trap 'echo saved > $TIDEGATE_CHECKPOINT; echo saved' USR1; trap 'sleep 0.3; echo end; exit 0' TERM; touch ready; while :; do sleep 0.02; done";
    let saves = machine.begin_with(1, &[0], line, |_, script| script.checkpoint = Some(Signal::Usr1));
    let sleeps = machine.begin(2, &[1], "touch ready; sleep 100");
    let orphan = machine.begin(3, &[2], "touch ready; sleep 100");
    for run in [saves, sleeps, orphan] {
        machine.until_there(run, "work/ready");
    }
    kill(machine.supervisor(orphan));
    assert_eq!(leave::leave(machine.local()).unwrap(), 0);
    let listing = machine.local().list().unwrap();
    let phases: Vec<&Phase> = listing.runs.values().map(|seen| &seen.phase).collect();
    let lost = Phase::Ended(Exit::Lost("its supervisor ended before it did".to_owned()));
    assert_eq!(phases, [&Phase::Ended(Exit::Code(0)), &Phase::Ended(Exit::Signal(TERMINATED)), &lost]);
    assert!(listing.runs[&saves].told && listing.runs[&sleeps].told, "the service is told that nobody failed");
    let log = machine.log(saves);
    assert!(log.starts_with("saved\n") && log.ends_with("end\n"), "{log}");
    assert_eq!(machine.gpu_files(), 0);
    machine.local().start(saves).unwrap();
    assert_eq!(leave::leave(machine.local()).unwrap(), 0);
}

fn nobody_who_forks_away_stays(name: &str, cgroups: bool) {
    let mut machine = Machine::with(name, |settings| settings.cgroups = cgroups);
    let run = machine.begin(1, &[0], "(setsid sh -c 'trap \"\" TERM HUP; touch ready; sleep 100; sleep 100' &) ; while [ ! -e ready ]; do sleep 0.01; done");
    assert_eq!(machine.exit(run), Exit::Code(0));
    assert_eq!(machine.living(run), Vec::<i32>::new());
    assert_eq!(machine.gpu_files(), 0);
}

#[test]
fn who_forks_away_ends_with_the_run() {
    nobody_who_forks_away_stays("away", false);
}

#[test]
fn who_forks_away_ends_with_the_run_in_a_control_group_where_there_is_one() {
    nobody_who_forks_away_stays("group", true);
}

/// How long a process of this test sleeps: no other one does so.
fn long_sleep(test: u32) -> u32 {
    100_000_000 + 10 * std::process::id() + test
}

fn somebody_sleeps(seconds: u32) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let mut entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries.any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
}

#[test]
fn who_forks_away_and_forgets_its_environment_ends_with_the_run() {
    let mut machine = Machine::new("forgets");
    let long = long_sleep(1);
    let line = format!("(env -i setsid sleep {long} &) ; sleep 0.3; touch ready; sleep 0.3");
    let run = machine.begin(1, &[0], &line);
    machine.until_there(run, "work/ready");
    assert!(somebody_sleeps(long));
    assert_eq!(machine.exit(run), Exit::Code(0));
    assert!(!somebody_sleeps(long));
}

#[test]
fn a_control_group_finds_who_is_found_in_no_other_way() {
    let mut machine = Machine::with("found", |settings| settings.cgroups = true);
    let long = long_sleep(2);
    let line = format!("(env -i setsid sleep {long} &) ; sleep 0.3; touch ready; sleep 100");
    let run = machine.begin(1, &[0], &line);
    machine.until_there(run, "work/ready");
    assert!(somebody_sleeps(long));
    let has_group = !std::fs::read_to_string(machine.file(run, "claim")).unwrap().contains("null");
    if has_group {
        kill(machine.supervisor(run));
    } else {
        println!("this computer has no control groups that we may write: the supervisor has to live");
    }
    machine.until("it has ended", |machine| {
        machine.stop(run, 0);
        matches!(machine.phase(run), Some(Phase::Ended(_)))
    });
    assert!(!somebody_sleeps(long));
}

#[test]
fn who_prints_much_fills_no_disk() {
    let mut machine = Machine::with("prints", |settings| settings.part_bytes = 64 << 10);
    let run = machine.begin(1, &[0], "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last");
    assert_eq!(machine.exit(run), Exit::Code(0));
    let seen = machine.local().list().unwrap().runs[&run].clone();
    assert_eq!(seen.log_bytes, 50_000_012);
    let folder = std::fs::read_dir(machine.file(run, "")).unwrap();
    let kept: u64 = folder.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(kept < 250_000, "{kept} bytes are kept");
    assert!(machine.log(run).starts_with("first\nxx"));
    let end = machine.local().log(run, 50_000_000, 1_000).unwrap();
    assert!(end.bytes.ends_with(b"xx\nlast\n") && end.end == 50_000_012);
}

#[test]
fn a_command_that_cannot_be_executed_is_the_jobs_fault() {
    let mut machine = Machine::new("missing");
    let run = machine.begin_with(1, &[0], "", |_, script| script.command = vec!["/no/such/program".to_owned()]);
    let Exit::Command(reason) = machine.exit(run) else { panic!("{:?}", machine.phase(run)) };
    assert!(reason.starts_with("/no/such/program: No such file"), "{reason}");
    let run = machine.begin_with(2, &[0], "true", |_, script| script.directory = Some("/no/such/folder".to_owned()));
    assert!(matches!(machine.exit(run), Exit::Command(_)), "{:?}", machine.phase(run));
    let run = machine.begin_with(3, &[0], "true", |_, script| script.command.clear());
    assert!(matches!(machine.exit(run), Exit::Command(_)), "{:?}", machine.phase(run));
}

#[test]
fn a_tombstone_beats_a_late_start() {
    let mut machine = Machine::new("tombstone");
    machine.stop(run(1), 0);
    assert_eq!(machine.exit(run(1)), Exit::Unstarted);
    let run = machine.begin(1, &[0], "touch ran");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(machine.exit(run), Exit::Unstarted);
    assert!(!machine.file(run, "work/ran").exists());
}

#[test]
fn of_many_supervisors_one_starts_the_run() {
    let mut machine = Machine::new("many");
    let run = machine.begin(1, &[0], "echo started; sleep 0.3");
    let state = machine.settings.state.canonicalize().unwrap();
    let more = (0..10).map(|_| {
        let mut command = std::process::Command::new(&machine.settings.program);
        command.arg("supervise").arg(&state).arg(run.to_string()).spawn().unwrap()
    });
    let more: Vec<std::process::Child> = more.collect();
    assert_eq!(machine.exit(run), Exit::Code(0));
    for mut child in more {
        assert!(child.wait().is_ok());
    }
    assert_eq!(machine.log(run), "started\n");
    machine.supervise_late(run);
    assert_eq!(machine.log(run), "started\n");
}

#[test]
fn a_run_that_waits_for_its_gpu_is_not_started_after_it_was_stopped() {
    let mut machine = Machine::new("late");
    let first = machine.begin(1, &[0], "sleep 100");
    machine.until_running(first);
    let second = machine.begin(2, &[0], "touch ran");
    machine.stop(second, 0);
    assert_eq!(machine.exit(second), Exit::Unstarted);
    machine.stop(first, 0);
    machine.exit(first);
    machine.supervise_late(second);
    assert_eq!(machine.exit(second), Exit::Unstarted);
    assert!(!machine.file(second, "work/ran").exists());
}

#[test]
fn a_pod_ends_with_its_supervisor_though_nobody_clears_up() {
    let mut machine = Machine::new("together");
    let run = machine.begin_with(1, &[0], "", |_, script| script.command = vec!["sleep".to_owned(), "100".to_owned()]);
    let supervisor = machine.supervisor(run);
    kill(supervisor);
    machine.until("it is gone", |machine| machine.living(run).is_empty());
}

#[test]
fn a_state_directory_has_one_agent_and_is_for_nobody_else() {
    let machine = Machine::new("lock");
    let error = Local::open(machine.settings.clone()).err().unwrap();
    assert!(error.to_string().starts_with("another agent uses"), "{error}");
    let mode = std::fs::metadata(&machine.settings.state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_run_whose_supervisor_was_killed_is_cleared_and_lost() {
    let mut machine = Machine::new("orphan");
    let run = machine.begin(1, &[3], "setsid sleep 100 & sleep 100");
    machine.until("both live", |machine| machine.living(run).len() >= 2);
    let supervisor = machine.supervisor(run);
    kill(supervisor);
    machine.until("it is an orphan", |machine| machine.phase(run) == Some(Phase::Orphaned));
    assert_eq!(machine.gpu_files(), 1);
    machine.reopen();
    machine.until("it is cleared", |machine| {
        machine.stop(run, 0);
        matches!(machine.phase(run), Some(Phase::Ended(Exit::Lost(_))))
    });
    assert!(machine.living(run).is_empty());
    assert_eq!(machine.gpu_files(), 0);
}

#[test]
fn a_gpu_that_is_held_is_waited_for() {
    let mut machine = Machine::new("held");
    let first = machine.begin(1, &[0, 1], "sleep 100");
    machine.until_running(first);
    let second = machine.begin(2, &[2, 1], "true");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(machine.phase(second), Some(Phase::Prepared));
    assert_eq!(machine.gpu_files(), 2);
    machine.stop(first, 0);
    machine.exit(first);
    machine.local().start(second).unwrap();
    assert_eq!(machine.exit(second), Exit::Code(0));
}

#[test]
fn a_machine_that_cannot_begin_a_run_says_so() {
    let mut machine = Machine::new("cannot");
    let first = machine.begin(1, &[0], "sleep 100");
    machine.until_running(first);
    let second = machine.begin(2, &[0], "true");
    machine.until("it has tried", |machine| {
        machine.local().start(second).unwrap();
        matches!(machine.phase(second), Some(Phase::Ended(Exit::Start(_))))
    });
    machine.stop(first, 0);
    machine.exit(first);
}

#[test]
fn a_run_does_not_begin_on_a_gpu_that_is_gone() {
    let mut machine = Machine::with("gone", |settings| settings.nodes = vec![("n1".to_owned(), 6)]);
    let run = machine.begin(1, &[5, 6], "true");
    let reason = "n1 has 6 GPUs, and the run was given the one with number 6";
    assert_eq!(machine.exit(run), Exit::Start(reason.to_owned()));
    assert_eq!(machine.gpu_files(), 0);
    let fits = machine.begin(2, &[4, 5], "true");
    assert_eq!(machine.exit(fits), Exit::Code(0));
}

#[test]
fn a_run_ends_for_silence_though_its_agent_is_dead() {
    let mut machine = Machine::new("silence");
    machine.local().keep_heard(clock::now()).unwrap();
    let run = machine.begin_with(1, &[0], "sleep 100", |want, _| want.stop_after_ms = Some(700));
    machine.until_running(run);
    machine.reopen();
    let begin = Instant::now();
    machine.local().keep_heard(clock::now()).unwrap();
    assert_eq!((machine.exit(run), machine.was_told(run)), (Exit::Signal(TERMINATED), true));
    assert!(begin.elapsed() >= Duration::from_millis(690), "it was heard again: {:?}", begin.elapsed());
}

#[test]
fn processes_of_a_run_without_a_folder_are_found_and_ended() {
    let mut machine = Machine::new("unknown");
    let run = machine.begin(1, &[0], "sleep 100");
    let supervisor = machine.supervisor(run);
    let folder = machine.file(run, "");
    std::fs::rename(folder, machine.settings.state.join("moved")).unwrap();
    assert!(supervisor > 0);
    machine.reopen();
    assert_eq!(machine.phase(run), Some(Phase::Orphaned));
    machine.stop(run, 0);
    machine.until("it is gone", |machine| machine.phase(run).is_none());
    assert!(machine.living(run).is_empty());
}

#[test]
fn folders_that_cannot_be_read_hold_nobody_up() {
    let mut machine = Machine::new("damaged");
    let first = machine.begin(1, &[0], "true");
    machine.exit(first);
    std::fs::write(machine.file(first, "exit.json"), "{").unwrap();
    std::fs::write(machine.file(first, "run.json"), "").unwrap();
    // Its lock may be held for a moment longer: by its supervisor, and by processes that other tests are just starting.
    // So each verb is repeated, as the agent does.
    machine.until("nobody watches over it", |machine| machine.phase(first) == Some(Phase::Orphaned));
    machine.until("it has ended", |machine| {
        machine.stop(first, 0);
        matches!(machine.phase(first), Some(Phase::Ended(_)))
    });
    assert!(matches!(machine.exit(first), Exit::Lost(_)));
    machine.until("it is forgotten", |machine| {
        machine.local().forget(first).unwrap();
        machine.phase(first).is_none()
    });
}

#[test]
fn a_supervisor_of_a_silent_job_sleeps() {
    let mut machine = Machine::new("sleeps");
    let run = machine.begin(1, &[0], "exec >/dev/null 2>&1; touch ready; sleep 100");
    machine.until_there(run, "work/ready");
    let supervisor = machine.supervisor(run);
    let ticks = || {
        let text = std::fs::read_to_string(format!("/proc/{supervisor}/stat")).unwrap();
        let words: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        words[11].parse::<u64>().unwrap() + words[12].parse::<u64>().unwrap()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_millis(600));
    assert!(ticks() - before < 10, "{} hundredths of a second", ticks() - before);
    machine.stop(run, 0);
    machine.exit(run);
}
