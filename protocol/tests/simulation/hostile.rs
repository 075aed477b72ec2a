//! Hostile users beside ordinary ones: one submits as many jobs as it can, one keeps the largest notes under names that
//! are in one bucket, one never stops naming new things, one reads the past. The ordinary ones are not to notice: what
//! they send is accepted, the work that is done before it is bounded, and the head moves on.
//!
//! Work is counted: rows that are written and read. What is read of the past is read beside the object, and is counted by
//! what it costs.
//!
//! `TIDEGATE_FROM` and `TIDEGATE_COUNT` choose the seeds; `cargo xtask soak hostile` takes many.

use engine::message::envelope::Entry;
use engine::message::rejection::Rejection;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::cluster::SLOT_MS;
use protocol::fault::Failure;
use protocol::garbage;
use protocol::limits::Limits;
use protocol::log::LogStore;
use protocol::meter::Meter;
use protocol::meter::Metered;
use protocol::note::Note;
use protocol::note::NoteChange;
use protocol::note::bucket;
use protocol::past::Search;
use protocol::profile::Profile;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use protocol::rate::Buckets;
use protocol::rate::Rate;
use serde_json::Value;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded_on;
use crate::memory::publish as publish_now;
use crate::newest::newest;
use crate::past::at_hand;
use crate::random::Random;
use crate::restored::Held;
use crate::world::envelope;
use crate::world::sender;

/// How fast anybody may go here, and how often the hostile ones try in a second.
const RATE: Rate = Rate { per_second: 10, burst: 20 };
const TRIES: u32 = 30;
/// How long a town lives, in seconds.
const SECONDS: i64 = 20;
/// Work that an ordinary command may find before it in its second, and take itself.
const WORK_MAX: u64 = 600;
/// How old what is not published may be, and what one publication may be.
const UNPUBLISHED_MAX: Millis = Millis(3_000);
const PUBLICATION_BYTES_MAX: usize = 12 * 1024 * 1024;
const PUBLICATION_CALLS_MAX: usize = 40;
/// How far back the reader reads, in pages: as the first read of bills does.
const PAGES: usize = 10;
/// How many seeds, if nobody says so.
const SEEDS: u64 = 2;

const ORDINARY: [&str; 2] = ["ann", "bob"];
const HOSTILE: [&str; 4] = ["flooder", "hoarder", "namer", "reader"];

const LIMITS: Limits = Limits {
    jobs_of_user: 60,
    jobs_of_workspace: 150,
    jobs_of_cluster: 160,
    note_bytes_of_user: 2 * 1024 * 1024,
    note_bytes_in_bucket: 1024 * 1024,
};

/// What is taken out, so that it is seen that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Of one user there may be any number of jobs.
    JobsOfUser,
    /// A bucket may be one user's.
    ShareOfBucket,
    /// All notes may be one user's.
    ShareOfNotes,
    /// A read counts for one request, whatever it costs.
    Cost,
    /// Everybody may send as much as they like.
    Rate,
}

impl Without {
    fn limits(self) -> Limits {
        match self {
            Self::Nothing | Self::Cost | Self::Rate => LIMITS,
            Self::JobsOfUser => Limits { jobs_of_user: u64::MAX, ..LIMITS },
            Self::ShareOfBucket => {
                Limits { note_bytes_in_bucket: u64::MAX, note_bytes_of_user: 16 * 1024 * 1024, ..LIMITS }
            }
            Self::ShareOfNotes => Limits { note_bytes_of_user: u64::MAX, ..LIMITS },
        }
    }
}

/// What was seen, and is told.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The most work that an ordinary command had before it, with its own.
    work: u64,
    n_ordinary: u32,
    n_refused: u32,
    n_waits: u32,
    n_reads: u32,
    /// What one read has cost at most.
    dearest: i64,
    n_heads: u32,
}

struct Town {
    cluster: Cluster<Disk>,
    disk: Disk,
    air: Air,
    random: Random,
    rates: Buckets<&'static str>,
    without: Without,
    now: Timestamp,
    n_sent: u32,
    n_seconds: i64,
    /// Jobs of the ordinary ones that may go on.
    jobs: Vec<(&'static str, String)>,
    /// How long the hoarder's next note is.
    hoarded: usize,
    /// What all reads have cost so far.
    read: i64,
    seen: Seen,
}

fn user(name: &str) -> Sender {
    Sender { user: UserId::new(name).expect("a good name"), administers: false }
}

impl Town {
    fn new(seed: u64, without: Without) -> Self {
        let profile = Profile {
            limits: without.limits(),
            snapshot_every: 60,
            entries_kept: 10,
            object_bytes_max: 16_000,
            ..Profile::default()
        };
        let disk = Disk::default();
        let mut town = Self {
            cluster: founded_on(&disk, profile),
            disk,
            air: Air::new(seed),
            random: Random::new(seed),
            rates: Buckets::new(if without == Without::Rate { Rate { per_second: 1_000, burst: 1_000 } } else { RATE }),
            without,
            now: START,
            n_sent: 0,
            n_seconds: 0,
            jobs: Vec::new(),
            hoarded: 15_000,
            read: 0,
            seen: Seen::default(),
        };
        let mut setup = vec![
            json!({ "put_workspace": { "workspace": "lab" } }),
            json!({ "attach_quota": { "workspace": "lab", "quota": "a" } }),
        ];
        let member = |user| json!({ "put_member": { "workspace": "lab", "user": user, "roles": ["developer"] } });
        setup.extend(ORDINARY.iter().chain(&HOSTILE).map(member));
        for (at, command) in setup.iter().enumerate() {
            let envelope = envelope(&format!("setup-{at}"), command);
            town.cluster.submit(&envelope, &sender(), START).expect("it is accepted");
        }
        town.grow_old();
        town
    }

    /// Some pages of the past.
    fn grow_old(&mut self) {
        for number in 0..400_u32 {
            let role = if number.is_multiple_of(2) { "guest" } else { "developer" };
            let member = json!({ "put_member": { "workspace": "lab", "user": "former", "roles": [role] } });
            let envelope = envelope(&format!("past-{number}"), &member);
            self.cluster.submit(&envelope, &sender(), self.now).expect("it is accepted");
            if number.is_multiple_of(20) {
                self.now = self.now + Millis(1_000);
                publish_now(&mut self.cluster, &self.air, self.now);
            }
        }
        self.now = self.now + Millis(1_000);
    }

    fn count(&self) -> u64 {
        self.disk.n_written() + self.disk.n_read()
    }

    fn send(&mut self, who: &str, command: &Value, notes: &[NoteChange]) -> Result<(), Failure> {
        self.n_sent += 1;
        let mut envelope = envelope(&format!("command-{}", self.n_sent), command);
        envelope.by = None;
        self.cluster.submit_noted(&envelope, &user(who), notes, self.now).map(drop)
    }

    /// A job's name that is in the bucket that somebody fills, as one of 256 is by chance.
    fn name(&self, start: &str) -> String {
        let names = (0_u32..).map(|number| format!("{start}-{}-{number}", self.n_sent));
        names.into_iter().find(|name| bucket(&format!("job/{name}")) == 0).expect("there is one")
    }

    /// What an ordinary user does: a job with its command line; those of a while ago are cancelled.
    fn ordinary(&mut self, who: &'static str) -> Result<(), Failure> {
        if self.jobs.iter().filter(|(owner, _)| *owner == who).count() > 8 {
            let at = self.jobs.iter().position(|(owner, _)| *owner == who).expect("there are some");
            let (_, job) = self.jobs.remove(at);
            let drop = [NoteChange::Drop(format!("job/{job}"))];
            return self.send(who, &json!({ "cancel_job": { "job": job } }), &drop);
        }
        let name = self.name(who);
        let note = NoteChange::Put(Note::new(format!("job/{name}"), "python train.py ".repeat(50)));
        let job = json!({ "job": name, "quota": "a", "workspace": "lab", "duration_ms": 5_000,
            "pods": [{ "amount": { "gpu": 1000 } }] });
        self.jobs.push((who, name));
        self.send(who, &json!({ "submit_job": job }), &[note])
    }

    fn hostile(&mut self, who: &'static str) -> Result<(), Failure> {
        let number = self.n_sent;
        match who {
            "flooder" => {
                let (count, gpus) = (1 + self.random.below(40), 1_000 * (1 + self.random.below(16)));
                let job = json!({ "job": format!("flood-{number}"), "quota": "a", "workspace": "lab",
                    "pods": [{ "count": count, "amount": { "gpu": gpus } }] });
                self.send(who, &json!({ "submit_job": job }), &[])
            }
            "hoarder" => {
                let start = (self.without == Without::ShareOfNotes).then(|| format!("hoard-{number}"));
                let name = format!("job/{}", start.unwrap_or_else(|| self.name("hoard")));
                let text = json!({ "Name": "\\".repeat(self.hoarded) }).to_string();
                self.n_sent += 1;
                let kept = self.cluster.keep_notes(&[NoteChange::Put(Note::new(name, text))], &user(who));
                // What is refused is tried smaller, until nothing else fits in either.
                self.hoarded = self.hoarded.div_ceil(if kept.is_err() { 2 } else { 1 });
                kept
            }
            "namer" => {
                let name = format!("name-{number}");
                let count = 1 + self.random.below(1_000);
                let job = json!({ "job": name, "quota": "a", "workspace": "lab",
                    "pods": [{ "count": count, "amount": { "gpu": 16_000 } }] });
                self.send(who, &json!({ "submit_job": job }), &[])?;
                self.send(who, &json!({ "cancel_job": { "job": name } }), &[])
            }
            _ => {
                // The object says what is newest; the rest is read beside it.
                let (newest, meter) = (newest(&mut self.cluster, &user(who)), Meter::default());
                let (mut search, kv) =
                    (Search::new(20, u64::MAX, |_: &Entry| false), Metered::new(self.air.clone(), &meter));
                at_hand(air::run(newest.find(&kv, PAGES, &mut search)).expect("reading works"));
                self.seen.n_reads += 1;
                self.seen.dearest = self.seen.dearest.max(meter.cost());
                self.read += meter.cost();
                if self.without != Without::Cost {
                    self.rates.charge(who, meter.cost(), self.now);
                }
                Ok(())
            }
        }
    }

    fn second(&mut self) -> Result<(), String> {
        let before = self.count();
        let place = self.random.below(u64::from(TRIES));
        for round in 0..u64::from(TRIES) {
            for who in HOSTILE {
                if self.rates.take(who, self.now).is_err() {
                    self.seen.n_waits += 1;
                    continue;
                }
                match self.hostile(who) {
                    Ok(()) => {}
                    Err(Failure::Refused(rejection)) => self.refused(&rejection)?,
                    Err(failure) => return Err(format!("{who}: {failure}")),
                }
            }
            if round == place {
                for who in ORDINARY {
                    self.rates.take(who, self.now).map_err(|wait| format!("{who} waits {} ms", wait.0))?;
                    self.ordinary(who).map_err(|failure| format!("{who} is refused: {failure}"))?;
                    self.seen.n_ordinary += 1;
                    self.seen.work = self.seen.work.max(self.count() - before);
                }
            }
        }
        self.n_seconds += 1;
        let allowed = RATE.burst + RATE.per_second * self.n_seconds + self.seen.dearest;
        if self.read > allowed && self.without != Without::Rate {
            return Err(format!("the reader has read for {}, more than {allowed}", self.read));
        }
        if self.seen.work > WORK_MAX {
            return Err(format!("an ordinary command waits for work of {}, more than {WORK_MAX}", self.seen.work));
        }
        self.now = self.now + Millis(1_000);
        self.host()
    }

    /// A refusal says how much there is, how much may be, and what to do.
    fn refused(&mut self, rejection: &Rejection) -> Result<(), String> {
        self.seen.n_refused += 1;
        let words = rejection.to_string();
        let is_clear = matches!(rejection, Rejection::Limit { .. }) && words.contains('(') && words.contains("allowed");
        if is_clear { Ok(()) } else { Err(format!("a refusal is not clear: {words}")) }
    }

    /// What the object and the clock do in a second.
    fn host(&mut self) -> Result<(), String> {
        let failed = |failure: Failure| failure.to_string();
        self.cluster.run_alarm(self.now).map_err(failed)?;
        if self.now.0 % SLOT_MS < 1_000 {
            self.cluster.run_slot(self.now.0.div_euclid(SLOT_MS), self.now).map_err(failed)?;
            let held = Held(std::cell::RefCell::new(&mut self.cluster));
            air::run(garbage::collect(&self.air, &held, self.now, 200)).map_err(|fault| fault.to_string())?;
        }
        if self.cluster.due(Occasion::Command, self.now) == Ok(Due::Now) {
            let sealed = self.cluster.seal(self.now).map_err(|fault| fault.to_string())?;
            let publication = sealed.ok_or("there is nothing to publish, and it is due")?;
            let bytes: usize = publication.objects.iter().map(|(_, text)| text.len()).sum();
            if bytes > PUBLICATION_BYTES_MAX || publication.objects.len() > PUBLICATION_CALLS_MAX {
                return Err(format!("a publication has {} objects of {bytes} bytes", publication.objects.len()));
            }
            air::run(publish::put(&self.air, &publication)).map_err(|fault| fault.to_string())?;
            self.cluster.settle(&publication, self.now).map_err(|fault| fault.to_string())?;
            self.seen.n_heads += 1;
        }
        let since = self.cluster.unpublished_since().map_err(|fault| fault.to_string())?;
        if let Some(since) = since.filter(|since| self.now - *since > UNPUBLISHED_MAX) {
            return Err(format!("the head stands still for {} ms", (self.now - since).0));
        }
        for who in HOSTILE {
            let bytes = self.disk.owned_bytes(&user(who).user, None).map_err(|fault| fault.to_string())?;
            if bytes > 2 * LIMITS.note_bytes_of_user && self.without != Without::ShareOfBucket {
                return Err(format!("{who} keeps {bytes} bytes of notes"));
            }
        }
        Ok(())
    }
}

fn live(seed: u64, without: Without) -> Result<Seen, String> {
    let mut town = Town::new(seed, without);
    for _ in 0..SECONDS {
        town.second()?;
    }
    Ok(town.seen)
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (from, count) = (number("TIDEGATE_FROM").unwrap_or(0), number("TIDEGATE_COUNT").unwrap_or(SEEDS));
    from..from + count
}

#[test]
fn hostile_users_are_not_noticed_by_others() {
    for seed in seeds() {
        let seen = live(seed, Without::Nothing)
            .unwrap_or_else(|found| panic!("{found}; TIDEGATE_FROM={seed} TIDEGATE_COUNT=1 repeats it"));
        println!("hostile users, seed {seed}: {seen:?}");
        assert!(seen.n_ordinary >= 40 && seen.n_heads >= 20, "{seen:?}");
        assert!(seen.n_refused > 100 && seen.n_waits > 1_000 && seen.n_reads > 2, "{seen:?}");
    }
}

/// The negative controls: each limit is needed.
#[test]
fn without_a_limit_hostile_users_are_noticed() {
    let found = [
        (Without::JobsOfUser, "is refused: "),
        (Without::ShareOfBucket, "is refused: "),
        (Without::ShareOfNotes, "hoarder keeps "),
        (Without::Cost, "the reader has read for "),
        (Without::Rate, "an ordinary command waits for work of"),
    ];
    for (without, words) in found {
        let caught = live(0, without).expect_err("something is noticed");
        println!("without {without:?}, seed 0: {caught}");
        assert!(caught.contains(words), "without {without:?}, seed 0: {caught}");
    }
}
