//! Who may come in. Deny by default: a request without an identity reaches nothing but what is listed as open.
//!
//! For now there is one identity, the administrator, who knows the secret `ADMIN_KEY`. Browsers cannot set a header
//! on a WebSocket, so there the key may come as a subprotocol (`bearer.KEY`, offered beside `tidegate`) or as `?key=`.

use engine::unit::id::UserId;
use protocol::digest::sha256;
use worker::Env;
use worker::Request;

use crate::answer::Problem;
use crate::bindings;
use crate::query::Query;
use crate::routes::Call;
use crate::routes::Route;

/// The name of the administrator in the log.
const ADMINISTRATOR: &str = "administrator";

/// The subprotocol that is chosen when a client offers any.
pub(crate) const SUBPROTOCOL: &str = "tidegate";

/// Who sends a request.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) user: UserId,
}

/// The sender of a request for a route; none where nobody needs to be known.
pub(crate) fn admit(request: &Request, route: &Route, env: &Env) -> Result<Option<Sender>, Problem> {
    let offered = match route {
        Route::Health => return Ok(None),
        // Only the clock, which does not come through this gate.
        Route::Cluster(_, Call::Slot(_)) => return Err(Problem::NoRoute),
        Route::Cluster(_, Call::Events) => socket_keys(request)?,
        Route::Clusters | Route::Cluster(..) => bearer(request)?.into_iter().collect(),
    };
    let expected = bindings::admin_key(env);
    if expected.is_empty() || !offered.iter().any(|key| is_equal(key, &expected)) {
        return Err(Problem::Unauthorised);
    }
    let user = UserId::new(ADMINISTRATOR).map_err(|error| Problem::Internal(error.to_string()))?;
    Ok(Some(Sender { user }))
}

fn bearer(request: &Request) -> Result<Option<String>, Problem> {
    let header = request.headers().get("authorization")?;
    Ok(header.and_then(|value| value.strip_prefix("Bearer ").map(|key| key.trim().to_owned())))
}

fn socket_keys(request: &Request) -> Result<Vec<String>, Problem> {
    let mut keys: Vec<String> = bearer(request)?.into_iter().collect();
    keys.extend(Query::of(request)?.text("key"));
    let protocols = request.headers().get("sec-websocket-protocol")?.unwrap_or_default();
    keys.extend(
        protocols.split(',').map(str::trim).map(|word| word.strip_prefix("bearer.").unwrap_or(word).to_owned()),
    );
    Ok(keys)
}

/// Compares digests without stopping at the first difference, so that the time taken tells nothing of the key.
fn is_equal(offered: &str, expected: &str) -> bool {
    let pairs = sha256(offered.as_bytes()).into_bytes().into_iter().zip(sha256(expected.as_bytes()).into_bytes());
    pairs.fold(0u8, |difference, (a, b)| difference | (a ^ b)) == 0
}
