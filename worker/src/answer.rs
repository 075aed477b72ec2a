//! Answers: what is refused is refused in one form, `{"code", "message", "rejection"}`, and every status is chosen here.
//!
//! `rejection` is the engine's own value where the engine refused, else null. What is our fault is logged in full and
//! shown as "internal".

use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::unit::time::Millis;
use engine::workspace::key::KeyId;
use protocol::agents::Unheard;
use protocol::agents::contact::Refused;
use protocol::answer::Refusal;
use protocol::fault::Failure;
use protocol::fault::Fault;
use protocol::fault::Lost;
use protocol::fault::moment;
use protocol::gap::Gap;
use protocol::name::ClusterName;
use protocol::route::Verb;
use worker::Headers;
use worker::Response;
use worker::ResponseBuilder;
use worker::console_error;

/// In which an answer says which revision it shows.
pub(crate) const REVISION_HEADER: &str = "x-tidegate-revision";
/// Browsers take an answer for what it says it is.
const NO_GUESSING: (&str, &str) = ("x-content-type-options", "nosniff");

/// The status of what somebody may not do.
const DENIED: u16 = 403;

/// The status with which a request becomes a socket.
const SWITCHED: u16 = 101;

/// When who is refused since the cluster is being restored may try again, in seconds.
const RESTORING_RETRY_S: &str = "5";

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The engine refused.
    Rejected(Rejection),
    /// No credential, or one that does not serve.
    Unauthorised,
    /// The secret is that of a key that was revoked.
    Revoked(KeyId),
    /// Keys and sessions need a master secret.
    NoMaster,
    /// The administrator's key is too easily guessed.
    ShortAdminKey,
    /// Too many requests; how long to wait.
    TooMany(Millis),
    /// Nothing has this path.
    NoRoute,
    /// The path has another method.
    WrongMethod(Verb),
    /// No cluster can have this name.
    BadCluster,
    /// A query parameter cannot be read.
    BadQuery(&'static str),
    /// A WebSocket was expected.
    NoUpgrade,
    /// So far back nothing can be read any more.
    Gone,
    /// So far back nothing is kept: what is begins with this revision, since these entries are missing.
    NotKept(u64, Gap),
    /// A revision that there has never been was wanted.
    NotYet { wanted: u64, here: u64 },
    /// The log has something that must not be replaced by accident.
    HasLog(String),
    /// What was restored is older than what readers have seen.
    WouldGoBack { shown: u64, restored: u64 },
    /// The cluster is being restored.
    Restoring(String),
    /// What KV has of a cluster cannot be restored; where, and why not.
    Damaged(String),
    /// KV does not show all that is to be restored, or not yet.
    Incomplete(String),
    /// The storage has lost the cluster that KV shows.
    StorageLost(Lost),
    /// The cluster was deleted; with what to do.
    Deleted(String),
    /// What a deletion costs has not been confirmed, and what it is.
    Unconfirmed(String),
    /// An agent says what cannot be taken.
    Agent(Refused),
    /// Nothing is kept of what the job has printed.
    NoLog(String),
    /// What a job prints cannot be had while its agent does not listen.
    AgentAway(String),
    /// What a job prints has not come from its agent in time.
    AgentQuiet(String),
    /// No run on the agent's nodes executes this.
    NoScript,
    /// Only agents may do this.
    NoAgent,
    /// The agent of this name may do nothing else.
    OnlyAgent(String),
    /// It is the agent of this name, and no other.
    OtherAgent(String),
    /// Our fault, but it may be gone soon.
    Unavailable(String),
    /// Our fault.
    Internal(String),
}

pub(crate) type Reply = Result<Response, Problem>;

/// The status and the name of a rejection.
fn of_rejection(rejection: &Rejection) -> (u16, &'static str) {
    match rejection {
        Rejection::Malformed { .. } => (400, "malformed"),
        Rejection::UnknownFormat { .. } => (400, "unknown_format"),
        Rejection::TooLarge { .. } => (413, "too_large"),
        Rejection::Denied { .. } => (403, "denied"),
        Rejection::Unknown { .. } => (404, "unknown"),
        Rejection::Taken { .. } => (409, "taken"),
        Rejection::MovedOn { .. } => (409, "moved_on"),
        Rejection::NotNow { .. } => (409, "not_now"),
        Rejection::InPlan { rejection, .. } => of_rejection(rejection),
        Rejection::SlotDone { .. } => (409, "slot_done"),
        Rejection::Limit { .. } => (422, "limit"),
        Rejection::OutOfRange { .. } => (422, "out_of_range"),
        Rejection::DoesNotAddUp { .. } => (422, "does_not_add_up"),
        Rejection::Structure { .. } => (422, "structure"),
        Rejection::Policy { .. } => (422, "policy"),
        Rejection::EmptyJob { .. } => (422, "empty_job"),
        Rejection::NoSource { .. } => (422, "no_source"),
        Rejection::Bid { fault, .. } => (422, fault.code()),
        Rejection::Offer { fault, .. } => (422, fault.code()),
    }
}

impl Problem {
    /// What kind of refusal it is, for programs.
    pub(crate) fn code(&self) -> &'static str {
        self.describe().1
    }

    /// What people read.
    pub(crate) fn sentence(&self) -> String {
        self.describe().2
    }

    /// Whether somebody may not do what they asked for.
    pub(crate) fn is_denial(&self) -> bool {
        self.describe().0 == DENIED
    }

    fn describe(&self) -> (u16, &'static str, String) {
        match self {
            Self::Rejected(rejection) => {
                let (status, code) = of_rejection(rejection);
                (status, code, rejection.to_string())
            }
            Self::Unauthorised => (
                401,
                "unauthorised",
                "send a session's token as `Authorization: Bearer TOKEN`; see sessions".to_owned(),
            ),
            Self::Revoked(key) => (
                401,
                "revoked",
                format!("the key {key} was revoked; an administrator of the cluster makes another one"),
            ),
            Self::NoMaster => {
                (503, "no_master", "the secret MASTER_SECRET is not set, or has less than 32 bytes".to_owned())
            }
            Self::ShortAdminKey => {
                (503, "short_admin_key", "the secret ADMIN_KEY has less than 32 bytes; set a longer one".to_owned())
            }
            Self::TooMany(wait) => (429, "too_many", format!("too many requests; wait {} ms", wait.0)),
            Self::NoRoute => {
                (404, "no_route", "nothing is here; see /health and /v1/clusters/{cluster}/...".to_owned())
            }
            Self::WrongMethod(allowed) => (405, "wrong_method", format!("this path only knows {}", allowed.as_str())),
            Self::BadCluster => {
                (400, "bad_cluster", "a cluster's name has 1 to 63 lower-case letters, digits and hyphens".to_owned())
            }
            Self::BadQuery(name) => (400, "bad_query", format!("the parameter {name} cannot be read")),
            Self::NoUpgrade => (426, "no_upgrade", "this is a WebSocket; send `Upgrade: websocket`".to_owned()),
            Self::Gone => (410, "gone", "so far back is not kept at hand; start from the snapshot".to_owned()),
            Self::NotKept(since, gap) => (410, "not_kept", format!("{gap}; what is kept begins with revision {since}")),
            Self::NotYet { wanted, here } => {
                (409, "not_yet", format!("revision {wanted} is wanted, and the cluster is at {here}"))
            }
            Self::HasLog(here) => {
                (409, "has_log", format!("the cluster is at {here}; repeat with force=true to replace that"))
            }
            Self::WouldGoBack { shown, restored } => {
                let message = format!(
                    "the cluster has been at revision {shown}, and only {restored} could be restored; restore it under another name"
                );
                (409, "would_go_back", message)
            }
            Self::Restoring(progress) => (503, "restoring", progress.clone()),
            Self::Damaged(what) => (
                409,
                "damaged",
                format!("what KV has of the cluster cannot be restored, and nothing was changed: {what}"),
            ),
            Self::Incomplete(what) => (503, "incomplete", format!("nothing was changed: {what}")),
            Self::StorageLost(Lost { revision, published_at }) => {
                let message = format!(
                    "the cluster's storage has no log, and KV shows the cluster at revision {revision}, published at \
                     {}: restore it (POST restore), or say that this is a new one (send create_cluster with \
                     ?anew={revision}; what KV shows can still be restored under another name), or delete it (GET deletion \
                     says what that costs)",
                    moment(*published_at)
                );
                (409, "storage_lost", message)
            }
            Self::Deleted(what) => (410, "deleted", what.clone()),
            Self::Unconfirmed(cost) => (409, "unconfirmed", cost.clone()),
            Self::Agent(refused) => {
                let status = if matches!(refused, Refused::Message(_)) { 400 } else { 409 };
                (status, refused.code(), refused.to_string())
            }
            Self::NoLog(job) => (
                404,
                "no_log",
                format!("nothing is kept of what job {job} has printed; its end is, once a run has ended"),
            ),
            Self::AgentAway(agent) => (
                409,
                "agent_away",
                format!("agent {agent} does not listen now; what the job prints is shown when it does, or at its end"),
            ),
            Self::AgentQuiet(agent) => {
                (503, "agent_quiet", format!("agent {agent} has not sent what the job prints yet; ask again"))
            }
            Self::NoScript => {
                (404, "no_script", "no run on this agent's nodes has a script with this digest; sync again".to_owned())
            }
            Self::NoAgent => {
                (403, "no_agent", "only an agent may do this, with its own key; see tidegate agent join".to_owned())
            }
            Self::OnlyAgent(name) => {
                (403, "only_agent", format!("the key of agent {name} is good for what agents do, and for nothing else"))
            }
            Self::OtherAgent(name) => {
                (403, "other_agent", format!("this is the key of agent {name}; each agent has a key of its own"))
            }
            Self::Unavailable(_) => {
                (503, "unavailable", "a store did not answer as it should; send the same again".to_owned())
            }
            Self::Internal(_) => (500, "internal", "something failed here; sending the same again is safe".to_owned()),
        }
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        let text = fault.to_string();
        match fault {
            Fault::Log { .. } | Fault::Kv { .. } | Fault::Missing { .. } | Fault::Unfounded => Self::Unavailable(text),
            Fault::Restoring(_) => Self::Restoring(text),
            Fault::Deleted => Self::Deleted(text),
            Fault::Damaged { .. } => Self::Internal(text),
        }
    }
}

/// Why a restore failed, for who administers the cluster: the object, and what is wrong with it.
pub(crate) fn of_restore(fault: Fault) -> Problem {
    let text = fault.to_string();
    match fault {
        Fault::Damaged { .. } => Problem::Damaged(text),
        Fault::Missing { .. } => Problem::Incomplete(text),
        Fault::Log { .. } | Fault::Kv { .. } | Fault::Unfounded | Fault::Restoring(_) | Fault::Deleted => fault.into(),
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(rejection) => rejection.into(),
            Failure::Lost(lost) => Self::StorageLost(lost),
            Failure::Broken(fault) => fault.into(),
        }
    }
}

impl From<Unheard> for Problem {
    fn from(unheard: Unheard) -> Self {
        match unheard {
            Unheard::Refused(refused) => Self::Agent(refused),
            Unheard::Failed(failure) => failure.into(),
        }
    }
}

impl From<worker::Error> for Problem {
    fn from(error: worker::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

/// The response, whatever became of the request.
pub(crate) fn finish(reply: Reply) -> worker::Result<Response> {
    let problem = match reply {
        Ok(response) => return Ok(response),
        Err(problem) => problem,
    };
    if let Problem::Internal(reason)
    | Problem::Unavailable(reason)
    | Problem::Damaged(reason)
    | Problem::Incomplete(reason) = &problem
    {
        console_error!("{reason}");
    }
    let (status, code, message) = problem.describe();
    let headers = Headers::new();
    if let Problem::TooMany(wait) = &problem {
        headers.set("retry-after", &(wait.0 / 1_000 + 1).to_string())?;
    }
    if let Problem::Restoring(_) = &problem {
        headers.set("retry-after", RESTORING_RETRY_S)?;
    }
    if let Problem::WrongMethod(allowed) = &problem {
        headers.set("allow", allowed.as_str())?;
    }
    if matches!(problem, Problem::Unauthorised | Problem::Revoked(_)) {
        headers.set("www-authenticate", "Bearer realm=\"tidegate\"")?;
    }
    headers.set("cache-control", "no-store")?;
    let rejection = if let Problem::Rejected(rejection) = problem { Some(rejection) } else { None };
    let refusal = Refusal { code: code.into(), message, rejection };
    ResponseBuilder::new().with_headers(headers).with_status(status).from_json(&refusal)
}

/// What browsers are told of each answer: it is no page, nobody shows it in theirs, and it comes encrypted. The console's
/// pages have theirs from a file.
const FOR_BROWSERS: [(&str, &str); 4] = [
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    NO_GUESSING,
    ("referrer-policy", "no-referrer"),
    ("strict-transport-security", "max-age=31536000"),
];

/// The response with that. A socket has no headers that anybody reads.
pub(crate) fn for_browsers(response: Response) -> Response {
    if response.status_code() == SWITCHED {
        return response;
    }
    let headers = response.headers().clone();
    // These names and values are headers.
    let is_set = FOR_BROWSERS.iter().all(|(name, value)| headers.set(name, value).is_ok());
    if is_set { response.with_headers(headers) } else { response }
}

/// Where an answer's data comes from, and how old it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) revision: u64,
    pub(crate) age_ms: i64,
    pub(crate) source: &'static str,
}

impl Origin {
    /// Data of the cluster's object, which is never old.
    pub(crate) fn object(revision: u64) -> Self {
        Self { revision, age_ms: 0, source: "object" }
    }
}

/// JSON text with its origin in the headers.
pub(crate) fn json_text(text: String, origin: Origin) -> Reply {
    typed(text, "application/json", origin)
}

/// Text of a type with its origin in the headers.
pub(crate) fn typed(text: String, content_type: &str, origin: Origin) -> Reply {
    let Origin { revision, age_ms, source } = origin;
    let headers = Headers::new();
    headers.set("content-type", content_type)?;
    headers.set("cache-control", "no-store")?;
    headers.set(REVISION_HEADER, &revision.to_string())?;
    headers.set("x-tidegate-age-ms", &age_ms.to_string())?;
    headers.set("x-tidegate-source", source)?;
    Ok(ResponseBuilder::new().with_headers(headers).fixed(text.into_bytes()))
}

/// The refusal of a name under which there is no cluster.
pub(crate) fn unknown_cluster(cluster: &ClusterName) -> Problem {
    Rejection::Unknown { noun: Noun::Cluster, name: cluster.to_string() }.into()
}
