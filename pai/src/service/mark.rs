//! What makes a request different from all others.

use engine::unit::time::Timestamp;
use sha2::Digest;
use sha2::Sha256;

use crate::problem::RequestId;
use crate::request::Request;

/// What makes a request different from all others: its nonce, or where it has none, when it came and what it says.
/// Names that are made for it follow from this, and so does the name of the request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark([u8; 32]);

impl Mark {
    /// The mark of a request.
    #[must_use]
    pub fn of(request: &Request, now: Timestamp) -> Self {
        let mut digest = Sha256::new();
        digest.update(now.0.to_be_bytes());
        digest.update(request.target.as_bytes());
        for name in ["authorization", "x-acs-signature-nonce", "x-acs-date", "x-acs-action"] {
            for value in request.values(name) {
                digest.update(value.as_bytes());
            }
            digest.update([0]);
        }
        digest.update(request.body);
        Self(digest.finalize().into())
    }

    /// The name of the request.
    #[must_use]
    pub fn request_id(&self) -> RequestId {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0[..16]);
        RequestId::new(bytes)
    }

    /// A digest that goes with a purpose.
    pub(crate) fn derived(&self, purpose: &str) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(purpose.as_bytes());
        digest.finalize().into()
    }
}
