//! What a plan simulates is what the authority does with the same commands.

use engine::host::authority;
use engine::host::plan::apply::application;
use engine::host::plan::run::Horizon;
use engine::host::plan::run::Run as Plan;
use engine::host::plan::run::Sent;
use engine::ledger;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::command::Round;
use engine::message::envelope::Envelope;
use engine::message::event::Event;
use engine::message::rejection::Rejection;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use engine::unit::id::CommandId;
use engine::unit::time::Timestamp;

use crate::history::are_few;
use crate::history::seeds;

use super::CASES;
use super::Case;
use super::asked_for;
use super::bytes;
use super::case;
use super::plan_of;

fn send(state: &mut State, command: Command, now: Timestamp) -> Result<Vec<Event>, Rejection> {
    let id = CommandId::new("it").unwrap();
    let envelope = Envelope { format: FORMAT, id, by: None, base: Some(state.revision), dry_run: false, command };
    authority::handle(state, &envelope, now).map(|receipt| receipt.events)
}

#[test]
fn a_plan_is_what_the_authority_does() {
    let (mut n_refused, mut n_events) = (0, 0);
    for seed in seeds(CASES) {
        let case = case(seed);
        let Case { base, variant, until } = &case;
        let before = bytes(&base.state);
        let mut plan = Plan::new(base, variant, Horizon::Until(*until));
        let mut real = Snapshot::of(&base.state).restore().unwrap();
        let mut asked_for = asked_for(&case).into_iter();
        while let Some(step) = plan.step() {
            let command = match &step.sent {
                Sent::Round(slot) => Command::Round(Round { slot: *slot }),
                Sent::Changes(sent) => {
                    let (when, rank, what) = asked_for.next().unwrap();
                    assert_eq!((step.at, 1), (when, rank), "seed {seed}");
                    if *sent != what {
                        // The whole is refused, and all that is left of it is what was not refused.
                        let refused = send(&mut real.clone(), plan_of(variant, &what), when);
                        assert!(matches!(refused, Err(Rejection::InPlan { .. })), "seed {seed}: {refused:?}");
                        let lost: Vec<usize> = what.iter().copied().filter(|at| !sent.contains(at)).collect();
                        let told: Vec<usize> = plan.refused.iter().map(|refusal| refusal.change).collect();
                        assert!(lost.iter().all(|at| told.contains(at)), "seed {seed}");
                        n_refused += lost.len();
                    }
                    plan_of(variant, sent)
                }
                Sent::Ahead(at) => {
                    assert_eq!(asked_for.next(), Some((step.at, 2, vec![*at])), "seed {seed}");
                    base.ahead[*at].1.clone()
                }
            };
            let answer = send(&mut real, command, step.at);
            assert_eq!(step.answer, answer, "seed {seed} at {}", step.at.0);
            n_events += answer.map_or(0, |events| events.len());
        }
        assert_eq!(asked_for.next(), None, "seed {seed}");
        assert_eq!(bytes(plan.state()), bytes(&real), "seed {seed}");
        assert_eq!(ledger::check::difference(plan.state()), None, "seed {seed}");
        assert_eq!(bytes(&base.state), before, "seed {seed}");
    }
    // The cases are not empty. Rounds of minutes in which there is nothing to do are none of them.
    assert!(are_few() || n_refused > 500 && n_events > 30_000, "{n_refused} {n_events}");
}

#[test]
fn an_applied_plan_is_its_first_step_and_is_refused_when_the_world_has_moved_on() {
    let mut n_applied = 0;
    for seed in seeds(CASES) {
        let Case { base, mut variant, until } = case(seed);
        // Half of the changes are for now.
        for change in variant.changes.iter_mut().step_by(2) {
            change.at = Timestamp(0);
        }
        let application = application(&base, &variant, CommandId::new("plan").unwrap());
        let mut plan = Plan::new(&base, &variant, Horizon::Until(until));
        let Some(step) = plan.step().filter(|step| matches!(step.sent, Sent::Changes(_))) else { continue };
        let mut real = State::clone(&base.state);
        match authority::handle(&mut real, &application.envelope, base.from) {
            Ok(receipt) => {
                assert_eq!(Ok(receipt.events), step.answer, "seed {seed}");
                assert_eq!(bytes(&real), bytes(plan.state()), "seed {seed}");
                n_applied += 1;
            }
            Err(Rejection::InPlan { .. }) => {
                assert!(!plan.refused.is_empty(), "seed {seed}");
                assert_eq!(bytes(&real), bytes(&base.state), "seed {seed}");
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
        real.revision += 1;
        let again = authority::handle(&mut real, &application.envelope, base.from);
        assert!(matches!(again, Err(Rejection::MovedOn { .. })), "seed {seed}");
    }
    assert!(are_few() || n_applied > 200, "{n_applied}");
}
