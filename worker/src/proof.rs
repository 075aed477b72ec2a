//! What a credential proves: the front finds it out, the object holds it against the keys and roles of its state.

use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;

/// The header by which the object learns of it. It is set by the front and nowhere else.
pub(crate) const PROOF_HEADER: &str = "x-tidegate-proof";

/// What has been proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The secret `ADMIN_KEY` was shown.
    Root,
    /// The secret `MONITOR_KEY` was shown, which is good for figures and for nothing else.
    Monitor,
    /// A secret of an access key was shown when the session began.
    Session { key: KeyId, generation: u32, expires: Timestamp },
    /// Cloudflare Access vouches for somebody.
    Access { user: UserId, administers: bool, expires: Timestamp },
}

impl Proof {
    /// As a header's value and as a socket's tag.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Root => "root".to_owned(),
            Self::Monitor => "monitor".to_owned(),
            Self::Session { key, generation, expires } => format!("session {} {generation} {key}", expires.0),
            Self::Access { user, administers, expires } => format!("access {} {administers} {user}", expires.0),
        }
    }

    /// What [`Self::text`] said.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ' ');
        match (words.next()?, words.next(), words.next(), words.next()) {
            ("root", None, None, None) => Some(Self::Root),
            ("monitor", None, None, None) => Some(Self::Monitor),
            ("session", Some(expires), Some(generation), Some(key)) => Some(Self::Session {
                key: KeyId::new(key)?,
                generation: generation.parse().ok()?,
                expires: Timestamp(expires.parse().ok()?),
            }),
            ("access", Some(expires), Some(administers), Some(user)) => Some(Self::Access {
                user: UserId::new(user).ok()?,
                administers: administers.parse().ok()?,
                expires: Timestamp(expires.parse().ok()?),
            }),
            _ => None,
        }
    }
}
