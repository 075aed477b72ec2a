//! The kinds of changes that people make, and the commands whose fields are described.

use engine::message::command::Command;

use crate::amounts;
use crate::bid;
use crate::cancel;
use crate::facts::Facts;
use crate::field::Edit;
use crate::field::Shown;
use crate::field::Value;
use crate::inventory;
use crate::job;
use crate::node;
use crate::pool;
use crate::price;
use crate::priority;
use crate::settings;

/// A kind of change: what people choose, and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// GPUs move from one quota to another.
    Amounts,
    /// What is set on a quota.
    Settings,
    /// A new job.
    Job,
    /// A job's priority.
    Priority,
    /// A job is cancelled.
    Cancel,
    /// A new job with a bid.
    Bid,
    /// An offer's price.
    Price,
    /// An offer's inventory.
    Inventory,
    /// A pool of machines.
    Pool,
    /// A node.
    Node,
}

impl ChangeKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 10] = [
        Self::Amounts,
        Self::Settings,
        Self::Job,
        Self::Priority,
        Self::Cancel,
        Self::Bid,
        Self::Price,
        Self::Inventory,
        Self::Pool,
        Self::Node,
    ];

    /// What people choose.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Amounts => "Move GPUs",
            Self::Settings => "Change policies",
            Self::Job => "Submit a job",
            Self::Priority => "Change a job's priority",
            Self::Cancel => "Cancel a job",
            Self::Bid => "Bid on the market",
            Self::Price => "Change a price",
            Self::Inventory => "Change an inventory",
            Self::Pool => "Grow or shrink a pool",
            Self::Node => "Cordon a node",
        }
    }

    /// How it begins after these commands: with something that is there, and with a name of its own. Nothing where there
    /// is nothing to change.
    #[must_use]
    pub fn begin(self, facts: &Facts, before: &[Command]) -> Option<Command> {
        let number = || job::free_number(facts, before);
        match self {
            Self::Amounts => amounts::begin(facts),
            Self::Settings => settings::begin(facts),
            Self::Job => job::begin(facts, number()),
            Self::Priority => priority::begin(facts),
            Self::Cancel => cancel::begin(facts),
            Self::Bid => bid::begin(facts, number()),
            Self::Price => price::begin(facts),
            Self::Inventory => inventory::begin(facts),
            Self::Pool => pool::begin(facts),
            Self::Node => node::begin(facts),
        }
    }

    /// The kinds that make sense there.
    #[must_use]
    pub fn offered(facts: &Facts) -> Vec<Self> {
        Self::ALL.into_iter().filter(|kind| kind.begin(facts, &[]).is_some()).collect()
    }
}

/// The command as something that is edited; nothing if its fields are not described.
fn edited(command: &Command) -> Option<&dyn Edit> {
    match command {
        Command::ScaleQuotas(scale) => Some(scale),
        Command::UpdateQuota(update) => Some(update),
        Command::SubmitJob(job) => Some(job),
        Command::SetPriority(set) => Some(set),
        Command::ResizeJob(resize) => Some(resize),
        Command::CancelJob(cancel) => Some(cancel),
        Command::PublishPrice(publish) => Some(publish),
        Command::SetInventory(set) => Some(set),
        Command::PutGroup(group) => Some(group),
        Command::PutNode(node) => Some(node),
        Command::CreateCluster(_)
        | Command::UpdateCluster(_)
        | Command::DeleteNode(_)
        | Command::NodeSilent(_)
        | Command::NodeHeard(_)
        | Command::CreateQuota(_)
        | Command::DeleteQuota(_)
        | Command::CreateOffer(_)
        | Command::UpdateOffer(_)
        | Command::DeleteOffer(_)
        | Command::Report(_)
        | Command::PutWorkspace(_)
        | Command::DeleteWorkspace(_)
        | Command::AttachQuota(_)
        | Command::DetachQuota(_)
        | Command::PutMember(_)
        | Command::RemoveMember(_)
        | Command::CreateKey(_)
        | Command::RotateKey(_)
        | Command::RevokeKey(_)
        | Command::ApplyPlan(_)
        | Command::Round(_) => None,
    }
}

/// What a field of a new job means, in a sentence, by the field's name: for whoever sets it by a flag of that name.
#[must_use]
pub fn about_job(key: &str) -> Option<&'static str> {
    job::FIELDS.iter().chain(bid::OF_BID).find(|field| field.key == key).map(|field| field.about)
}

/// The fields of a command as they are.
#[must_use]
pub fn shown(command: &Command, facts: &Facts) -> Vec<Shown> {
    edited(command).map(|edit| edit.shown(facts)).unwrap_or_default()
}

/// The command with another value in one field. A number outside the field's range becomes the nearest in it.
///
/// # Errors
/// There is no such field, or why it cannot hold that.
pub fn with(command: &Command, facts: &Facts, key: &str, value: &Value) -> Result<Command, String> {
    edited(command).ok_or_else(|| "this command is taken as it is".to_owned())?.with(facts, key, value)
}

/// What a command changes, in one line; one that is not edited is told as it is.
#[must_use]
pub fn line(command: &Command, facts: &Facts) -> String {
    edited(command).map_or_else(|| serde_json::to_string(command).unwrap_or_default(), |edit| edit.line(facts))
}

#[cfg(test)]
mod tests {
    use super::about_job;

    #[test]
    fn flags_are_told_what_they_mean_by_the_fields_themselves() {
        for key in
            ["job", "quota", "module", "pods", "priority", "idle", "again", "duration", "offer", "discount", "limit"]
        {
            assert!(about_job(key).is_some_and(|about| about.ends_with('.')), "{key}");
        }
        assert_eq!(about_job("colour"), None);
    }
}
