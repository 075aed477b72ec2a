//! Who a request says it is from, and whether that is proved. Deny by default: what proves nothing reaches nothing but
//! what is listed as open.
//!
//! | credential | proves |
//! |---|---|
//! | `ADMIN_KEY` as a bearer token | an administrator of every cluster: for a beginning, and for recovery |
//! | `MONITOR_KEY` as a bearer token | somebody who may read the metrics and the health of every cluster, and nothing else |
//! | a session's token as a bearer token | the owner of an access key, as long as the key's secret serves |
//! | a token of Cloudflare Access | somebody whom the team vouches for |
//!
//! Requests to PAI's interface are signed instead. Browsers cannot set a header on a WebSocket, so there the token may
//! come as a subprotocol (`bearer.TOKEN`, offered beside `tidegate`). It is never in an address, which is written to logs.

use std::cell::RefCell;

use engine::workspace::key::KeyId;
use pai::access_token::AccessToken;
use pai::access_token::Expected;
use pai::session::Session;
use protocol::digest::sha256;
use protocol::incident::Kind;
use protocol::name::ClusterName;
use protocol::rate;
use protocol::rate::Buckets;
use protocol::rate::FAILURES;
use protocol::route::Call;
use worker::Env;
use worker::Request;
use worker::console_error;

use crate::answer::Problem;
use crate::bindings;
use crate::proof::Proof;
use crate::registry;
use crate::routes::Asked;
use crate::team;

/// The subprotocol that is chosen when a client offers any.
pub(crate) const SUBPROTOCOL: &str = "tidegate";

/// The header by which the object learns which network a request comes from. It is set by the front and nowhere else.
pub(crate) const NETWORK_HEADER: &str = "x-tidegate-network";

/// Where the runtime says which address a request comes from.
const ADDRESS_HEADER: &str = "cf-connecting-ip";

/// Where Cloudflare Access puts its token.
const ACCESS_HEADER: &str = "cf-access-jwt-assertion";

/// What a request proves.
pub(crate) async fn prove(request: &Request, asked: &Asked, env: &Env) -> Result<Proof, Problem> {
    let offered =
        if asked.route.call == Call::Events { socket_tokens(request)? } else { bearer(request)?.into_iter().collect() };
    let network = network(request)?;
    for token in &offered {
        let proof = token_proof(token, network.as_deref(), env)?;
        if proof.is_none() && !Session::is_token(token) {
            let noted = registry::note(env, Kind::WrongKey, network.as_deref().unwrap_or_default(), "").await;
            noted.unwrap_or_else(|problem| console_error!("a wrong key is not noted: {problem:?}"));
        }
        if let Some(proof) = proof.filter(|proof| concerns(proof, asked)) {
            return Ok(proof);
        }
    }
    if let Some(token) = request.headers().get(ACCESS_HEADER)? {
        check_origin(request)?;
        return access(&token, env).await;
    }
    Err(Problem::Unauthorised)
}

fn token_proof(token: &str, network: Option<&str>, env: &Env) -> Result<Option<Proof>, Problem> {
    if Session::is_token(token) {
        let session = Session::read(&bindings::master(env)?, token, bindings::now());
        return Ok(session.map(|Session { key, generation, expires }| Proof::Session { key, generation, expires }));
    }
    let (admin, monitor) = (bindings::admin_key(env)?, bindings::monitor_key(env));
    let is_right = |expected: &str| !expected.is_empty() && is_equal(token, expected);
    guess(network, || if is_right(&admin) { Some(Proof::Root) } else { is_right(&monitor).then_some(Proof::Monitor) })
}

thread_local! {
    /// How many wrong administrator's keys each network shows to this instance.
    static GUESSES: RefCell<Buckets<String>> = RefCell::new(Buckets::new(FAILURES));
}

/// Looks at what may be a key of the service. Who shows wrong ones is told to wait, by their network, which keeps
/// nobody there from a session; where the runtime does not tell the network, nobody is held to account for others.
fn guess(network: Option<&str>, proof: impl FnOnce() -> Option<Proof>) -> Result<Option<Proof>, Problem> {
    let Some(network) = network else { return Ok(proof()) };
    let now = bindings::now();
    GUESSES.with_borrow_mut(|guesses| {
        guesses.check(&network.to_owned(), now).map_err(Problem::TooMany)?;
        let proof = proof();
        if proof.is_none() {
            guesses.take(network.to_owned(), now).map_err(Problem::TooMany)?;
        }
        Ok(proof)
    })
}

/// A key belongs to one cluster, and so do its sessions: a copy of that cluster has its keys in its state as well. That of
/// a monitor belongs to figures.
fn concerns(proof: &Proof, asked: &Asked) -> bool {
    match (proof, &asked.cluster) {
        (Proof::Session { key, .. }, Some(cluster)) => is_of(key, cluster),
        (Proof::Monitor, _) => matches!(asked.route.call, Call::Metrics | Call::Condition),
        (Proof::Root | Proof::Session { .. } | Proof::Access { .. }, _) => true,
    }
}

/// The network that a request comes from, if the runtime says so.
pub(crate) fn network(request: &Request) -> worker::Result<Option<String>> {
    Ok(request.headers().get(ADDRESS_HEADER)?.map(|address| rate::network(&address)))
}

/// A browser adds the token of Access by itself, so another site could make it send anything.
fn check_origin(request: &Request) -> Result<(), Problem> {
    let Some(origin) = request.headers().get("origin")? else { return Ok(()) };
    let is_own = request.url()?.origin().ascii_serialization() == origin;
    if is_own { Ok(()) } else { Err(Problem::Unauthorised) }
}

async fn access(token: &str, env: &Env) -> Result<Proof, Problem> {
    let (issuer, audience) = (bindings::variable(env, "ACCESS_TEAM"), bindings::variable(env, "ACCESS_AUDIENCE"));
    if issuer.is_empty() || audience.is_empty() {
        return Err(Problem::Unauthorised);
    }
    let token = AccessToken::read(token).ok_or(Problem::Unauthorised)?;
    let expected = Expected { issuer: &issuer, audience: &audience };
    let (user, expires) = token.user(expected, bindings::now()).ok_or(Problem::Unauthorised)?;
    if !team::has_signed(env, &issuer, &token).await? {
        return Err(Problem::Unauthorised);
    }
    let administrators = bindings::variable(env, "ACCESS_ADMINISTRATORS");
    let administers = administrators.split(',').any(|one| one.trim() == user.as_str());
    Ok(Proof::Access { user, administers, expires })
}

fn bearer(request: &Request) -> Result<Option<String>, Problem> {
    let header = request.headers().get("authorization")?;
    Ok(header.and_then(|value| value.strip_prefix("Bearer ").map(|key| key.trim().to_owned())))
}

fn socket_tokens(request: &Request) -> Result<Vec<String>, Problem> {
    let mut tokens: Vec<String> = bearer(request)?.into_iter().collect();
    let protocols = request.headers().get("sec-websocket-protocol")?.unwrap_or_default();
    // The name that is chosen is offered beside the token, and guesses nothing.
    let words = protocols.split(',').map(str::trim).filter(|word| *word != SUBPROTOCOL && !word.is_empty());
    tokens.extend(words.map(|word| word.strip_prefix("bearer.").unwrap_or(word).to_owned()));
    Ok(tokens)
}

/// Whether a key is one of a cluster: its name begins with the cluster's.
pub(crate) fn is_of(key: &KeyId, cluster: &ClusterName) -> bool {
    key.as_str().split_once('.').is_some_and(|(name, _)| name == cluster.as_str())
}

/// Compares digests without stopping at the first difference, so that the time taken tells nothing of the key.
fn is_equal(offered: &str, expected: &str) -> bool {
    let pairs = sha256(offered.as_bytes()).into_bytes().into_iter().zip(sha256(expected.as_bytes()).into_bytes());
    pairs.fold(0u8, |difference, (a, b)| difference | (a ^ b)) == 0
}
