//! Pods that join and leave a run that goes on.
use agent::exit::Exit;
use agent::message::Pod;
use agent::pods::Leaving;
use agent::pods::Place;
use agent::pods::Pods;
use agent::run::RunId;
use agent::seen::Phase;
use runner::clock;
use runner::verbs::Runner;

use crate::machine::Machine;
use crate::machine::run;

/// Says when it comes and goes, by the GPUs that it has.
const LINE: &str = "echo $RANK comes $CUDA_VISIBLE_DEVICES >> told; trap 'echo $RANK goes >> told; exit 0' TERM; \
                    while :; do sleep 0.02; done";

fn pod(rank: u32, gpu: u16) -> Pod {
    Pod { rank, node: "n1".to_owned(), gpus: vec![gpu] }
}

fn leaving(order: u64, gpus: &[u16], kill_at: u64) -> Leaving {
    let place = |gpu: &u16| Place { node: "n1".to_owned(), gpus: vec![*gpu] };
    Leaving { order: run(order), places: gpus.iter().map(place).collect(), kill_at }
}

fn change(machine: &mut Machine, run: RunId, pods: &[Pod], leave: Vec<Leaving>) {
    machine.local().change(run, &Pods { pods: pods.to_vec(), leave }).expect("it can be told");
}

fn until_told(machine: &mut Machine, run: RunId, line: &str) {
    machine.until(line, |machine| {
        std::fs::read_to_string(machine.file(run, "work/told")).is_ok_and(|told| told.lines().any(|told| told == line))
    });
}

fn until_gone(machine: &mut Machine, run: RunId, order: u64) {
    machine.until("they are gone", |machine| {
        machine.local().list().expect("it can be listed").runs[&run].gone == [crate::machine::run(order)]
    });
}

#[test]
fn a_pod_joins_and_leaves_while_the_others_go_on() {
    let mut machine = Machine::new("turnover");
    let run = machine.begin(1, &[0], LINE);
    until_told(&mut machine, run, "0 comes 0");
    change(&mut machine, run, &[pod(0, 0), pod(1, 1)], Vec::new());
    until_told(&mut machine, run, "1 comes 1");
    machine.until("it holds two", |machine| machine.gpu_files() == 2);
    let far = clock::now() + 60_000;
    change(&mut machine, run, &[pod(0, 0)], vec![leaving(5, &[1], far)]);
    until_told(&mut machine, run, "1 goes");
    until_gone(&mut machine, run, 5);
    assert_eq!(machine.gpu_files(), 1, "what has left holds nothing");
    let seen = machine.local().list().expect("it can be listed").runs[&run].clone();
    assert_eq!((seen.phase, seen.pods), (Phase::Running { kill_at: None }, vec![pod(0, 0)]));

    // The place is taken again, by a pod that starts anew.
    change(&mut machine, run, &[pod(0, 0), pod(7, 1)], vec![leaving(5, &[1], far)]);
    until_told(&mut machine, run, "7 comes 1");
    // And the first of them may leave too: the run is the others'.
    change(&mut machine, run, &[pod(7, 1)], vec![leaving(6, &[0], far)]);
    until_gone(&mut machine, run, 6);
    machine.stop(run, 60_000);
    assert_eq!((machine.exit(run), machine.was_told(run)), (Exit::Code(0), true));
    assert_eq!(machine.gpu_files(), 0);
    let told = std::fs::read_to_string(machine.file(run, "work/told")).expect("it is there");
    assert_eq!(told, "0 comes 0\n1 comes 1\n1 goes\n7 comes 1\n0 goes\n7 goes\n", "nothing starts or ends twice");
}

#[test]
fn a_pod_that_will_not_leave_is_killed_with_all_that_it_has_started() {
    let mut machine = Machine::new("stays");
    let line = "trap '' TERM; [ $RANK = 1 ] && (setsid sleep 100 &); touch ready-$RANK; while :; do sleep 0.02; done";
    let run = machine.begin_with(1, &[0], line, |want, _| want.pods.push(pod(1, 1)));
    machine.until_there(run, "work/ready-0");
    machine.until_there(run, "work/ready-1");
    let living = machine.living(run).len();
    assert!(living >= 3, "{living}");
    change(&mut machine, run, &[pod(0, 0)], vec![leaving(5, &[1], clock::now() + 200)]);
    until_gone(&mut machine, run, 5);
    assert_eq!(machine.gpu_files(), 1);
    // What remains is the first pod, and what it sleeps with.
    assert!(machine.living(run).len() <= 2, "{:?}", machine.living(run));
    assert_eq!(machine.phase(run), Some(Phase::Running { kill_at: None }));
    machine.stop(run, 0);
    machine.exit(run);
}

#[test]
fn a_run_goes_on_without_pods_until_it_is_told_to_stop() {
    let mut machine = Machine::new("empty");
    let run = machine.begin(1, &[0], LINE);
    until_told(&mut machine, run, "0 comes 0");
    change(&mut machine, run, &[], vec![leaving(5, &[0], clock::now() + 60_000)]);
    until_gone(&mut machine, run, 5);
    assert_eq!((machine.gpu_files(), machine.phase(run)), (0, Some(Phase::Running { kill_at: None })));
    let seen = machine.local().list().expect("it can be listed").runs[&run].clone();
    assert_eq!(seen.pods, [], "those that it began with have left");
    assert_eq!(seen.told_pods.expect("it was told").pods, []);
    change(&mut machine, run, &[pod(1, 3)], Vec::new());
    until_told(&mut machine, run, "1 comes 3");
    machine.stop(run, 60_000);
    assert_eq!((machine.exit(run), machine.was_told(run)), (Exit::Code(0), true));
}

#[test]
fn a_pod_waits_for_the_gpu_that_another_run_still_has() {
    let mut machine = Machine::new("waits");
    let other = machine.begin(2, &[1], LINE);
    until_told(&mut machine, other, "0 comes 1");
    let run = machine.begin(1, &[0], LINE);
    until_told(&mut machine, run, "0 comes 0");
    change(&mut machine, run, &[pod(0, 0), pod(1, 1)], Vec::new());
    machine.until("it is noted", |machine| machine.file(run, "held.json").exists());
    std::thread::sleep(std::time::Duration::from_millis(500));
    let told = std::fs::read_to_string(machine.file(run, "work/told")).expect("it is there");
    assert_eq!((told.as_str(), machine.gpu_files()), ("0 comes 0\n", 2), "the GPU is another run's");
    machine.stop(other, 60_000);
    until_told(&mut machine, run, "1 comes 1");
    machine.stop(run, 60_000);
    machine.exit(run);
}

#[test]
fn what_nobody_wants_there_leaves() {
    let mut machine = Machine::new("unwanted");
    let run = machine.begin(1, &[0], LINE);
    until_told(&mut machine, run, "0 comes 0");
    change(&mut machine, run, &[pod(0, 0), pod(1, 1)], Vec::new());
    until_told(&mut machine, run, "1 comes 1");
    // A restore to a time before it joined.
    change(&mut machine, run, &[pod(0, 0)], Vec::new());
    until_told(&mut machine, run, "1 goes");
    machine.until("it holds nothing", |machine| machine.gpu_files() == 1);
    assert_eq!(machine.phase(run), Some(Phase::Running { kill_at: None }));
    machine.stop(run, 0);
    machine.exit(run);
}
