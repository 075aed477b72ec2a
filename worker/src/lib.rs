//! The Worker's bindings: routes, the cluster's Durable Object, and the clock.
//!
//! A placeholder that proves every binding once: static assets, a SQLite Durable Object, KV and the cron.
use worker::{
    Context, DurableObject, Env, Method, Request, Response, Result, ScheduleContext, ScheduledEvent, State,
    console_error, durable_object, event,
};

const CLUSTER: &str = "demo";

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    match request.path().as_str() {
        "/health" => cluster(&env)?.fetch_with_str("http://cluster/health").await,
        _ => Response::error("no such route", 404),
    }
}

#[event(scheduled)]
async fn scheduled(event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    // `scheduled` has no answer to fail with, so a failed round is only visible if it is logged.
    if let Err(error) = round(&env, event.schedule()).await {
        console_error!("round failed: {error}");
    }
}

async fn round(env: &Env, slot_ms: f64) -> Result<()> {
    let slot = Request::new(&format!("http://cluster/round/{slot_ms}"), Method::Post)?;
    cluster(env)?.fetch_with_request(slot).await?;
    env.kv("CLUSTERS")?.put("last-slot", slot_ms.to_string())?.execute().await?;
    Ok(())
}

fn cluster(env: &Env) -> Result<worker::Stub> {
    env.durable_object("CLUSTER")?.id_from_name(CLUSTER)?.get_stub()
}

#[durable_object]
struct ClusterObject {
    state: State,
}

impl DurableObject for ClusterObject {
    fn new(state: State, _env: Env) -> Self {
        Self { state }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let sql = self.state.storage().sql();
        sql.exec("CREATE TABLE IF NOT EXISTS round (slot_ms TEXT PRIMARY KEY)", None)?;
        let path = request.path();
        if let Some(slot) = path.strip_prefix("/round/") {
            sql.exec("INSERT OR IGNORE INTO round VALUES (?)", vec![slot.into()])?;
        }
        let rounds = sql.exec("SELECT COUNT(*) AS n FROM round", None)?.one::<serde_json::Value>()?["n"].clone();
        Response::from_json(&serde_json::json!({ "status": "ok", "rounds": rounds }))
    }
}
