//! Reading a request's body, up to a limit and not beyond.

use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use futures_util::StreamExt;
use worker::Request;

use crate::answer::Problem;

/// How many bytes a command may have.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How much of a body that is too large is read and dropped: who is still sending when the refusal comes may see nothing
/// but a closed connection.
const DROPPED_BYTES_MAX: usize = 16 * BODY_BYTES_MAX;

/// The body, if it is not too large. It is never held beyond the limit.
pub(crate) async fn limited(request: &mut Request) -> Result<Vec<u8>, Problem> {
    let mut body = Vec::new();
    if request.inner().body().is_none() {
        return Ok(body);
    }
    let mut bytes = 0;
    let mut chunks = request.stream()?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        bytes += chunk.len();
        if bytes <= BODY_BYTES_MAX {
            body.extend(chunk);
        } else if bytes > DROPPED_BYTES_MAX {
            break;
        }
    }
    if bytes <= BODY_BYTES_MAX { Ok(body) } else { Err(too_large(bytes)) }
}

/// A body as a command. What is cut off, nested too deeply or has unknown fields is refused with line and column.
pub(crate) fn envelope(bytes: &[u8]) -> Result<Envelope, Rejection> {
    serde_json::from_slice(bytes).map_err(|error| Rejection::Malformed { reason: error.to_string() })
}

fn too_large(bytes: usize) -> Problem {
    Rejection::TooLarge { bytes: bytes as u64, limit: BODY_BYTES_MAX as u64 }.into()
}
