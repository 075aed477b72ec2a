//! What the document says of each call: its name, what it is for, what it takes, answers and refuses.

use engine::market::history::History;
use engine::market::statement::Statement;
use engine::message::envelope::Entry;
use engine::message::envelope::Receipt;
use engine::message::snapshot::Snapshot;
use protocol::agents::script::Submission;
use protocol::answer::Credentials;
use protocol::answer::Flushed;
use protocol::answer::Health;
use protocol::answer::JobExplained;
use protocol::answer::JobLog;
use protocol::answer::KeyShown;
use protocol::answer::Me;
use protocol::answer::OpenedSession;
use protocol::answer::OverdueShown;
use protocol::answer::RestoreAnswer;
use protocol::cluster::Position;
use protocol::document::Head;
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
            Call::Health => page("get_health", "service", "Whether the Worker runs", json::<Health>()),
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
                page("get_job_log", "jobs", summary, json::<JobLog>())
            }
            Call::Overdue => {
                let summary =
                    "What should have been reported of jobs that really run, by node, with what is kept for it";
                page("list_overdue", "jobs", summary, json::<Vec<OverdueShown>>())
            }
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
                let summary = "Opens a session for whoever shows a key's secret";
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
                let summary = "Who sent which command when, the newest first";
                page("list_deeds", "history", summary, json::<Vec<Entry>>()).refuses(&[410])
            }
            Call::Metrics => page("get_metrics", "service", "Figures in Prometheus' text format", Answer::Text),
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
            Call::Flush => {
                page("publish_now", "service", "Publishes what is committed", json::<Flushed>()).refuses(&[413])
            }
            Call::Slot | Call::Agent(_) => return None,
        })
    }
}
