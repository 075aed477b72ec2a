//! Refusals of the engine in the contract's shape.

use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;

use crate::problem::Problem;

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        // One operation may be several commands; whoever sent it has made no plan.
        let rejection = if let Rejection::InPlan { rejection, .. } = rejection { *rejection } else { rejection };
        let (status, code) = code(&rejection);
        Self::new(status, code, rejection.to_string())
    }
}

fn code(rejection: &Rejection) -> (u16, String) {
    match rejection {
        Rejection::Malformed { .. } | Rejection::UnknownFormat { .. } => (400, "InvalidParameter".to_owned()),
        Rejection::TooLarge { .. } => (413, "RequestTooLarge".to_owned()),
        Rejection::Unknown { noun, .. } => (404, format!("{}NotFound", word(*noun))),
        Rejection::Taken { noun, .. } => (409, format!("{}AlreadyExists", word(*noun))),
        Rejection::MovedOn { .. } | Rejection::SlotDone { .. } => (409, "Conflict".to_owned()),
        Rejection::NotNow { noun, .. } => (409, format!("{}StatusNotSupported", word(*noun))),
        Rejection::Limit { .. } => (400, "LimitExceeded".to_owned()),
        Rejection::OutOfRange { .. } | Rejection::Structure { .. } | Rejection::EmptyJob { .. } => {
            (400, "InvalidParameter".to_owned())
        }
        Rejection::NoSource { .. } => (400, "MissingParameter".to_owned()),
        Rejection::DoesNotAddUp { .. } => (400, "QuotaInsufficient".to_owned()),
        Rejection::Policy { .. } => (400, "InvalidQuotaConfig".to_owned()),
        Rejection::Bid { fault, .. } => (400, pascal(fault.code())),
        Rejection::Offer { fault, .. } => (400, pascal(fault.code())),
        Rejection::InPlan { rejection, .. } => self::code(rejection),
        Rejection::Denied { .. } => (403, "Forbidden".to_owned()),
    }
}

fn word(noun: Noun) -> &'static str {
    match noun {
        Noun::Cluster => "Cluster",
        Noun::Group => "ResourceGroup",
        Noun::Node => "Node",
        Noun::Quota => "Quota",
        Noun::Job => "Job",
        Noun::Dimension => "Dimension",
        Noun::Command => "Command",
        Noun::Offer => "InstanceType",
        Noun::Workspace => "Workspace",
        Noun::Member => "Member",
        Noun::Key => "AccessKey",
    }
}

/// `bid_both_limits` as `BidBothLimits`.
pub(crate) fn pascal(snake: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    snake.split(['_', '-']).map(capital).collect()
}
