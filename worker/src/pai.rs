//! The PAI surface at the front: requests of the vendor's SDKs, nearly all of them under `/api/`.
//!
//! The SDKs know one origin and no cluster, so the key says whose request it is: its name begins with that of its
//! cluster. The request goes to the cluster's object as it came, byte by byte, because that is what was signed; it is
//! verified there, where keys and nonces are.

use ::pai::problem::Problem;
use ::pai::request::Request as Wire;
use ::pai::service::mark::Mark;
use ::pai::service::refuse;
use ::pai::session::Session;
use ::pai::signature;
use ::pai::signature::Credential;
use ::pai::signature::Refused;
use protocol::name::ClusterName;
use serde::Deserialize;
use serde::Serialize;
use worker::Env;
use worker::Headers;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::Response;
use worker::ResponseBuilder;
use worker::console_error;
use worker::js_sys::Uint8Array;

use crate::answer;
use crate::bindings;
use crate::body;
use crate::gate;

/// Where an object takes such a request.
pub(crate) const PATH: &str = "/pai";

/// A request on its way to the object: this as a line of JSON, and the body after it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) cluster: String,
    /// The network that it comes from, if the runtime says so.
    pub(crate) network: Option<String>,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn with<'a>(&'a self, body: &'a [u8]) -> Wire<'a> {
        Wire { method: &self.method, target: &self.target, headers: &self.headers, body }
    }
}

/// Where the SDKs have their operations. The one under the second place is not served, and is told so like all others.
const PLACES: [&str; 2] = ["/api/", "/resourcegroups/"];

/// Whether a request is one of this surface.
pub(crate) fn is_asked(request: &Request) -> bool {
    let path = request.path();
    PLACES.iter().any(|place| path.starts_with(place))
}

/// Answers a request.
pub(crate) async fn serve(mut request: Request, env: &Env) -> worker::Result<Response> {
    let mut head = Head {
        cluster: String::new(),
        network: gate::network(&request)?,
        method: request.inner().method(),
        target: target(&request.inner().url()).to_owned(),
        headers: request.headers().entries().collect(),
    };
    let body = match body::limited(&mut request).await {
        Ok(body) => body,
        Err(answer::Problem::Rejected(rejection)) => return refused(&head, &[], &rejection.into()),
        Err(problem) => return failed(&head, &problem),
    };
    match hand_on(&mut head, &body, env).await {
        Ok(response) => Ok(response),
        Err(Outcome::Refused(problem)) => refused(&head, &body, &problem),
        Err(Outcome::Failed(problem)) => failed(&head, &problem),
    }
}

/// Why the front does not hand a request on.
enum Outcome {
    Refused(Problem),
    Failed(answer::Problem),
}

impl From<Refused> for Outcome {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused.into())
    }
}

async fn hand_on(head: &mut Head, body: &[u8], env: &Env) -> Result<Response, Outcome> {
    let cluster = match signature::credential(&head.with(body))? {
        Credential::Signed(signed) => {
            let unknown = || Refused::UnknownKey { key: signed.key_id().to_owned() };
            cluster_of(signed.key_id()).ok_or_else(unknown)?
        }
        Credential::Bearer(token) => {
            let master = bindings::master(env).map_err(Outcome::Failed)?;
            let session = Session::read(&master, token, bindings::now()).ok_or(Refused::Token)?;
            cluster_of(session.key.as_str()).ok_or(Refused::Token)?
        }
    };
    cluster.as_str().clone_into(&mut head.cluster);
    let request = packed(head, body).map_err(|error| Outcome::Failed(error.into()))?;
    let object = bindings::object(env, cluster.as_str()).map_err(Outcome::Failed)?;
    object.fetch_with_request(request).await.map_err(|error| Outcome::Failed(error.into()))
}

/// The cluster that a key is of: what stands before the first dot of its name.
fn cluster_of(key: &str) -> Option<ClusterName> {
    ClusterName::new(key.split_once('.')?.0)
}

fn packed(head: &Head, body: &[u8]) -> worker::Result<Request> {
    let mut bytes = serde_json::to_vec(head)?;
    bytes.push(b'\n');
    bytes.extend(body);
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(Uint8Array::from(bytes.as_slice()).into()));
    Request::new_with_init(&format!("http://object{PATH}"), &init)
}

/// Path and query of a URL as they came: what follows the origin.
fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

fn refused(head: &Head, body: &[u8], problem: &Problem) -> worker::Result<Response> {
    respond(&refuse(problem, Mark::of(&head.with(body), bindings::now())))
}

/// What is our fault is logged in full and shown as that.
pub(crate) fn failed(head: &Head, problem: &answer::Problem) -> worker::Result<Response> {
    console_error!("{problem:?}");
    refused(head, &[], &Problem::new(503, "ServiceUnavailable", "something failed here; send the request anew"))
}

/// The answer as a response. It is always an object, because the SDKs read nothing else.
pub(crate) fn respond(answer: &::pai::service::Answer) -> worker::Result<Response> {
    let headers = Headers::new();
    headers.set("content-type", "application/json; charset=utf-8")?;
    headers.set("cache-control", "no-store")?;
    if let Some(wait) = answer.wait {
        // The SDKs read milliseconds, whatever the name makes one think.
        headers.set("x-acs-retry-after", &wait.0.to_string())?;
    }
    let response = ResponseBuilder::new().with_status(answer.status).with_headers(headers);
    Ok(response.fixed(answer.body.clone().into_bytes()))
}
