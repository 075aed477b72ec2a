//! The requests.

use agent::script::Script;
use engine::market::history::History;
use engine::market::statement::Statement;
use engine::message::envelope::CommandKind;
use engine::message::envelope::Entry;
use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::message::snapshot::Snapshot;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::unit::time::Timestamp;
use engine::workspace::key::AccessKey;
use engine::workspace::key::KeyId;
use gloo::net::http::Request;
use gloo::net::http::RequestBuilder;
use gloo::net::http::Response;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::IgnoredAny;

use crate::api::failure::Failure;
use crate::api::key;
use console_model::agents::Agent;
use console_model::deletion::ClusterCost;
use console_model::log_text::LogPart;
use console_model::path;

/// The whole state, at least as new as `min_revision`.
pub(crate) async fn snapshot(cluster: &str, min_revision: u64) -> Result<Snapshot, Failure> {
    let request = signed(Request::get(&path::api(cluster, &format!("snapshot?min_revision={min_revision}"))));
    read(request.send().await).await
}

/// What was decided after a revision.
pub(crate) async fn entries(cluster: &str, after: u64) -> Result<Vec<Entry<CommandKind>>, Failure> {
    let request = signed(Request::get(&path::api(cluster, &format!("entries?after={after}"))));
    read(request.send().await).await
}

/// The last entries that contain a round.
pub(crate) async fn rounds(cluster: &str) -> Result<Vec<Entry<CommandKind>>, Failure> {
    let request = signed(Request::get(&path::api(cluster, "rounds?count=100")));
    read(request.send().await).await
}

/// How an offer's price and inventory went.
pub(crate) async fn offer_history(cluster: &str, offer: &str, min_revision: u64) -> Result<History, Failure> {
    let rest = format!("offers/{}/history?min_revision={min_revision}", path::escape(offer));
    read(signed(Request::get(&path::api(cluster, &rest))).send().await).await
}

/// The newest bills, at least as new as `min_revision`.
pub(crate) async fn bills(cluster: &str, by: &str, min_revision: u64) -> Result<Statement, Failure> {
    let rest = format!("bills?by={by}&min_revision={min_revision}");
    read(signed(Request::get(&path::api(cluster, &rest))).send().await).await
}

/// Bills that were written up to a revision.
pub(crate) async fn earlier_bills(cluster: &str, by: &str, before: u64) -> Result<Statement, Failure> {
    let rest = format!("bills?by={by}&before={before}");
    read(signed(Request::get(&path::api(cluster, &rest))).send().await).await
}

/// What a job has printed after a byte, and whether its run is over.
pub(crate) async fn job_log(cluster: &str, job: &str, after: Option<u64>) -> Result<(LogPart, bool), Failure> {
    let after = after.map(|after| format!("?after={after}")).unwrap_or_default();
    let request = signed(Request::get(&path::api(cluster, &format!("jobs/{}/log{after}", path::escape(job)))));
    let Log { run, bytes, from, text, is_over } = read(request.send().await).await?;
    Ok((LogPart { run, bytes, from, text }, is_over))
}

/// The agents beside the machines.
pub(crate) async fn agents(cluster: &str) -> Result<Vec<Agent>, Failure> {
    read(signed(Request::get(&path::api(cluster, "agents"))).send().await).await
}

/// Who whoever looks is.
pub(crate) async fn me(cluster: &str) -> Result<Sender, Failure> {
    let me: Me = read(signed(Request::get(&path::api(cluster, "me"))).send().await).await?;
    Ok(Sender { user: me.user, administers: me.administers })
}

/// A session's token for a key and its secret.
pub(crate) async fn open_session(cluster: &str, key: &str, secret: &str) -> Result<String, Failure> {
    let shown = serde_json::json!({ "key": key, "secret": secret });
    let request = Request::post(&path::api(cluster, "sessions")).json(&shown);
    let request = request.map_err(|error| Failure::Unreadable(error.to_string()))?;
    Ok(read::<Opened>(request.send().await).await?.token)
}

/// What deleting the cluster costs, with the word that stands for it.
pub(crate) async fn deletion_cost(cluster: &str) -> Result<ClusterCost, Failure> {
    read(signed(Request::get(&path::api(cluster, "deletion"))).send().await).await
}

/// Deletes the cluster for what was told.
pub(crate) async fn delete_cluster(cluster: &str, confirm: &str) -> Result<(), Failure> {
    let rest = format!("delete?confirm={}", path::escape(confirm));
    read::<IgnoredAny>(signed(Request::post(&path::api(cluster, &rest))).send().await).await.map(|_| ())
}

/// Access keys: one's own, or all of them for an administrator of the cluster.
pub(crate) async fn keys(cluster: &str) -> Result<Vec<KeyLine>, Failure> {
    read(signed(Request::get(&path::api(cluster, "keys"))).send().await).await
}

/// Who sent which command when, the newest first.
pub(crate) async fn audit(cluster: &str) -> Result<Vec<Entry<CommandKind>>, Failure> {
    read(signed(Request::get(&path::api(cluster, "audit?count=200"))).send().await).await
}

/// Sends a command that makes a secret; the answer shows it once.
pub(crate) async fn make_secret(cluster: &str, envelope: &Envelope) -> Result<Option<String>, Failure> {
    let request = signed(Request::post(&path::api(cluster, "commands"))).json(envelope);
    let request = request.map_err(|error| Failure::Unreadable(error.to_string()))?;
    let answer = request.send().await.map_err(|_| Failure::Unreachable)?;
    let secret = answer.headers().get("x-tidegate-secret");
    read::<Receipt>(Ok(answer)).await?;
    Ok(secret)
}

/// Sends the commands of the three-team example. They carry ids, so sending them again changes nothing.
pub(crate) async fn load_example(cluster: &str) -> Result<(), Failure> {
    let file = Request::get("/examples/three-teams.jsonl").send().await.map_err(|_| Failure::Unreachable)?;
    let lines = file.text().await.map_err(|_| Failure::Unreachable)?;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let request = signed(Request::post(&path::api(cluster, "commands"))).body(line);
        let request = request.map_err(|error| Failure::Unreadable(error.to_string()))?;
        read::<Receipt>(request.send().await).await?;
    }
    Ok(())
}

/// A command, and beside it what the job executes that it submits.
#[derive(Serialize)]
pub(crate) struct Submission {
    #[serde(flatten)]
    pub(crate) envelope: Envelope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) script: Option<Script>,
}

/// Sends a command.
pub(crate) async fn command(cluster: &str, sent: &Submission) -> Result<Receipt, Failure> {
    let request = signed(Request::post(&path::api(cluster, "commands"))).json(sent);
    match request {
        Ok(request) => read(request.send().await).await,
        Err(error) => Err(Failure::Unreadable(error.to_string())),
    }
}

#[derive(Deserialize)]
struct Me {
    user: UserId,
    administers: bool,
}

#[derive(Deserialize)]
struct Log {
    run: String,
    bytes: u64,
    from: u64,
    text: String,
    is_over: bool,
}

#[derive(Deserialize)]
struct Opened {
    token: String,
}

/// An access key with its last use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct KeyLine {
    pub(crate) key: KeyId,
    pub(crate) last_used: Option<Timestamp>,
    pub(crate) is_now: AccessKey,
}

fn signed(request: RequestBuilder) -> RequestBuilder {
    match key::get() {
        Some(key) => request.header("authorization", &format!("Bearer {key}")),
        None => request,
    }
}

async fn read<T: DeserializeOwned>(answer: Result<Response, gloo::net::Error>) -> Result<T, Failure> {
    let answer = answer.map_err(|_| Failure::Unreachable)?;
    let text = answer.text().await.map_err(|_| Failure::Unreachable)?;
    match answer.status() {
        200..=299 => serde_json::from_str(&text).map_err(|error| Failure::Unreadable(error.to_string())),
        status => Err(refusal(status, &text)),
    }
}

/// What the Worker says when it refuses. It says more, for programs; people are shown the message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    message: String,
}

fn refusal(status: u16, text: &str) -> Failure {
    let Problem { code, message } = serde_json::from_str(text).unwrap_or_default();
    match status {
        401 => Failure::NoKey,
        403 => Failure::Forbidden(message),
        404 => Failure::Absent(message),
        // What is gone is all of it, and nothing is to be read anew.
        410 if code != "deleted" => Failure::Gone,
        400..=499 => Failure::Refused(message),
        status => Failure::Fault(status),
    }
}
