//! One request at a cluster in memory that has many jobs.

use std::collections::BTreeMap;
use std::fmt::Write;

use engine::host::authority;
use engine::message::command::Command;
use engine::transition::Sender;
use engine::unit::time::Timestamp;
use engine::workspace::key::KeyId;
use hmac::Hmac;
use hmac::Mac;
use pai::calendar;
use pai::key::Master;
use pai::key::accepted;
use pai::nonce;
use pai::nonce::NONCES_MAX;
use pai::request::Request;
use pai::service;
use pai::service::mark::Mark;
use pai::service::memory::MemoryBackend;
use pai::signature::Credential;
use pai::signature::Refused;
use pai::signature::credential;
use serde_json::Value;
use serde_json::json;
use sha2::Digest;
use sha2::Sha256;

/// A request of the SDKs that can be prepared.
pub struct Asked {
    /// What it is called in what is printed.
    pub name: &'static str,
    version: &'static str,
    action: &'static str,
    method: &'static str,
    target: &'static str,
}

const fn asked(name: &'static str, action: &'static str, method: &'static str, target: &'static str) -> Asked {
    Asked { name, version: "2020-12-03", action, method, target }
}

/// The requests, by their numbers.
pub const REQUESTS: [Asked; 7] = [
    asked("GetJob", "GetJob", "GET", "/api/v1/jobs/job-0"),
    asked("GetJob of one that waits", "GetJob", "GET", "/api/v1/jobs/job-99"),
    asked("CreateJob", "CreateJob", "POST", "/api/v1/jobs"),
    asked("ListJobs", "ListJobs", "GET", "/api/v1/jobs?PageSize=20"),
    asked("ListJobs by status and user", "ListJobs", "GET", "/api/v1/jobs?Status=Queuing&ShowOwn=True&PageSize=20"),
    asked("ListJobs by framework", "ListJobs", "GET", "/api/v1/jobs?JobType=PyTorchJob&PageSize=20"),
    Asked {
        name: "ListQuotaWorkloads",
        version: "2022-01-12",
        action: "ListQuotaWorkloads",
        method: "GET",
        target: "/api/v1/quotas/team/workloads?PageSize=20",
    },
];

/// 2026-11-21, at some minute.
const NOW: Timestamp = Timestamp(1_795_219_200_000);
const USER: &str = "ann";
const KEY: &str = "demo.ann";
const MASTER: [u8; 32] = [7; 32];
/// How many GPUs there are; every job asks for one.
const GPUS: u32 = 64;

/// A request that waits to be answered.
pub struct Desk {
    master: Master,
    cluster: MemoryBackend,
    nonces: BTreeMap<String, i64>,
    asked: &'static Asked,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Answers the request, of which it is known already who sends it; whether it is not refused.
#[inline(never)]
pub fn answer_only(desk: &mut Desk) -> bool {
    let sender = Sender { user: name(USER), administers: false };
    desk.answer(&sender)
}

/// Finds out who sends the request, as the object does it, and answers it; whether it is not refused.
#[inline(never)]
pub fn verify_and_answer(desk: &mut Desk) -> bool {
    desk.sender().is_ok_and(|sender| desk.answer(&sender))
}

impl Desk {
    /// A cluster with so many jobs, a key in it, and a request that is signed with the key.
    #[must_use]
    pub fn new(asked: &'static Asked, jobs: u32) -> Option<Self> {
        let mut cluster = MemoryBackend { now: NOW, ..MemoryBackend::default() };
        for command in founding().into_iter().chain((0..jobs).map(job)) {
            let command: Command = serde_json::from_value(command).ok()?;
            authority::step(&mut cluster.state, &command, NOW).ok()?;
        }
        let note =
            json!({ "DisplayName": "train", "JobType": "PyTorchJob", "UserCommand": "python train.py" }).to_string();
        cluster.documents = (0..jobs).map(|number| (format!("job/job-{number}"), note.clone())).collect();
        let body = if asked.method == "POST" { submission().to_string().into_bytes() } else { Vec::new() };
        let master = Master::new(&MASTER)?;
        let mut desk = Self { master, cluster, nonces: BTreeMap::new(), headers: headers(asked, &body), asked, body };
        desk.sign()?;
        Some(desk)
    }

    fn request(&self) -> Request<'_> {
        let Asked { method, target, .. } = self.asked;
        Request { method, target, headers: &self.headers, body: &self.body }
    }

    /// Signs the text that the verification names when the signature is a wrong one.
    fn sign(&mut self) -> Option<()> {
        let Err(Refused::Mismatch { to_sign }) = self.sender() else { return None };
        let secret = self.master.secret(&name(KEY), 1);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).ok()?;
        mac.update(to_sign.as_bytes());
        let (_, value) = self.headers.iter_mut().find(|(name, _)| name == "authorization")?;
        *value = value.replace(&"0".repeat(64), &hex(&mac.finalize().into_bytes()));
        Some(())
    }

    fn sender(&mut self) -> Result<Sender, Refused> {
        let nonce = {
            let request = self.request();
            let Credential::Signed(signed) = credential(&request)? else { return Err(Refused::Anonymous) };
            let unknown = || Refused::UnknownKey { key: signed.key_id().to_owned() };
            let id = KeyId::new(signed.key_id()).ok_or_else(unknown)?;
            let key = self.cluster.state.keys.get(&id).ok_or_else(unknown)?;
            signed.verify(&accepted(&self.master, &id, key, NOW), NOW)?
        };
        let Ok(admitted) = nonce::admit(&mut self.nonces, &nonce, NONCES_MAX, NOW);
        admitted.map(|()| Sender { user: name(USER), administers: false })
    }

    fn answer(&mut self, sender: &Sender) -> bool {
        let Self { cluster, asked: Asked { method, target, .. }, headers, body, .. } = self;
        let request = Request { method, target, headers, body };
        service::serve(&request, Mark::of(&request, NOW), sender, cluster, NOW).status == 200
    }
}

fn founding() -> Vec<Value> {
    let amount = json!({ "gpu": GPUS * 1_000 });
    vec![
        json!({ "create_cluster": { "dimensions": [{ "name": "gpu", "kind": "gpu" }] } }),
        json!({ "put_group": { "group": "pool", "resource_type": "lingjun", "pool": amount } }),
        json!({ "create_quota": { "quota": "team", "groups": ["pool"], "min": amount } }),
        json!({ "put_workspace": { "workspace": "lab" } }),
        json!({ "attach_quota": { "workspace": "lab", "quota": "team" } }),
        json!({ "put_member": { "workspace": "lab", "user": USER, "roles": ["developer"] } }),
        json!({ "create_key": { "key": KEY, "user": USER } }),
    ]
}

/// Priorities and users differ, so that the queue has several classes.
fn job(number: u32) -> Value {
    json!({ "submit_job": {
        "job": format!("job-{number}"), "quota": "team", "workspace": "lab", "priority": number % 9 + 1,
        "user": if number.is_multiple_of(2) { USER } else { "bob" }, "pods": [{ "amount": { "gpu": 1_000 } }],
    } })
}

fn submission() -> Value {
    let worker = json!({ "Type": "Worker", "Image": "i", "PodCount": 1, "ResourceConfig": { "GPU": "1" } });
    json!({
        "WorkspaceId": "lab", "ResourceId": "team", "DisplayName": "train", "JobType": "PyTorchJob",
        "UserCommand": "python train.py", "JobSpecs": [worker],
    })
}

/// What the SDKs send, with zeros for a signature.
fn headers(asked: &Asked, body: &[u8]) -> Vec<(String, String)> {
    let mut headers = vec![
        ("accept", "application/json".to_owned()),
        ("host", "127.0.0.1:8787".to_owned()),
        ("user-agent", "AlibabaCloud (Linux; x86_64) Python/3.11.7 Core/0.4.3 TeaDSL/2".to_owned()),
        ("x-acs-action", asked.action.to_owned()),
        ("x-acs-content-sha256", hex(&Sha256::digest(body))),
        ("x-acs-credentials-provider", "static_ak".to_owned()),
        ("x-acs-date", calendar::written(NOW)),
        ("x-acs-signature-nonce", "249d0a846bd2ed5cfbcf1b2611980993".to_owned()),
        ("x-acs-version", asked.version.to_owned()),
    ];
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let (names, zeros) = (names.join(";"), "0".repeat(64));
    let authorization = format!("ACS3-HMAC-SHA256 Credential={KEY},SignedHeaders={names},Signature={zeros}");
    headers.push(("authorization", authorization));
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A name that is known to be one.
fn name<T: TryFrom<String>>(text: &str) -> T {
    T::try_from(text.to_owned()).unwrap_or_else(|_| unreachable!("{text} is a name"))
}
