//! What the document says of each call: its name, what it is for, what it takes, answers and refuses.

use engine::market::history::History;
use engine::market::statement::Statement;
use engine::message::envelope::Entry;
use engine::message::envelope::Receipt;
use engine::message::snapshot::Snapshot;
use protocol::agents::script::Submission;
use protocol::answer::AgentShown;
use protocol::answer::Credentials;
use protocol::answer::Flushed;
use protocol::answer::Health;
use protocol::answer::Imported;
use protocol::answer::JobExplained;
use protocol::answer::JobLog;
use protocol::answer::KeyShown;
use protocol::answer::Me;
use protocol::answer::OpenedSession;
use protocol::answer::OverdueShown;
use protocol::answer::RestoreAnswer;
use protocol::answer::SignedOut;
use protocol::cluster::Position;
use protocol::deletion::DeletionAnswer;
use protocol::document::Head;
use protocol::health::ClusterHealth;
use protocol::incident::Incident;
use protocol::market::OfferShown;
use protocol::route::Call;
use protocol::route::MarketCall;
use schemars::JsonSchema;
use schemars::Schema;
use schemars::SchemaGenerator;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A type of which the document has a schema and examples.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Whether an example is one of the type.
    pub(crate) check: fn(&Value) -> Result<(), String>,
}

impl Kind {
    pub(crate) fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        let check = |value: &Value| T::deserialize(value).map(drop).map_err(|error| error.to_string());
        Self { schema: SchemaGenerator::subschema_for::<T>, check }
    }
}

/// What is answered.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// JSON.
    Json(Kind),
    /// JSON, or a table of texts where that is asked for.
    JsonOrCsv(Kind),
    /// Text for another program.
    Text,
    /// A socket.
    Socket,
}

/// What is said of a call.
pub(crate) struct Page {
    /// What programs call it.
    pub(crate) id: &'static str,
    /// Among which it is listed.
    pub(crate) tag: &'static str,
    /// What it is for.
    pub(crate) summary: &'static str,
    pub(crate) takes: Option<Kind>,
    pub(crate) answer: Answer,
    /// How it refuses beside what follows from its route: statuses.
    pub(crate) refuses: &'static [u16],
}

fn page(id: &'static str, tag: &'static str, summary: &'static str, answer: Answer) -> Page {
    Page { id, tag, summary, takes: None, answer, refuses: &[] }
}

fn json<T: JsonSchema + DeserializeOwned>() -> Answer {
    Answer::Json(Kind::of::<T>())
}

fn health() -> Page {
    let summary = "How the service does, by what the clock found in the last minute; always with status 200";
    page("get_health", "service", summary, json::<Health>())
}

fn condition() -> Page {
    let summary = "How the cluster does, and why; with status 503 where it is lost. The holder of \
                   MONITOR_KEY may ask too";
    page("get_cluster_health", "service", summary, json::<ClusterHealth>())
}

fn incidents() -> Page {
    let summary = "Refusals, sign-ins, wrong secrets, restores and publications on demand, by minute, the \
                   newest first; of others than administrators what they have caused themselves";
    page("list_incidents", "history", summary, json::<Vec<Incident>>())
}

fn service_incidents() -> Page {
    let summary = "Wrong keys of the service, and clusters that were deleted, for administrators of all";
    page("list_service_incidents", "service", summary, json::<Vec<Incident>>())
}

fn deletion() -> Page {
    let summary = "What deleting the cluster costs, with the word that confirms it; or how far that is";
    page("get_deletion", "service", summary, json::<DeletionAnswer>()).refuses(&[410])
}

fn agents() -> Page {
    let summary = "The agents beside the machines: when each was last heard, and why nodes cannot begin runs";
    page("list_agents", "jobs", summary, json::<Vec<AgentShown>>())
}

fn metrics() -> Page {
    let summary = "Figures in Prometheus' text format. The holder of MONITOR_KEY may ask too";
    page("get_metrics", "service", summary, Answer::Text)
}

fn object() -> Page {
    let summary = "The text of an object of KV, by its key, for backups. Only for administrators of all clusters";
    page("get_object", "service", summary, Answer::Text)
}

fn import() -> Page {
    let summary = "Puts an object of a backup, whose name ends with the digest of its text, where a restore with the key of \
                   its head finds it. Only for administrators of all clusters";
    page("import_object", "service", summary, json::<Imported>()).refuses(&[413])
}

impl Page {
    fn takes<T: JsonSchema + DeserializeOwned>(self) -> Self {
        Self { takes: Some(Kind::of::<T>()), ..self }
    }

    fn refuses(self, refuses: &'static [u16]) -> Self {
        Self { refuses, ..self }
    }

    /// What is said of a call; nothing of one that only the clock or an agent may make.
    pub(crate) fn of(call: Call) -> Option<Self> {
        Some(match call {
            Call::Health => health(),
            Call::Condition => condition(),
            Call::Incidents => incidents(),
            Call::ServiceIncidents => service_incidents(),
            Call::Deletion => deletion(),
            Call::Delete => page(
                "delete_cluster",
                "service",
                "Deletes the cluster and all that KV has of it",
                json::<DeletionAnswer>(),
            )
            .refuses(&[409, 410, 413]),
            Call::SignOut => {
                page("sign_out", "people", "Ends the session with which this is asked", json::<SignedOut>())
                    .refuses(&[413])
            }
            Call::Clusters => {
                let summary = "The names of all clusters that one can have to do with";
                page("list_clusters", "service", summary, json::<Vec<String>>())
            }
            Call::Command => page("send_command", "commands", "Sends a command", json::<Receipt>())
                .takes::<Submission>()
                .refuses(&[403, 409, 413, 422]),
            Call::Snapshot => page("get_snapshot", "state", "The state, as far as one may see it", json::<Snapshot>()),
            Call::Head => page("get_head", "state", "What has been published", json::<Head>()),
            Call::Entries => {
                let summary = "The entries after a revision; with a count, from anywhere in the past";
                page("list_entries", "history", summary, json::<Vec<Entry>>()).refuses(&[410])
            }
            Call::Past => {
                let summary = "The newest published snapshot before a moment; entries with a count lead on from it";
                page("get_past_snapshot", "history", summary, json::<Snapshot>()).refuses(&[410])
            }
            Call::Rounds => {
                let summary = "The newest entries that contain a round, the newest first";
                page("list_rounds", "history", summary, json::<Vec<Entry>>()).refuses(&[410])
            }
            Call::RoundAt => {
                page("get_round", "history", "The entry that led to a revision", json::<Entry>()).refuses(&[410])
            }
            Call::Why => page("explain_job", "jobs", "Why a job waits, or what became of it", json::<JobExplained>()),
            Call::Log => {
                let summary = "What a job prints, or the end of what it has printed in its last run";
                page("get_job_log", "jobs", summary, json::<JobLog>()).refuses(&[409])
            }
            Call::Overdue => {
                let summary =
                    "What should have been reported of jobs that really run, by node, with what is kept for it";
                page("list_overdue", "jobs", summary, json::<Vec<OverdueShown>>())
            }
            Call::Agents => agents(),
            Call::Market(MarketCall::Offers) => {
                let summary = "The offers of the spot market with prices, averages, inventories and bids";
                page("list_offers", "market", summary, json::<Vec<OfferShown>>())
            }
            Call::Market(MarketCall::History) => {
                let summary = "How an offer's price and inventory went";
                page("get_offer_history", "market", summary, json::<History>()).refuses(&[410])
            }
            Call::Market(MarketCall::Bills) => {
                page("get_bills", "market", "Bills", Answer::JsonOrCsv(Kind::of::<Statement>())).refuses(&[410])
            }
            Call::Session => {
                let summary = "Opens a session for somebody who shows a key's secret";
                page("open_session", "people", summary, json::<OpenedSession>())
                    .takes::<Credentials>()
                    .refuses(&[401, 413, 429])
            }
            Call::Me => page("get_me", "people", "Who the sender is", json::<Me>()),
            Call::Keys => {
                let summary = "The sender's access keys, or all of them for an administrator";
                page("list_keys", "people", summary, json::<Vec<KeyShown>>())
            }
            Call::Audit => {
                let summary = "Who sent which command when, the newest first; a list that breaks off says before \
                               which revision it goes on";
                page("list_audit", "history", summary, json::<Vec<Entry>>()).refuses(&[410])
            }
            Call::Metrics => metrics(),
            Call::Hash => {
                let summary = "Sequence, revision and digest of the object's state";
                page("get_position", "state", summary, json::<Position>())
            }
            Call::Events => {
                let summary = "A WebSocket on which every new entry is pushed, and `ping` is answered `pong`";
                page("watch_entries", "history", summary, Answer::Socket).refuses(&[426])
            }
            Call::Restore => {
                page("restore_cluster", "service", "Rebuilds the cluster from KV alone", json::<RestoreAnswer>())
                    .refuses(&[409, 413])
            }
            Call::Object => object(),
            Call::Import => import(),
            Call::Flush => {
                page("publish_now", "service", "Publishes what is committed", json::<Flushed>()).refuses(&[413])
            }
            Call::Slot | Call::Agent(_) => return None,
        })
    }
}
