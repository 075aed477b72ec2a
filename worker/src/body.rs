//! Reading a request's body, up to a limit and not beyond.

use engine::message::MESSAGE_BYTES_MAX;
use engine::message::rejection::Rejection;
use futures_util::StreamExt;
use worker::Request;

use crate::answer::Problem;

/// How much of a body that is too large is read and dropped: who is still sending when the refusal comes may see nothing
/// but a closed connection.
const DROPPED_BYTES_MAX: usize = 16 * MESSAGE_BYTES_MAX;

/// The body of a message, if it is not too large.
pub(crate) async fn limited(request: &mut Request) -> Result<Vec<u8>, Problem> {
    within(request, MESSAGE_BYTES_MAX).await
}

/// The body, if it has no more than so many bytes. It is never held beyond the limit.
pub(crate) async fn within(request: &mut Request, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut body = Vec::new();
    if request.inner().body().is_none() {
        return Ok(body);
    }
    let mut bytes = 0;
    let mut chunks = request.stream()?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        bytes += chunk.len();
        if bytes <= limit {
            body.extend(chunk);
        } else if bytes > DROPPED_BYTES_MAX {
            break;
        }
    }
    if bytes <= limit { Ok(body) } else { Err(too_large(bytes, limit)) }
}

/// Reads and drops a body that was not read: a connection on which an answer goes before the request has arrived is
/// closed, and the next request that its client sends on it is lost.
pub(crate) async fn drop_unread(request: &mut Request) {
    if request.inner().body_used() || request.inner().body().is_none() {
        return;
    }
    let Ok(mut chunks) = request.stream() else { return };
    let mut bytes = 0;
    while let Some(Ok(chunk)) = chunks.next().await {
        bytes += chunk.len();
        if bytes > DROPPED_BYTES_MAX {
            return;
        }
    }
}

fn too_large(bytes: usize, limit: usize) -> Problem {
    Rejection::TooLarge { bytes: bytes as u64, limit: limit as u64 }.into()
}
