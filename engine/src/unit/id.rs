//! Names that senders choose, and the numbers by which the engine finds things at once.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::unit::short::Short;

/// How many bytes a name may have.
pub const NAME_BYTES_MAX: usize = 128;

/// The beginning of a name, with room for so many bytes behind it.
#[must_use]
pub fn with_room(name: &str, room: usize) -> &str {
    let mut end = name.len().min(NAME_BYTES_MAX.saturating_sub(room));
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// A name that is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName(String);

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        let shown = |letter: char| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
        let shown: String = name.chars().take(40).map(shown).collect();
        write!(f, "the name \"{shown}\" must have 1 to {NAME_BYTES_MAX} bytes, none of them a control character")
    }
}

fn check(name: &str) -> Result<(), BadName> {
    let is_good = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    if is_good { Ok(()) } else { Err(BadName(name.to_owned())) }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident($text:ty))*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = NAME_BYTES_MAX)))]
        #[serde(try_from = "String", into = "String")]
        pub struct $name($text);

        impl $name {
            /// The name, if it is acceptable: 1 to 128 bytes without control characters.
            pub fn new(name: &str) -> Result<Self, BadName> {
                check(name).map(|()| Self(name.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_ref()
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;
            fn try_from(name: String) -> Result<Self, BadName> {
                Self::new(&name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

names! {
    /// A job, named by the person who submits it, so that a retry is the same job.
    JobId(Short)
    /// A quota.
    QuotaId(Arc<str>)
    /// A node.
    NodeId(Arc<str>)
    /// A resource group.
    GroupId(Arc<str>)
    /// A command, named by its sender, so that a retry is the same command.
    CommandId(Arc<str>)
    /// An offer of the spot market.
    OfferId(Arc<str>)
    /// A workspace.
    WorkspaceId(Arc<str>)
    /// A person or a program that sends commands.
    UserId(Arc<str>)
}

impl JobId {
    /// The bytes of the name, which are in the order of its text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// How the names of jobs begin that one may not know.
const ELSEWHERE: &str = "another workspace's job";

impl JobId {
    /// The name that stands for a job of another workspace.
    #[must_use]
    pub fn elsewhere(no: JobNo) -> Self {
        if no.is_none() { Self(ELSEWHERE.into()) } else { Self(format!("{ELSEWHERE} {}", no.0).as_str().into()) }
    }

    /// Whether it stands for a job of another workspace; nobody may submit one under it.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.as_str().starts_with(ELSEWHERE)
    }
}

impl CommandId {
    /// The name that stands for a command that one may not know.
    #[must_use]
    pub fn elsewhere(revision: u64) -> Self {
        Self(format!("elsewhere:{revision}").as_str().into())
    }
}

/// A name that is compared often: its first bytes are at hand, and mostly they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spelling<'a> {
    /// The first 16 bytes as a number. No name has a zero byte, so that shorter names come first here as well.
    lead: u128,
    name: &'a [u8],
}

impl<'a> Spelling<'a> {
    /// How a name is spelt.
    #[must_use]
    pub fn of(name: &'a JobId) -> Self {
        Self::of_bytes(name.as_bytes())
    }

    fn of_bytes(name: &'a [u8]) -> Self {
        let mut lead = [0; 16];
        let count = name.len().min(lead.len());
        lead[..count].copy_from_slice(&name[..count]);
        Self { lead: u128::from_be_bytes(lead), name }
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number of nothing: of the quota that a job with a bid does not have. No list is as long.
            pub const NONE: Self = Self(u32::MAX);

            /// [`Self::NONE`], for what is read without a number.
            #[must_use]
            pub fn none() -> Self {
                Self::NONE
            }

            /// Whether it is the number of nothing.
            #[must_use]
            pub fn is_none(&self) -> bool {
                *self == Self::NONE
            }

            /// As an index into the list that this numbers.
            #[must_use]
            pub fn at(self) -> usize {
                self.0 as usize
            }

            /// The number of position `at`. Lists are limited far below 2^32 entries.
            #[must_use]
            pub fn from_index(at: usize) -> Self {
                Self(u32::try_from(at).unwrap_or(u32::MAX))
            }
        }
    )*};
}

numbers! {
    /// A job's place in the state; free again when the job is forgotten.
    JobNo
    /// A quota's place in the state; free again when the quota is deleted.
    QuotaNo
    /// A node's place in the state.
    NodeNo
    /// A resource group's place in the state.
    GroupNo
    /// An offer's place in the state; never used again.
    OfferNo
    /// A domain: resource groups and the root quotas that draw on them.
    DomainNo
    /// A gang's shape, shared by all jobs that ask for the same pods.
    ShapeNo
    /// A class of jobs between which the rules see no difference but the time.
    ClassNo
    /// A family: classes that always get the same answer.
    FamilyNo
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    #[test]
    fn spellings_are_in_the_order_of_their_names() {
        let names = ["", "a", "a-name-of-16-byte", "a-name-of-16-bytes", "a-name-of-16-bytez", "b", "ä", "日本"];
        for (at, name) in names.iter().enumerate() {
            for (other_at, other) in names.iter().enumerate() {
                let (name, other) = (name.as_bytes(), other.as_bytes());
                assert_eq!(
                    Spelling::of_bytes(name).cmp(&Spelling::of_bytes(other)),
                    at.cmp(&other_at),
                    "{name:?} {other:?}"
                );
            }
        }
    }
}
