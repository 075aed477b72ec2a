//! The kinds of single changes that explanations promise to find.

use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::state::world::State;
use engine::unit::id::JobNo;

use crate::tips::Act;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TipKind {
    Nothing,
    Priority,
    ChildLevel,
    SelfLevel,
    Lending,
    Amounts,
    AmountsInUse,
    Idle,
    FewerPods,
    FewerGpus,
    HigherBid,
}

impl TipKind {
    /// What an act changes.
    pub(crate) fn of(state: &State, no: JobNo, act: &Act) -> Self {
        let spec = &state.jobs[no].spec;
        match act {
            Act::Wait => Self::Nothing,
            Act::Send(command) => Self::of_command(state, command),
            Act::Anew(submission) => {
                let pods: u32 = submission.pods.iter().map(|group| group.count).sum();
                let had: u32 = spec.shape.roles().iter().map(|role| role.count).sum();
                if submission.idle != spec.idle {
                    Self::Idle
                } else if pods != had || submission.min_pods != spec.shape.min_pods() {
                    Self::FewerPods
                } else if spec.spot.is_some() {
                    Self::HigherBid
                } else {
                    Self::FewerGpus
                }
            }
        }
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "tips are of few kinds")]
    fn of_command(state: &State, command: &Command) -> Self {
        match command {
            Command::SetPriority(_) => Self::Priority,
            Command::ResizeJob(_) => Self::FewerPods,
            Command::ScaleQuotas(scale) if scale.mode == ScaleMode::Evict => Self::AmountsInUse,
            Command::ScaleQuotas(_) => Self::Amounts,
            Command::UpdateQuota(update) => {
                let before = &state.quotas[state.quota_no(&update.quota).unwrap().at()].settings;
                if before.lends != update.settings.lends {
                    Self::Lending
                } else if before.child_level != update.settings.child_level {
                    Self::ChildLevel
                } else {
                    Self::SelfLevel
                }
            }
            _ => panic!("no tip is {command:?}"),
        }
    }
}
