//! How many unfinished jobs there may be, whichever way they come, and that somebody who has too many stops nobody else.

use engine::job::spec::JobSpec;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::fault::Failure;
use protocol::limits::Limits;
use protocol::profile::Profile;
use protocol::publish;
use serde_json::Value;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded_on;
use crate::random::Random;
use crate::world::envelope;
use crate::world::name;
use crate::world::sender;

fn few(jobs_of_user: u64, jobs_of_workspace: u64, jobs_of_cluster: u64) -> Profile {
    Profile {
        limits: Limits { jobs_of_user, jobs_of_workspace, jobs_of_cluster, ..Limits::USUAL },
        ..Profile::default()
    }
}

/// A cluster with two workspaces, in each of which Ann and Bob are developers.
fn shared(profile: Profile) -> Cluster<Disk> {
    let mut cluster = founded_on(&Disk::default(), profile);
    for workspace in ["lab", "shop"] {
        let commands = [
            json!({ "put_workspace": { "workspace": workspace } }),
            json!({ "attach_quota": { "workspace": workspace, "quota": "a" } }),
            json!({ "put_member": { "workspace": workspace, "user": "ann", "roles": ["developer"] } }),
            json!({ "put_member": { "workspace": workspace, "user": "bob", "roles": ["developer"] } }),
        ];
        for (at, command) in commands.iter().enumerate() {
            let envelope = envelope(&format!("{workspace}-{at}"), command);
            cluster.submit(&envelope, &sender(), START).expect("it is accepted");
        }
    }
    cluster
}

fn user(name: &str) -> Sender {
    Sender { user: UserId::new(name).expect("a good name"), administers: false }
}

fn job(name: &str, workspace: &str) -> Value {
    json!({ "job": name, "quota": "a", "workspace": workspace, "pods": [{ "amount": { "gpu": 1000 } }] })
}

fn submission(name: &str, workspace: &str) -> Envelope {
    envelope(&format!("submit-{name}"), &json!({ "submit_job": job(name, workspace) }))
}

/// What is said to a command.
fn told(cluster: &mut Cluster<Disk>, who: &Sender, envelope: &Envelope) -> Result<(), String> {
    match cluster.submit(envelope, who, START) {
        Ok(_) => Ok(()),
        Err(Failure::Refused(rejection @ Rejection::Limit { .. })) => Err(rejection.to_string()),
        Err(failure) => panic!("{failure}"),
    }
}

const ADVICE: &str = "(wait until some have ended, or cancel some; large ones count more)";

#[test]
fn of_one_user_there_are_so_many_jobs_and_no_more() {
    let mut cluster = shared(few(10, 100, 100));
    let (ann, bob) = (user("ann"), user("bob"));
    for number in 0..10 {
        let workspace = if number % 2 == 0 { "lab" } else { "shop" };
        assert_eq!(told(&mut cluster, &ann, &submission(&format!("a{number}"), workspace)), Ok(()));
    }
    let refused = Err(format!("11 unfinished jobs of user ann {ADVICE} are more than the 10 allowed"));
    assert_eq!(told(&mut cluster, &ann, &submission("a10", "lab")), refused);
    let trial = Envelope { dry_run: true, ..submission("a10", "lab") };
    assert_eq!(told(&mut cluster, &ann, &trial), refused, "a dry run says the same");
    assert_eq!(told(&mut cluster, &ann, &submission("a3", "shop")), Ok(()), "a retry gets the first answer");
    let again = envelope("again", &json!({ "submit_job": job("a3", "shop") }));
    assert_eq!(told(&mut cluster, &ann, &again), Ok(()), "a job that is there already is not one more");
    assert_eq!(told(&mut cluster, &bob, &submission("b", "lab")), Ok(()), "others are not concerned");
    let cancel = envelope("cancel", &json!({ "cancel_job": { "job": "a4" } }));
    assert_eq!(told(&mut cluster, &ann, &cancel), Ok(()));
    assert_eq!(told(&mut cluster, &ann, &submission("a10", "lab")), Ok(()), "one has ended");
    assert_eq!(told(&mut cluster, &ann, &submission("a11", "lab")), refused);
    // What is counted comes back with the log.
    cluster.forget();
    assert_eq!(told(&mut cluster, &ann, &submission("a11", "lab")), refused);
}

#[test]
fn of_a_workspace_and_in_a_cluster_there_are_so_many_jobs_and_no_more() {
    let mut cluster = shared(few(100, 5, 8));
    let (ann, bob) = (user("ann"), user("bob"));
    for number in 0..5 {
        let who = if number % 2 == 0 { &ann } else { &bob };
        assert_eq!(told(&mut cluster, who, &submission(&format!("l{number}"), "lab")), Ok(()));
    }
    let refused = |what: &str| Err(format!("{what} {ADVICE}"));
    let short =
        |told: Result<(), String>| told.map_err(|text| text.split(" are more").next().unwrap_or_default().to_owned());
    let told_short =
        |cluster: &mut Cluster<Disk>, who: &Sender, envelope: &Envelope| short(told(cluster, who, envelope));
    let of_lab = refused("6 unfinished jobs of workspace lab");
    assert_eq!(told_short(&mut cluster, &bob, &submission("l5", "lab")), of_lab);
    for number in 0..3 {
        assert_eq!(told(&mut cluster, &ann, &submission(&format!("s{number}"), "shop")), Ok(()));
    }
    let of_all = refused("9 unfinished jobs in this cluster");
    assert_eq!(told_short(&mut cluster, &ann, &submission("s3", "shop")), of_all);
    let own =
        envelope("own", &json!({ "submit_job": { "job": "own", "quota": "a", "pods": [{ "amount": { "gpu": 1 } }] } }));
    assert_eq!(told_short(&mut cluster, &sender(), &own), of_all, "administrators as well");
}

#[test]
fn the_jobs_of_a_plan_and_the_parts_of_services_are_counted() {
    let mut cluster = shared(few(5, 100, 100));
    let ann = user("ann");
    let plan = |name: &str, jobs: std::ops::Range<u32>| {
        let commands: Vec<Value> =
            jobs.map(|number| json!({ "submit_job": job(&format!("p{number}"), "lab") })).collect();
        envelope(name, &json!({ "apply_plan": { "commands": commands } }))
    };
    let refused = |count: u32| Err(format!("{count} unfinished jobs of user ann {ADVICE} are more than the 5 allowed"));
    assert_eq!(
        told(&mut cluster, &sender(), &plan("all", 0..120)).map_err(|_| ()),
        Err(()),
        "too many for the cluster"
    );
    let mut service = job("service", "lab");
    service["module"] = json!("EAS");
    assert_eq!(told(&mut cluster, &ann, &envelope("service", &json!({ "submit_job": service }))), Ok(()));
    for number in 0..3 {
        assert_eq!(told(&mut cluster, &ann, &submission(&format!("n{number}"), "lab")), Ok(()));
    }
    // It runs, so that what is missing of it waits as a part.
    let resize =
        |pods: u32| envelope(&format!("resize-{pods}"), &json!({ "resize_job": { "job": "service", "pods": pods } }));
    assert_eq!(told(&mut cluster, &ann, &resize(20)), Ok(()));
    assert_eq!(told(&mut cluster, &ann, &resize(40)), refused(6));
    assert_eq!(told(&mut cluster, &ann, &resize(2)), Ok(()), "what makes it smaller is accepted");
}

#[test]
fn who_asks_for_much_in_one_job_has_as_many_fewer() {
    let mut cluster = shared(few(20, 1_000, 1_000));
    let ann = user("ann");
    let mut large = job("large", "lab");
    large["name"] = json!("x".repeat(4_096));
    assert_eq!(told(&mut cluster, &ann, &envelope("large", &json!({ "submit_job": large }))), Ok(()));
    let accepted =
        (0..20).take_while(|number| told(&mut cluster, &ann, &submission(&format!("n{number}"), "lab")).is_ok());
    assert_eq!(accepted.count(), 3, "it counts for seventeen");
}

#[test]
fn a_limit_that_is_lowered_ends_no_job() {
    let disk = Disk::default();
    let mut cluster = founded_on(&disk, few(100, 100, 100));
    for number in 0..10 {
        let command = json!({ "submit_job": { "job": format!("n{number}"), "quota": "a", "pods": [{ "amount": { "gpu": 1000 } }] } });
        cluster.submit(&envelope(&format!("n{number}"), &command), &sender(), START).expect("it is accepted");
    }
    let mut lowered = Cluster::new(name(), few(5, 5, 5), disk);
    let jobs = lowered.with_state(|state| state.jobs.len());
    assert_eq!(jobs, Ok(10));
    let another = json!({ "submit_job": { "job": "another", "quota": "a", "pods": [{ "amount": { "gpu": 1000 } }] } });
    let refused = format!("11 unfinished jobs in this cluster {ADVICE} are more than the 5 allowed");
    assert_eq!(told(&mut lowered, &sender(), &envelope("another", &another)), Err(refused));
    let cancel = envelope("cancel", &json!({ "cancel_job": { "job": "n9" } }));
    assert_eq!(told(&mut lowered, &sender(), &cancel), Ok(()), "everything else goes on");
}

#[test]
fn whatever_comes_and_goes_as_many_are_accepted_as_there_is_room_for() {
    let mut cluster = shared(few(6, 9, 14));
    let (mut random, mut now) = (Random::new(7), START);
    let (mut n_accepted, mut n_refused) = (0, 0);
    for step in 0..800 {
        now = now + Millis(i64::try_from(random.below(4_000)).expect("it is small"));
        let who = if random.below(2) == 0 { "ann" } else { "bob" };
        let workspace = if random.below(3) == 0 { "shop" } else { "lab" };
        match random.below(10) {
            0..=1 => {
                let jobs = cluster.with_state(|state| state.jobs.iter().map(|(_, job)| job.spec.id.clone()).collect());
                let jobs: Vec<JobId> = jobs.expect("reading works");
                let Some(job) = jobs.get(usize::try_from(random.below(40)).expect("it is small")) else { continue };
                let cancel = envelope(&format!("step-{step}"), &json!({ "cancel_job": { "job": job } }));
                cluster.submit(&cancel, &sender(), now).expect("it is accepted");
            }
            2 => drop(cluster.run_slot(now.0.div_euclid(SLOT_MS), now)),
            3 => {
                cluster.forget();
                cluster.mark().expect("it is read anew");
            }
            _ => {
                let name = format!("step-{step}");
                let mut job = job(&name, workspace);
                job["duration_ms"] = json!(1 + random.below(60_000));
                let submission = envelope(&name, &json!({ "submit_job": job }));
                let unfinished = |whose: &dyn Fn(&JobSpec) -> bool| {
                    let state = cluster.state().expect("it has been read");
                    state.jobs.iter().filter(|(_, job)| !job.is_ended() && whose(&job.spec)).count()
                };
                let of_user = unfinished(&|spec| spec.user.as_ref().is_some_and(|user| user.as_str() == who));
                let of_workspace =
                    unfinished(&|spec| spec.workspace.as_ref().is_some_and(|named| named.as_str() == workspace));
                let has_room = of_user < 6 && of_workspace < 9 && unfinished(&|_| true) < 14;
                let outcome = cluster.submit(&submission, &user(who), now);
                assert_eq!(outcome.is_ok(), has_room, "step {step}: {outcome:?}");
                n_accepted += u32::from(outcome.is_ok());
                n_refused += u32::from(outcome.is_err());
            }
        }
    }
    assert!(n_accepted > 100 && n_refused > 100, "{n_accepted} accepted, {n_refused} refused");
}

#[test]
fn who_asks_for_ever_other_pods_fills_no_memory_with_them() {
    let mut cluster = shared(Profile::default());
    let mut n_classes = 0;
    for number in 1..3_000 {
        let name = format!("n{number}");
        let mut job = job(&name, "lab");
        job["pods"] = json!([{ "count": number, "amount": { "gpu": 16_000 } }]);
        cluster.submit(&envelope(&name, &json!({ "submit_job": job })), &user("ann"), START).expect("it is accepted");
        let cancel = envelope(&format!("cancel-{name}"), &json!({ "cancel_job": { "job": name } }));
        cluster.submit(&cancel, &user("ann"), START).expect("it is accepted");
        n_classes = cluster.state().expect("it has been read").queue.classes.len().max(n_classes);
    }
    assert!((1_000..=2_010).contains(&n_classes), "{n_classes} classes");
}

#[test]
fn long_entries_bring_a_snapshot_before_they_are_many() {
    let (mut cluster, air) = (founded_on(&Disk::default(), Profile::default()), Air::new(1));
    let mut published = 0;
    for number in 0..60_u32 {
        let commands: Vec<Value> = (0..100)
            .map(|at| {
                let name = format!("{}-{number}-{at}", "x".repeat(1_000));
                json!({ "submit_job": { "job": format!("n{number}-{at}"), "quota": "a", "name": name, "pods": [{ "amount": { "gpu": 1000 } }] } })
            })
            .collect();
        let plan = envelope(&format!("plan-{number}"), &json!({ "apply_plan": { "commands": commands } }));
        cluster.profile.limits.jobs_of_cluster = 100_000;
        cluster.submit(&plan, &sender(), START).expect("it is accepted");
        if number % 20 == 7 {
            cluster.forget();
        }
        let now = START + Millis(i64::from(number) * 1_000);
        let publication = cluster.seal(now).expect("sealing works").expect("there is something to publish");
        let segments = publication.objects.iter().filter(|(key, _)| key.contains("/log/"));
        published = segments.map(|(_, text)| text.len()).sum::<usize>().max(published);
        air::run(publish::put(&air, &publication)).expect("putting works");
        cluster.settle(&publication, now).expect("settling works");
    }
    assert!((7_000_000..10_000_000).contains(&published), "{published} bytes of entries at once");
}
