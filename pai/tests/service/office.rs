//! A cluster in memory, with machines, offers and somebody who sends requests.

use engine::host::authority;
use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::transition::Sender;
use engine::unit::id::CommandId;
use engine::unit::id::JobId;
use engine::unit::id::UserId;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::operation::product::Product;
use pai::operation::table::ROWS;
use pai::request::Request;
use pai::service;
use pai::service::backend::Printed;
use pai::service::mark::Mark;
use pai::service::memory::MemoryBackend;
use pai::service::needed::is_needed;
use serde_json::Value;
use serde_json::json;

use crate::model::Models;

/// The type of the machines.
pub(crate) const NODE_TYPE: &str = "ml.gu7xf.8xlarge-gu108";
/// A type of general computing that can be bid for.
pub(crate) const ECS_TYPE: &str = "ecs.g7.xlarge";

/// Where requests are served.
pub(crate) struct Office {
    cluster: MemoryBackend,
    pub(crate) now: Timestamp,
    sender: Sender,
    calls: u32,
    models: Models,
    /// Actions that were answered, with their products.
    pub(crate) served: Vec<(Product, String)>,
}

impl Office {
    /// A cluster of 16 nodes with 8 GPUs each, and two offers.
    pub(crate) fn new() -> Self {
        let cluster = MemoryBackend::default();
        let sender = Sender { user: UserId::new("1000").unwrap(), administers: true };
        let now = Timestamp(1_795_217_342_000);
        let mut office = Self { cluster, now, sender, calls: 0, models: Models::read(), served: Vec::new() };
        let dimensions = ["gpu", "cpu", "memory"].map(|name| json!({ "name": name, "kind": name }));
        let amount = json!({ "gpu": 8000, "cpu": 128_000, "memory": 1_048_576 });
        office.command(json!({ "create_cluster": { "dimensions": dimensions } }));
        office.command(json!({ "put_group": { "group": "rg-1", "resource_type": "lingjun" } }));
        for number in 0..16 {
            let name = format!("node-{number}");
            office.command(json!({ "put_node": {
                "node": name, "group": "rg-1", "node_type": NODE_TYPE, "gpu_type": "GU108", "amount": amount,
            } }));
        }
        office.command(json!({ "create_offer": {
            "offer": NODE_TYPE, "resource_type": "lingjun", "instance": amount, "inventory": 2,
            "price": 300_000, "terms": { "original_price": 1_000_000 },
        } }));
        office.command(json!({ "create_offer": {
            "offer": ECS_TYPE, "resource_type": "general", "instance": { "cpu": 4000, "memory": 16_384 },
            "inventory": 2, "price": 10_000, "terms": { "original_price": 20_000 },
        } }));
        office
    }

    /// Somebody else sends requests from now on.
    pub(crate) fn sent_by(&mut self, sender: Sender) {
        self.sender = sender;
    }

    /// A command of the native surface.
    pub(crate) fn command(&mut self, command: Value) {
        let command: Command = serde_json::from_value(command).unwrap();
        self.calls += 1;
        let id = CommandId::new(&format!("native-{}", self.calls)).unwrap();
        let by = Some(self.sender.user.clone());
        let envelope = Envelope { format: FORMAT, id, by, base: None, dry_run: false, command };
        authority::handle(&mut self.cluster.state, &envelope, self.now).unwrap();
    }

    /// An agent reports what the run of a job does.
    pub(crate) fn report(&mut self, job: &str, observed: &Value) {
        let no = self.cluster.state.jobs.find(&JobId::new(job).unwrap()).unwrap();
        let run = self.cluster.state.jobs[no].run_no().unwrap();
        self.command(json!({ "report": { "job": job, "run": run, "observed": observed } }));
    }

    /// What a job prints, and whether its run has ended.
    pub(crate) fn print(&mut self, job: &str, text: &str, is_cut: bool, is_over: bool) {
        let printed = Printed { text: text.to_owned(), is_cut, is_over };
        self.cluster.printed.insert(JobId::new(job).unwrap(), printed);
    }

    /// The round of the next minute.
    pub(crate) fn tick(&mut self) {
        self.now = self.now + Millis::MINUTE;
        let slot = self.now.0 / Millis::MINUTE.0;
        self.command(json!({ "round": { "slot": slot } }));
    }

    /// An answer, whatever its status.
    pub(crate) fn ask(&mut self, action: &str, target: &str, body: &Value) -> (u16, Value) {
        let row = ROWS.iter().filter(|row| row.action == action);
        let row = row.max_by_key(|row| alike(row.path, target)).unwrap();
        self.calls += 1;
        let headers: Vec<(String, String)> = [
            ("x-acs-version", version(row.product)),
            ("x-acs-action", action),
            ("x-acs-signature-nonce", &format!("nonce-{}", self.calls)),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        let request = Request { method: row.method, target, headers: &headers, body: &body };
        self.cluster.now = self.now;
        let mark = Mark::of(&request, self.now);
        let answer = service::serve(&request, mark, &self.sender, &mut self.cluster, self.now);
        let told: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(told["RequestId"].as_str().is_some_and(|id| id.len() == 36), "{action}: {told}");
        if answer.status == 200 {
            self.served.push((row.product, action.to_owned()));
            self.models.check(row.product, action, &told);
        }
        (answer.status, told)
    }

    /// The answer to a request that is served.
    pub(crate) fn get(&mut self, action: &str, target: &str, body: &Value) -> Value {
        let (status, told) = self.ask(action, target, body);
        assert_eq!(status, 200, "{action} {target}: {told}");
        told
    }

    /// The names of documents that nobody needs, if so many of the jobs are known as this cluster knows.
    pub(crate) fn needless(&self, known: &Self) -> Vec<String> {
        let text = |name: &String| self.cluster.documents.get(name).cloned();
        let is_needless = |name: &&String| !is_needed(&known.cluster.state, name, &|| text(name));
        self.cluster.documents.keys().filter(is_needless).cloned().collect()
    }

    /// Status, code and sentence of a refusal.
    pub(crate) fn refusal(&mut self, action: &str, target: &str, body: &Value) -> String {
        let (status, told) = self.ask(action, target, body);
        let text = |field: &str| told[field].as_str().unwrap_or_else(|| panic!("{action}: {told}")).to_owned();
        format!("{status} {}: {}", text("Code"), text("Message"))
    }
}

/// How many parts of a path are those of a form: of two products with one action, the one that fits is meant.
fn alike(form: &str, target: &str) -> usize {
    let path = target.split('?').next().unwrap_or_default();
    let same = form.split('/').zip(path.split('/')).take_while(|(form, part)| form == part || form.starts_with('{'));
    same.count()
}

/// The version by which the contract knows a product.
fn version(product: Product) -> &'static str {
    match product {
        Product::Dlc => "2020-12-03",
        Product::Workspace => "2021-02-04",
        Product::Studio => "2022-01-12",
        Product::Eas => "2021-07-01",
        Product::Dsw => "2022-01-01",
    }
}
