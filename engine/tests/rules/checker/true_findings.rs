//! What is found in random trees is so: the example shows it, the change ends it, and the words can be read.

use std::collections::BTreeMap;

use engine::check;
use engine::check::finding::Finding;
use engine::check::finding::Flaw;
use engine::explain;
use engine::host::authority::step;
use engine::message::command::Command;
use engine::message::command::PodGroup;
use engine::message::command::SubmitJob;
use engine::unit::id::JobId;

use crate::checker::oracle;
use crate::checker::trees::NOW;
use crate::checker::trees::Tree;
use crate::random::Random;

const SEEDS: u64 = 100;

fn kind(flaw: &Flaw) -> &'static str {
    match flaw {
        Flaw::Turns { is_chain: false, .. } => "turns",
        Flaw::Turns { is_chain: true, .. } => "chains",
        Flaw::Powerless { .. } => "powerless",
        Flaw::Unusable { .. } => "unusable",
        Flaw::HeldOff { .. } => "held off",
        Flaw::NothingLeft { .. } => "nothing left",
        Flaw::Blocked { .. } => "blocked",
        Flaw::Spared { .. } => "spared",
        Flaw::Kept { .. } => "kept",
        Flaw::Upward { .. } => "upward",
    }
}

/// Whether two flaws are of the same kind and of the same quotas.
fn is_same(a: &Flaw, b: &Flaw) -> bool {
    let (a_quotas, b_quotas) = (a.quotas(), b.quotas());
    match (a, b) {
        (Flaw::Turns { .. }, Flaw::Turns { .. }) | (Flaw::Kept { .. }, Flaw::Kept { .. }) => {
            a_quotas.iter().any(|quota| b_quotas.contains(quota))
        }
        (Flaw::Powerless { policy, .. }, Flaw::Powerless { policy: other, .. })
        | (Flaw::Spared { policy, .. }, Flaw::Spared { policy: other, .. }) => policy == other && a_quotas == b_quotas,
        (
            Flaw::HeldOff { protected, right, protection, .. },
            Flaw::HeldOff { protected: other, right: other_right, protection: other_protection, .. },
        ) => protected == other && right == other_right && protection == other_protection,
        (a, b) => kind(a) == kind(b) && a_quotas == b_quotas,
    }
}

#[test]
fn what_is_found_is_shown_and_the_change_ends_it() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut without_fix = 0;
    for seed in 0..SEEDS {
        let tree = Tree::with_policies(&mut Random::new(1_000 + seed));
        for Finding { flaw, example, fix } in check::check(&tree.state) {
            assert!(oracle::shows(&flaw, &example), "seed {seed}: {flaw:?} is not shown by {example:#?}");
            *counts.entry(kind(&flaw)).or_default() += 1;
            let Some(fix) = fix else {
                println!("seed {seed}: no change for {flaw:?}");
                without_fix += 1;
                continue;
            };
            let mut after = tree.state.clone();
            step(&mut after, &fix, NOW).unwrap();
            let left = check::check(&after);
            let is_gone = !left.iter().any(|finding| is_same(&finding.flaw, &flaw));
            assert!(is_gone, "seed {seed}: {fix:?} does not end {flaw:?}");
        }
    }
    println!("{counts:?}, {without_fix} without a change");
    assert_eq!(counts.len(), 10, "{counts:?}");
    assert!(counts.values().all(|count| *count >= 2), "{counts:?}");
    assert_eq!(without_fix, 0);
}

#[test]
fn jobs_make_no_difference() {
    for seed in 0..20 {
        let mut tree = Tree::with_policies(&mut Random::new(2_000 + seed));
        let before = check::check(&tree.state);
        let pods = vec![PodGroup { count: 1, amount: [("gpu".to_owned(), 1000)].into_iter().collect() }];
        let quota = Some(tree.quotas[0].id.clone());
        let job = SubmitJob { quota, ..SubmitJob::new(JobId::new("there").unwrap(), pods) };
        tree.send(&Command::SubmitJob(job));
        assert_eq!(check::check(&tree.state), before, "seed {seed}");
    }
}

#[test]
fn a_quota_s_findings_are_those_in_which_it_takes_part() {
    for seed in 0..20 {
        let tree = Tree::with_policies(&mut Random::new(3_000 + seed));
        let all = check::check(&tree.state);
        for quota in &tree.quotas {
            let of_quota = check::of_quota(&tree.state, &quota.id);
            let missing = |finding: &&Finding| {
                let is_far = matches!(finding.flaw, Flaw::HeldOff { .. });
                finding.flaw.quotas().contains(&&quota.id) && !is_far
            };
            for finding in all.iter().filter(missing) {
                assert!(of_quota.contains(finding), "seed {seed}: {finding:#?}");
            }
            assert!(of_quota.iter().all(|finding| finding.flaw.quotas().contains(&&quota.id)), "seed {seed}");
        }
    }
}

#[test]
fn findings_are_sentences() {
    for seed in 0..40 {
        let tree = Tree::with_policies(&mut Random::new(4_000 + seed));
        for finding in check::check(&tree.state) {
            let words = explain::finding(&tree.state, &finding);
            for sentence in std::iter::once(words.what).chain(words.change) {
                let begins = sentence.starts_with(|letter: char| letter.is_uppercase() || letter == 'q');
                assert!(begins && sentence.ends_with('.') && !sentence.contains("  "), "{sentence:?}");
            }
        }
    }
}
