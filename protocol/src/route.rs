//! Every route of the native surface, in one table. The Worker answers by it, and the document of the surface is made
//! from it: what has no row here is not there.
//!
//! What a route is for, what it answers and how it refuses stands in the document's own crate, which has an arm for each
//! [`Call`]: words for readers are none of the Worker's business.

use engine::workspace::may::Operation;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Whether the Worker runs.
    Health,
    /// The names of all clusters.
    Clusters,
    /// How a cluster does, and why.
    Condition,
    /// To decide an envelope's command.
    Command,
    /// The state.
    Snapshot,
    /// What has been published.
    Head,
    /// The entries after a revision.
    Entries,
    /// The newest published snapshot before a moment.
    Past,
    /// The newest entries that contain a round.
    Rounds,
    /// The entry that led to a revision.
    RoundAt,
    /// Why a job waits.
    Why,
    /// The end of what a job has printed.
    Log,
    /// What should have been reported of jobs that really run.
    Overdue,
    /// The agents beside the machines.
    Agents,
    /// Something of the spot market.
    Market(MarketCall),
    /// A session's token.
    Session,
    /// Who the sender is.
    Me,
    /// Access keys.
    Keys,
    /// Who sent which command when.
    Audit,
    /// Figures for Prometheus.
    Metrics,
    /// What happened beside the log: refusals, sign-ins, restores.
    Incidents,
    /// The same beside the logs of all clusters.
    ServiceIncidents,
    /// What deleting the cluster costs, or how far that is.
    Deletion,
    /// To delete the cluster.
    Delete,
    /// To end the session with which this is asked.
    SignOut,
    /// Sequence, revision and digest of the object's state.
    Hash,
    /// A WebSocket on which every new entry is pushed.
    Events,
    /// To rebuild the cluster from KV alone.
    Restore,
    /// An object that the cluster's head names, or one of its pages.
    Object,
    /// To put an object of a backup where a restore finds it.
    Import,
    /// To publish what is committed.
    Flush,
    /// The round of a slot.
    Slot,
    /// Something of an agent's.
    Agent(AgentCall),
}

/// What an agent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentCall {
    /// To be welcomed.
    Hello,
    /// To tell everything and to be told everything.
    Sync,
    /// What a run executes.
    Script,
    /// To tell the end of what a run has printed.
    Tail,
    /// To tell what a run prints while somebody watches.
    Output,
    /// A WebSocket on which it is told to ask.
    Bell,
}

/// What a request asks of the spot market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarketCall {
    /// The offers as they stand.
    Offers,
    /// How an offer's price and inventory went.
    History,
    /// Bills.
    Bills,
}

/// A request's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Changes nothing.
    Get,
    /// May change something.
    Post,
}

impl Verb {
    /// As it is written in a request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody, and nobody has to be known.
    Anybody,
    /// Everybody who is known; whether they may send this command is judged where it is decided.
    Known,
    /// Those who may see the job that is asked about.
    SeesJob,
    /// Those who have this right in the cluster.
    May(Operation),
    /// The agent that the path names.
    Agent,
    /// The clock alone, which does not come through the front.
    Clock,
}

/// Where an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The front knows it.
    Front,
    /// What has been published, for those who may see everything; the cluster's object where that cannot answer. Of the
    /// past it says what is newest ([`crate::newest`]), and the front reads the rest.
    Published,
    /// The cluster's object.
    Object,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// What it asks for.
    pub call: Call,
    /// Its method.
    pub verb: Verb,
    /// Its path, with the names of parts in braces: a cluster, and at most one more.
    pub path: &'static str,
    /// Who may ask.
    pub who: Who,
    /// Where the answer is read.
    pub place: Place,
    /// The parameters after the question mark; others are not looked at.
    pub query: &'static [&'static str],
}

const SEE: Who = Who::May(Operation::SeeAmounts);
/// Who was in which workspace then, nobody who sees only some of them can be told safely.
const SEE_LOG: Who = Who::May(Operation::SeeLog);
const RUN: Who = Who::May(Operation::RunCluster);

const fn get(call: Call, path: &'static str, who: Who, place: Place) -> Route {
    Route { call, verb: Verb::Get, path, who, place, query: &[] }
}

const fn post(call: Call, path: &'static str, who: Who) -> Route {
    Route { call, verb: Verb::Post, path, who, place: Place::Object, query: &[] }
}

impl Route {
    const fn with(self, query: &'static [&'static str]) -> Self {
        Self { query, ..self }
    }

    const fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

/// All of them.
pub const ROUTES: [Route; 40] = [
    get(Call::Health, "/health", Who::Anybody, Place::Front),
    get(Call::Clusters, "/v1/clusters", Who::Known, Place::Front),
    post(Call::Command, "/v1/clusters/{cluster}/commands", Who::Known).with(&["anew"]),
    get(Call::Snapshot, "/v1/clusters/{cluster}/snapshot", SEE, Place::Published).with(&["min_revision"]),
    get(Call::Head, "/v1/clusters/{cluster}/head", SEE_LOG, Place::Published).with(&["min_revision"]),
    get(Call::Entries, "/v1/clusters/{cluster}/entries", SEE, Place::Published).with(&[
        "after",
        "count",
        "min_revision",
    ]),
    get(Call::Past, "/v1/clusters/{cluster}/past", SEE_LOG, Place::Published).with(&[
        "time",
        "revision",
        "min_revision",
    ]),
    get(Call::Rounds, "/v1/clusters/{cluster}/rounds", SEE, Place::Published).with(&["count", "min_revision"]),
    get(Call::RoundAt, "/v1/clusters/{cluster}/rounds/{revision}", SEE, Place::Published).with(&["min_revision"]),
    get(Call::Why, "/v1/clusters/{cluster}/jobs/{job}/why", Who::SeesJob, Place::Object),
    get(Call::Log, "/v1/clusters/{cluster}/jobs/{job}/log", Who::SeesJob, Place::Object).with(&["after"]),
    get(Call::Overdue, "/v1/clusters/{cluster}/overdue", SEE, Place::Object),
    get(Call::Agents, "/v1/clusters/{cluster}/agents", SEE, Place::Object),
    get(Call::Market(MarketCall::Offers), "/v1/clusters/{cluster}/offers", SEE, Place::Published)
        .with(&["min_revision"]),
    get(Call::Market(MarketCall::History), "/v1/clusters/{cluster}/offers/{offer}/history", SEE, Place::Published)
        .with(&["before", "min_revision"]),
    get(Call::Market(MarketCall::Bills), "/v1/clusters/{cluster}/bills", SEE, Place::Published).with(&[
        "by",
        "format",
        "before",
        "min_revision",
    ]),
    post(Call::Session, "/v1/clusters/{cluster}/sessions", Who::Anybody),
    post(Call::SignOut, "/v1/clusters/{cluster}/sessions/end", Who::Known),
    get(Call::Me, "/v1/clusters/{cluster}/me", Who::Known, Place::Object),
    get(Call::Keys, "/v1/clusters/{cluster}/keys", Who::Known, Place::Object),
    get(Call::Audit, "/v1/clusters/{cluster}/audit", SEE, Place::Object).with(&["count", "before"]),
    get(Call::Incidents, "/v1/clusters/{cluster}/incidents", Who::Known, Place::Object).with(&["count", "before"]),
    get(Call::ServiceIncidents, "/v1/incidents", Who::Known, Place::Front).with(&["count", "before"]),
    get(Call::Metrics, "/v1/clusters/{cluster}/metrics", SEE, Place::Object),
    get(Call::Condition, "/v1/clusters/{cluster}/health", SEE_LOG, Place::Object),
    get(Call::Hash, "/v1/clusters/{cluster}/hash", SEE_LOG, Place::Object),
    // Browsers cannot set a header on a WebSocket, so the credential may come as a subprotocol.
    get(Call::Events, "/v1/clusters/{cluster}/events", SEE, Place::Object),
    post(Call::Restore, "/v1/clusters/{cluster}/restore", RUN).with(&["from", "head", "force", "anew"]),
    get(Call::Object, "/v1/clusters/{cluster}/objects/{object}", Who::Known, Place::Front),
    post(Call::Import, "/v1/clusters/{cluster}/imported/{object}", Who::Known).at(Place::Front),
    post(Call::Flush, "/v1/clusters/{cluster}/flush", RUN),
    get(Call::Deletion, "/v1/clusters/{cluster}/deletion", RUN, Place::Object),
    post(Call::Delete, "/v1/clusters/{cluster}/delete", RUN).with(&["confirm"]),
    post(Call::Slot, "/v1/clusters/{cluster}/slots/{slot}", Who::Clock),
    post(Call::Agent(AgentCall::Hello), "/v1/clusters/{cluster}/agents/{agent}/hello", Who::Agent),
    post(Call::Agent(AgentCall::Sync), "/v1/clusters/{cluster}/agents/{agent}/sync", Who::Agent),
    get(Call::Agent(AgentCall::Script), "/v1/clusters/{cluster}/agents/{agent}/script", Who::Agent, Place::Object)
        .with(&["digest"]),
    post(Call::Agent(AgentCall::Tail), "/v1/clusters/{cluster}/agents/{agent}/tail", Who::Agent),
    post(Call::Agent(AgentCall::Output), "/v1/clusters/{cluster}/agents/{agent}/output", Who::Agent),
    get(Call::Agent(AgentCall::Bell), "/v1/clusters/{cluster}/agents/{agent}/bell", Who::Agent, Place::Object),
];

/// A request's path, held against the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The row.
    pub route: &'static Route,
    /// The cluster, if the path names one.
    pub cluster: Option<&'a str>,
    /// The other part, if the path has one; still escaped.
    pub part: Option<&'a str>,
}

/// The row that a path belongs to, whatever the method.
#[must_use]
pub fn find(path: &str) -> Option<Asked<'_>> {
    ROUTES.iter().find_map(|route| asked(route, path.trim_matches('/')))
}

fn asked<'a>(route: &'static Route, path: &'a str) -> Option<Asked<'a>> {
    let (mut form, mut sent) = (route.path.trim_start_matches('/').split('/'), path.split('/'));
    let mut asked = Asked { route, cluster: None, part: None };
    loop {
        match (form.next(), sent.next()) {
            (None, None) => return Some(asked),
            (Some("{cluster}"), Some(name)) => asked.cluster = Some(name),
            (Some(form), Some(part)) if form.starts_with('{') => asked.part = Some(part),
            (Some(form), Some(word)) if form == word => {}
            (_, _) => return None,
        }
    }
}

/// The row of a call.
#[must_use]
pub fn who_may(call: Call) -> Who {
    // What has no row reaches nobody.
    ROUTES.iter().find(|route| route.call == call).map_or(Who::Clock, |route| route.who)
}

#[cfg(test)]
mod tests {
    use super::Call;
    use super::ROUTES;
    use super::Who;
    use super::find;

    #[test]
    fn each_row_is_found_by_its_own_path_and_by_no_other() {
        for route in &ROUTES {
            let path = route.path.replace("{cluster}", "prod").replace(['{', '}'], "");
            let asked = find(&path).expect("its path is found");
            assert_eq!(asked.route, route);
            assert_eq!(asked.cluster.is_some(), route.path.contains("{cluster}"));
            assert_eq!(find(&format!("{path}/and/more/words")), None);
        }
    }

    #[test]
    fn parts_come_as_they_were_sent() {
        let asked = find("/v1/clusters/prod/jobs/a%2Fb/why").expect("it is found");
        assert_eq!((asked.route.call, asked.cluster, asked.part), (Call::Why, Some("prod"), Some("a%2Fb")));
        assert_eq!(find("/v1/clusters//jobs/a/why").and_then(|asked| asked.cluster), Some(""));
        assert_eq!(find("/v2/clusters"), None);
        assert_eq!(find("/v1"), None);
    }

    #[test]
    fn a_path_has_one_method_and_a_call_one_row() {
        for (at, route) in ROUTES.iter().enumerate() {
            let others = ROUTES.iter().skip(at + 1);
            assert!(others.clone().all(|other| other.path != route.path && other.call != route.call), "{}", route.path);
        }
    }

    #[test]
    fn nobody_reaches_without_a_credential_what_is_not_listed_here() {
        let open: Vec<Call> = ROUTES.iter().filter(|route| route.who == Who::Anybody).map(|route| route.call).collect();
        assert_eq!(open, [Call::Health, Call::Session]);
    }

    #[test]
    fn agents_reach_what_is_theirs_and_nothing_else_is() {
        for route in &ROUTES {
            assert_eq!(route.who == Who::Agent, matches!(route.call, Call::Agent(_)), "{}", route.path);
            assert_eq!(route.who == Who::Agent, route.path.contains("/agents/{agent}/"), "{}", route.path);
        }
    }
}
