//! Sockets on which is told what happens.

use engine::message::rejection::Rejection;
use worker::Request;
use worker::Response;
use worker::WebSocketPair;

use crate::answer::Problem;
use crate::answer::Reply;
use crate::gate::SUBPROTOCOL;
use crate::object::core::Core;

/// How many sockets one session may have open, and one key of the service: each takes memory, and a text for each commit.
const SOCKETS_MAX: usize = 50;

/// Opens a socket with these tags, of which the first says who has proved to be whom.
pub(super) fn socket(core: &Core, request: &Request, tags: &[&str]) -> Reply {
    if request.headers().get("upgrade")?.is_none_or(|value| !value.eq_ignore_ascii_case("websocket")) {
        return Err(Problem::NoUpgrade);
    }
    let held = tags.first().map_or(0, |tag| core.state.get_websockets_with_tag(tag).len());
    if held >= SOCKETS_MAX {
        let what = "open sockets of this session (close some of them)".to_owned();
        return Err(Rejection::Limit { what, count: held as u64 + 1, limit: SOCKETS_MAX as u64 }.into());
    }
    let pair = WebSocketPair::new()?;
    core.state.accept_websocket_with_tags(&pair.server, tags);
    let mut response = Response::from_websocket(pair.client)?;
    let offered = request.headers().get("sec-websocket-protocol")?.unwrap_or_default();
    if offered.split(',').any(|word| word.trim() == SUBPROTOCOL) {
        response.headers_mut().set("sec-websocket-protocol", SUBPROTOCOL)?;
    }
    Ok(response)
}
