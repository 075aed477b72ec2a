//! The document of the native surface.

use protocol::answer::Refusal;
use protocol::route::Call;
use protocol::route::Place;
use protocol::route::ROUTES;
use protocol::route::Route;
use protocol::route::Who;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::example;
use crate::example::Examples;
use crate::page::Answer;
use crate::page::Kind;
use crate::page::Page;
use crate::parameter;
use crate::shape::Components;
use crate::shape::PLACE;

const DESCRIPTION: &str = "Commands and reads of a cluster. Every answer that shows a state says in \
     `x-tidegate-revision` which, in `x-tidegate-age-ms` how old it is, and in `x-tidegate-source` where it comes from.";
/// Where `cargo xtask dev` serves, unless told otherwise.
const DEV: &str = "http://127.0.0.1:8787";

/// Words for each status, as far as the surface answers with it.
const REFUSALS: [(u16, &str); 12] = [
    (400, "What was sent cannot be read."),
    (401, "Nobody is known by what was shown."),
    (403, "The sender may not."),
    (404, "There is nothing of this name."),
    (409, "It does not go with what is there."),
    (410, "So far back nothing can be read any more, or the cluster was deleted."),
    (413, "What was sent is too large."),
    (422, "The engine refuses, with the numbers."),
    (426, "This is a WebSocket."),
    (429, "Too many requests; `retry-after` says how long to wait."),
    (500, "Something failed in the service; sending the same again is safe."),
    (503, "A store did not answer as it should, or a secret is not set; send the same again."),
];

/// The document.
pub(crate) fn document() -> Result<Value, String> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = PLACE.into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let examples = Examples::read()?;
    let refusal = Kind::of::<Refusal>();
    let _ = (refusal.schema)(&mut generator);
    let mut paths = Map::new();
    for route in &ROUTES {
        let Some(page) = Page::of(route.call) else { continue };
        let operation = operation(route, &page, &examples, &mut generator)?;
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.verb.as_str().to_lowercase()] = operation;
    }
    let mut components = Components::of(generator.take_definitions(true))?;
    example::add_commands(&mut components)?;
    Ok(json!({
        "openapi": "3.1.0",
        "info": { "title": "Tidegate, native surface", "version": "1", "description": DESCRIPTION },
        "servers": [
            { "url": "/", "description": "Where this document was read." },
            { "url": DEV, "description": "A cluster on one's own computer: `cargo xtask dev`." },
        ],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "A session's token (see open_session), or ADMIN_KEY.",
            } },
            "schemas": components.into_value(),
        },
    }))
}

fn operation(
    route: &Route,
    page: &Page,
    examples: &Examples,
    generator: &mut SchemaGenerator,
) -> Result<Value, String> {
    let of_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters = of_path.map(parameter::of_path).collect::<Result<Vec<_>, _>>()?;
    for name in route.query {
        parameters.push(parameter::of_query(route.call, name)?);
    }
    let mut operation = json!({
        "operationId": page.id,
        "tags": [page.tag],
        "summary": page.summary,
        "description": format!("{} {}", who(route.who), place(route.place)),
        "parameters": parameters,
        "responses": responses(route, page, examples, generator)?,
    });
    if let Some(kind) = &page.takes {
        let sent = examples.requests(page.id, kind)?;
        let content = json!({ "schema": (kind.schema)(generator), "examples": sent });
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": content } });
    }
    if route.call == Call::Import {
        let content = json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    if route.who == Who::Anybody {
        operation["security"] = json!([]);
    }
    Ok(operation)
}

fn responses(
    route: &Route,
    page: &Page,
    examples: &Examples,
    generator: &mut SchemaGenerator,
) -> Result<Value, String> {
    let mut responses = Map::new();
    let (status, mut answer) = match &page.answer {
        Answer::Json(kind) => (200, json_answer(page, kind, examples, generator)?),
        Answer::JsonOrCsv(kind) => {
            let mut answer = json_answer(page, kind, examples, generator)?;
            answer["content"]["text/csv"] = json!({ "schema": { "type": "string" } });
            (200, answer)
        }
        Answer::Text => {
            let content = json!({ "text/plain": { "schema": { "type": "string" } } });
            (200, json!({ "description": "The answer.", "content": content }))
        }
        Answer::Socket => (101, json!({ "description": "The socket." })),
    };
    if route.call == Call::Command {
        answer["headers"] = secrets();
    }
    if route.call == Call::Audit {
        let description = "Before which revision to go on, if there is more; also where nothing was found in what one \
                           answer may read.";
        let header = json!({ "description": description, "schema": { "type": "string" } });
        answer["headers"] = json!({ "x-tidegate-next-before": header });
    }
    responses.insert(status.to_string(), answer);
    for (status, description) in REFUSALS.into_iter().filter(|(status, _)| refuses(route, page, *status)) {
        let examples = json!({ "refused": { "value": examples.refusal(status)? } });
        let refusal = crate::shape::reference("Refusal");
        // Monitoring goes by the status, and people by what it answers with it.
        let is_health = route.call == Call::Condition && status == 503;
        let health = crate::shape::reference("ClusterHealth");
        let schema = if is_health { json!({ "anyOf": [health, refusal] }) } else { refusal };
        let content = json!({ "schema": schema, "examples": examples });
        let mut refused = json!({ "description": description, "content": { "application/json": content } });
        if status == 429 {
            let header = json!({ "description": "How long to wait, in seconds.", "schema": { "type": "string" } });
            refused["headers"] = json!({ "retry-after": header });
        }
        responses.insert(status.to_string(), refused);
    }
    Ok(Value::Object(responses))
}

fn json_answer(
    page: &Page,
    kind: &Kind,
    examples: &Examples,
    generator: &mut SchemaGenerator,
) -> Result<Value, String> {
    let content = json!({ "schema": (kind.schema)(generator), "examples": examples.answers(page.id, kind)? });
    Ok(json!({ "description": "The answer.", "content": { "application/json": content } }))
}

/// The headers in which a secret is shown.
fn secrets() -> Value {
    let header = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "x-tidegate-secret": header("The secret that create_key or rotate_key has made, this one time."),
        "x-tidegate-given-up": header("The key of the head that was given up for a new cluster, for `head` of a restore."),
        "x-tidegate-security-token": header("The security token of a temporary key."),
    })
}

/// Whether a call may be answered with a status: what its route brings with it, and what is its own.
fn refuses(route: &Route, page: &Page, status: u16) -> bool {
    let is_of_cluster = route.path.contains("{cluster}");
    let by_route = match status {
        400 => is_of_cluster || !route.query.is_empty(),
        404 => is_of_cluster,
        401 => route.who != Who::Anybody,
        403 => matches!(route.who, Who::SeesJob | Who::May(_)),
        409 => route.query.contains(&"min_revision"),
        429 => is_of_cluster && route.who != Who::Anybody,
        500 | 503 => route.place != Place::Front || route.who != Who::Anybody,
        _ => false,
    };
    by_route || page.refuses.contains(&status)
}

/// Where an answer is read, in words.
fn place(place: Place) -> &'static str {
    match place {
        Place::Front => "Answered without looking into any cluster.",
        Place::Published => {
            "Those who may see everything are answered from what has been published, others by the cluster itself."
        }
        Place::Object => "Answered by the cluster itself.",
    }
}

/// Who may, in words.
fn who(who: Who) -> String {
    // As the engine writes it.
    let right = |operation| serde_json::to_value(operation).unwrap_or_default();
    match who {
        Who::Anybody => "Everybody may.".to_owned(),
        Who::Known => {
            "Everybody who is signed in may send it; whether this command is allowed is decided for each.".to_owned()
        }
        Who::SeesJob => "For those who may see the job.".to_owned(),
        Who::May(operation) => {
            format!("For those who have the right `{}`.", right(operation).as_str().unwrap_or_default())
        }
        Who::Clock => "Only the clock may.".to_owned(),
        Who::Agent => "Only the agent itself may, with its own key.".to_owned(),
    }
}
