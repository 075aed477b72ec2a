//! The past from KV: from the newest snapshot before any moment, entry by entry, to what the log came to there.

use std::collections::BTreeSet;

use engine::message::envelope::Entry;
use engine::state::world::State;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::cluster::Cluster;
use protocol::digest;
use protocol::document::Head;
use protocol::document::Milestone;
use protocol::history;
use protocol::past;
use protocol::past::Kept;
use protocol::past::Moment;
use protocol::past::Search;
use protocol::past::onward;
use protocol::profile::Profile;
use protocol::replay::replay;
use protocol::replay::restore_state;
use serde_json::json;

use crate::air;
use crate::air::Air;
use crate::disk::Disk;
use crate::memory::START;
use crate::memory::founded;
use crate::memory::publish;
use crate::memory::submission;
use crate::random::Random;
use crate::world::envelope;
use crate::world::founding;
use crate::world::name;
use crate::world::sender;

pub(crate) fn at_hand<T>(kept: Kept<T>) -> T {
    match kept {
        Kept::Yes(kept) => kept,
        Kept::Since(revision, gap) => panic!("only what is since revision {revision} is kept: {gap}"),
    }
}

/// Whether an entry lies before a moment.
fn is_before(entry: &Entry, moment: Moment) -> bool {
    match moment {
        Moment::Time(time) => entry.at < time,
        Moment::Revision(revision) => entry.revision <= revision,
    }
}

/// The state at a moment as a reader of the past finds it, and how many entries came in each portion.
fn reached(air: &Air, head: &Head, moment: Moment, count: usize) -> (State, Vec<usize>) {
    let text = at_hand(air::run(past::snapshot(air, head, moment)).expect("reading works"));
    let mut state =
        text.map_or_else(State::default, |text| restore_state("a snapshot", [Ok(text)]).expect("it is good"));
    let mut portions = Vec::new();
    loop {
        let entries = at_hand(air::run(past::entries(air, head, state.revision, count)).expect("reading works"));
        assert!(entries.len() <= count);
        portions.push(entries.len());
        for (_, entry) in &entries {
            if !is_before(entry, moment) {
                return (state, portions);
            }
            replay(&mut state, entry).expect("entries follow each other");
        }
        if entries.is_empty() {
            return (state, portions);
        }
    }
}

/// Any moment can be begun with.
pub(crate) fn check(air: &Air, head: &Head, entries: &[Entry], random: &mut Random) {
    for _ in 0..3 {
        // Where something was decided, and just before and after it: there may be a snapshot.
        let entry = &entries[usize::try_from(random.below(entries.len() as u64)).expect("small")];
        let time = Timestamp(entry.at.0 - 1 + i64::try_from(random.below(3)).expect("small"));
        for moment in [Moment::Time(time), Moment::Revision(random.below(head.revision + 2))] {
            let mut due = State::default();
            let before = entries.iter().take_while(|entry| is_before(entry, moment));
            before.for_each(|entry| replay(&mut due, entry).expect("the log can be replayed"));
            let count = usize::try_from(1 + random.below(50)).expect("small");
            let (state, _) = reached(air, head, moment, count);
            assert_eq!(digest::of_state(&state), digest::of_state(&due), "the state at {moment:?}");
        }
    }
}

/// A long life in short parts: a snapshot after ten entries, one entry a minute, a segment for each.
fn lived(count: u32) -> (Air, Head) {
    let profile = Profile { snapshot_every: 10, entries_kept: 4, object_bytes_max: 200, ..Profile::default() };
    let (mut cluster, air): (Cluster<Disk>, Air) = (founded(profile), Air::new(1));
    cluster.submit(&submission(0), &sender(), START).expect("it is accepted");
    for number in 1..=count {
        let now = START + Millis(i64::from(number) * Millis::MINUTE.0);
        let command = json!({ "set_priority": { "job": "job-0", "priority": 1 + number % 9 } });
        cluster.submit(&envelope(&format!("command-{number}"), &command), &sender(), now).expect("it is accepted");
        if number % 10 == 0 {
            publish(&mut cluster, &air, now);
        }
    }
    let head = air::run(history::head(&air, &name())).expect("reading works").expect("there is a head");
    (air, head)
}

#[test]
fn a_moment_long_ago_is_a_few_reads_away() {
    let (air, head) = lived(3_000);
    assert!(head.milestones.len() <= 30, "{} milestones in a head", head.milestones.len());
    for minute in [0, 1, 17, 600, 1_500, 2_700, 2_989] {
        let moment = Moment::Time(START + Millis(minute * Millis::MINUTE.0));
        let (state, portions) = reached(&air, &head, moment, 1_000);
        assert!(portions.len() <= 2, "minute {minute} is not in the part after its snapshot: {portions:?}");
        let before = portions.split_last().map_or(0, |(_, before)| before.len());
        assert!(portions[..before].iter().all(|count| *count >= 10), "all until the next snapshot: {portions:?}");
        let due = if minute == 0 { 0 } else { head.revision + minute.unsigned_abs() - 3_001 };
        assert_eq!(state.revision, due, "what is decided in minute {minute} is not before it");
        let (again, _) = reached(&air, &head, Moment::Revision(state.revision), 1_000);
        assert_eq!(digest::of_state(&again), digest::of_state(&state), "by its revision");
        let n_read = air.n_reads();
        at_hand(air::run(past::entries(&air, &head, state.revision, 1)).expect("reading works"));
        let n_read = air.n_reads() - n_read;
        assert!(n_read <= 10, "{n_read} reads to minute {minute} of 3000");
    }
}

#[test]
fn what_led_to_a_moment_long_ago_is_a_few_reads_away() {
    let (air, head) = lived(3_000);
    for before in [0, 5, 600, 1_500, 2_999, head.revision, u64::MAX] {
        let n_read = air.n_reads();
        let (entries, is_whole) = at_hand(air::run(past::newest(&air, &head, before, 2)).expect("reading works"));
        let n_read = air.n_reads() - n_read;
        assert!(n_read <= 40, "{n_read} reads to revision {before} of {}", head.revision);
        let revisions: Vec<u64> = entries.iter().map(|(_, entry)| entry.revision).collect();
        assert_eq!(revisions.last().copied().unwrap_or(0), before.min(head.revision));
        assert!(revisions.windows(2).all(|pair| pair[1] == pair[0] + 1), "without gaps: {revisions:?}");
        assert!(is_whole == (before <= 20) && (is_whole || revisions.len() >= 20), "{} entries", revisions.len());
        if let Some((_, last)) = entries.last().filter(|(_, last)| last.revision > 0) {
            let found = at_hand(air::run(past::entry_at(&air, &head, last.revision)).expect("reading works"));
            assert_eq!(found.as_ref(), Some(last));
        }
    }
}

#[test]
fn a_search_in_parts_finds_each_entry_once() {
    let profile = Profile { snapshot_every: 10, entries_kept: 4, object_bytes_max: 200, ..Profile::default() };
    let (mut cluster, air): (Cluster<Disk>, Air) = (founded(profile), Air::new(1));
    cluster.submit(&submission(0), &sender(), START).expect("it is accepted");
    let mut sent = Vec::new();
    for number in 0..120 {
        // Most of them change nothing, so that several have the revision of the one before.
        let command = json!({ "set_priority": { "job": "job-0", "priority": 1 + number / 7 % 2 } });
        let done = cluster.submit(&envelope(&format!("turn-{number}"), &command), &sender(), START);
        sent.push(done.expect("it is accepted").receipt.id.to_string());
        if number % 10 == 0 {
            publish(&mut cluster, &air, START);
        }
    }
    publish(&mut cluster, &air, START);
    let head = cluster.published().expect("reading works").expect("there is a head");
    sent.reverse();
    for count in 1..10 {
        let (mut found, mut before): (Vec<String>, u64) = (Vec::new(), u64::MAX);
        loop {
            let mut search = Search::new(count, before, |entry| entry.envelope.id.as_str().starts_with("turn-"));
            at_hand(air::run(past::find(&air, &head, u64::MAX, 100, &mut search)).expect("reading works"));
            let part = search.found();
            let Some(last) = part.last() else { break };
            assert!(part.len() < count + 7, "{} of {count}", part.len());
            before = last.revision;
            found.extend(part.iter().map(|entry| entry.envelope.id.to_string()));
        }
        assert_eq!(found, sent, "{count} at once");
    }
}

#[test]
fn a_search_that_breaks_off_says_where_to_go_on() {
    let profile = Profile { snapshot_every: 10, entries_kept: 4, object_bytes_max: 200, ..Profile::default() };
    let (mut cluster, air): (Cluster<Disk>, Air) = (founded(profile), Air::new(1));
    cluster.submit(&submission(0), &sender(), START).expect("it is accepted");
    for number in 0..300 {
        let command = json!({ "set_priority": { "job": "job-0", "priority": 1 + number / 3 % 2 } });
        cluster.submit(&envelope(&format!("turn-{number}"), &command), &sender(), START).expect("it is accepted");
        if number % 10 == 0 {
            publish(&mut cluster, &air, START);
        }
    }
    publish(&mut cluster, &air, START);
    let head = cluster.published().expect("reading works").expect("there is a head");
    let (mut found, mut before, mut parts): (Vec<String>, u64, u32) = (Vec::new(), u64::MAX, 0);
    loop {
        let mut search = Search::new(5, before, |entry| entry.envelope.id.as_str().starts_with("founding-"));
        assert_eq!(search.next(), None, "nothing was looked at");
        at_hand(air::run(past::find(&air, &head, u64::MAX, 1, &mut search)).expect("reading works"));
        let next = search.next();
        found.extend(search.found().iter().map(|entry| entry.envelope.id.to_string()));
        parts += 1;
        let Some(next) = next else { break };
        assert!(next < before, "it goes on");
        before = next;
    }
    assert!(parts > 5, "{parts} parts");
    let due: Vec<String> = (0..founding().len()).rev().map(|number| format!("founding-{number}")).collect();
    assert_eq!(found, due, "everything before was looked at");
    // Where it breaks off among entries of one revision, none of them is passed over.
    let (mut turns, mut before) = (BTreeSet::new(), u64::MAX);
    loop {
        let mut search = Search::new(usize::MAX, before, |entry| entry.envelope.id.as_str().starts_with("turn-"));
        at_hand(air::run(past::find(&air, &head, u64::MAX, 1, &mut search)).expect("reading works"));
        let next = search.next();
        turns.extend(search.found().iter().map(|entry| entry.envelope.id.to_string()));
        let Some(next) = next else { break };
        before = next;
    }
    assert_eq!(turns.len(), 300);
}

#[test]
fn the_way_to_any_moment_grows_with_its_logarithm() {
    let milestone = |seq: u64| Milestone { seq, revision: seq, at: Timestamp(0), page: String::new() };
    let mut known = Vec::new();
    for seq in 1..=100_000 {
        known = onward(&known, milestone(seq));
    }
    assert!(known.len() <= 50, "{} milestones", known.len());
    assert_eq!((known[0].seq, known[known.len() - 1].seq), (1, 100_000), "the oldest and the newest");
    for pair in known.windows(2) {
        let (older, newer) = (pair[0].seq, pair[1].seq);
        assert!(newer - older <= 1 + (100_000 - newer), "from {newer} to {older}");
    }
}

#[test]
fn what_is_not_kept_any_more_says_since_when_the_rest_is() {
    let (air, head) = lived(600);
    let whole = air::run(past::snapshot(&air, &head, Moment::Revision(0))).expect("reading works");
    assert_eq!(whole, Kept::Yes(None), "the beginning is the empty state");
    // The objects of the first half are gone: their names tell which those are.
    let middle = head.seq / 2;
    let number = |key: &str| key.rsplit('/').next().and_then(|last| last.get(..12)?.parse::<u64>().ok());
    air.lose(|key| number(key).is_some_and(|seq| seq <= middle));
    let lost = air::run(past::snapshot(&air, &head, Moment::Revision(1))).expect("reading works");
    let Kept::Since(since, gap) = lost else { panic!("{lost:?}") };
    assert!(gap.first == 1 && gap.last >= middle - 20 && gap.reason == "is gone", "{gap}");
    let entries = air::run(past::entries(&air, &head, 1, 5)).expect("reading works");
    assert_eq!(entries, Kept::Since(since, gap));
    let here = air::run(past::snapshot(&air, &head, Moment::Revision(since))).expect("reading works");
    assert!(matches!(here, Kept::Yes(Some(_))), "what is said to be kept is: {here:?}");
    reached(&air, &head, Moment::Revision(head.revision), 7);
}

#[test]
fn what_is_read_before_a_gap_ends_there_and_then_the_gap_is_told() {
    let (air, head) = lived(600);
    let page = head.milestones[head.milestones.len() - 3].clone();
    for damage in ["gone", "damaged"] {
        let air = Air::of_dump(&air.dump());
        match damage {
            "gone" => air.lose(|key| key == page.page),
            _ => air.forge(&page.page, "{}"),
        }
        let (mut before, mut n_read) = (head.revision, 0);
        let gap = loop {
            match air::run(past::newest(&air, &head, before, 2)).expect("what is there can be read") {
                Kept::Yes((entries, is_whole)) => {
                    assert!(!is_whole && !entries.is_empty(), "{damage}: nobody is told of the gap");
                    n_read += entries.len();
                    before = entries[0].1.revision - 1;
                }
                Kept::Since(since, gap) => {
                    assert_eq!(since, before, "{damage}: all that is kept was read");
                    break gap;
                }
            }
        };
        assert_eq!((gap.last, gap.key.as_str()), (page.seq, page.page.as_str()), "{gap}");
        assert!(gap.to_string().contains(damage), "{gap}");
        assert!(n_read as u64 == head.seq - page.seq, "{n_read} entries after {}", page.seq);
        let mut search = Search::new(usize::MAX, u64::MAX, |_| true);
        at_hand(air::run(past::find(&air, &head, u64::MAX, 100, &mut search)).expect("what is there can be found"));
        assert_eq!(search.found().len() as u64, head.seq - page.seq);
    }
}
