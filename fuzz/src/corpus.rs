//! Where the inputs of each target come from: scenarios, stored clusters, recorded requests, and one request for each
//! operation of PAI.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use engine::message::command::Command;
use engine::message::plan::Change;
use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use pai::operation::product::Product;
use pai::operation::sent::Sent;
use pai::operation::table::ROWS;
use planner::address;
use planner::embed::scenario::Scenario;
use planner::page::sheet::Sheet;
use protocol::note::bucket;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// What agents say, each kind of message once.
const EXCHANGES: [&str; 8] = [
    r#"{"format":1,"store":"store-1"}"#,
    r#"{"format":1,"incarnation":3}"#,
    r#"{"format":1,"incarnation":3,"answered":{"epoch":0,"revision":12},"nodes":[{"node":"n1","gpus":8,"status":"ready","reason":null},{"node":"n2","gpus":4,"status":"unfit","reason":"drained"}],"runs":[{"run":"0-9","job":"a","state":"running","told":false,"since_ms":5,"log_bytes":10,"checkpoint_ms":null},{"run":"0-7","job":"b","state":{"ended":{"code":1}},"told":true,"since_ms":0,"log_bytes":0,"checkpoint_ms":4},{"run":"0-8","job":"c","state":"prepared","told":false,"since_ms":5,"log_bytes":10,"checkpoint_ms":null}]}"#,
    r#"{"format":1,"incarnation":3,"version":{"epoch":0,"revision":14},"interval_ms":15000,"want":[{"run":"0-9","job":"a","pods":[{"rank":0,"node":"n1","gpus":[0,1]}],"world":1,"leader":"n1","port":29500,"script":"d","stop_after_ms":null}],"stop":[{"run":"0-8","job":"c","kill_in_ms":30000}],"forget":["0-7"]}"#,
    r#"{"format":1,"incarnation":3,"run":"0-9","bytes":7,"text":"the end"}"#,
    r#"{"format":1,"incarnation":3,"run":"0-9","offset":0,"bytes":7,"text":"a piece"}"#,
    r#"{"next":7,"is_watched":true}"#,
    r#"{"is_kept":true}"#,
];

/// The tables of a trace, with a line of dashes between them.
const TRACES: [&str; 3] = [
    "job_id,submit_s,duration_s,gpus,group,module,priority,idle,fault_tolerance,checkpoint_s,user\nj1,0,3600,8,a,dlc,5,acceptable,yes,600,ann\nj2,60,120,0.5,b,eas,9,off,no,,bob\nj3,61.5,7200,16,a,dsw,1,only,,,\n---\ngroup,parent,gpus\nroot,,16\na,root,8\nb,root,8\n---\nsn,gpu,gpu_type\nn1,8,h100\nn2,8,h100\n",
    "job_id,submit_s,duration_s,gpus,group,bid_discount,bid_price,offer\nj1,0,3600,1,a,,,\nj2,60,120,1,,0.4,,gn8\nj3,90,120,2,,,0.5,gn8\n---\ngroup,parent,gpus\na,,8\n---\noffer,at_s,price,inventory,original_price,gpus\ngn8,0,0.3,5,1,8\ngn8,600,0.5,,,\n",
    "job_id,submit_s,duration_s,gpus,group\nj1,0,60,1,a\n",
];

/// The texts that a target's inputs are made of.
pub(crate) fn of(target: &str) -> Result<Vec<Vec<u8>>, String> {
    match target {
        "commands" => commands(),
        "snapshots" => {
            Ok(states()?.iter().map(|state| Snapshot::of(state).to_bytes()).chain(fixtures("snapshots")?).collect())
        }
        "segments" => stored("/log/"),
        "notes" => notes(),
        "bodies" | "signatures" => requests(),
        "scenarios" => texts("scenarios", "md"),
        "traces" => Ok(TRACES.iter().map(|text| text.as_bytes().to_vec()).collect()),
        "links" => links(),
        "exchanges" => Ok(EXCHANGES.iter().map(|text| text.as_bytes().to_vec()).collect()),
        _ => Err(format!("there is no corpus for {target}")),
    }
}

fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The files of a folder whose names end so, in order.
fn texts(folder: &str, end: &str) -> Result<Vec<Vec<u8>>, String> {
    let entries = fs::read_dir(place(folder)).map_err(|error| format!("{folder}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == end));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// The lines of a file of the engine's examples.
fn fixtures(name: &str) -> Result<Vec<Vec<u8>>, String> {
    let bytes = read(&place(&format!("engine/tests/fixtures/{name}.jsonl")))?;
    Ok(bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Every scenario that can be opened.
fn scenarios() -> Result<Vec<Scenario>, String> {
    let texts = texts("scenarios", "md")?;
    Ok(texts.iter().filter_map(|text| Scenario::read(std::str::from_utf8(text).ok()?).ok()).collect())
}

/// The states that scenarios begin with.
pub(crate) fn states() -> Result<Vec<State>, String> {
    Ok(scenarios()?.into_iter().map(|scenario| (*scenario.base.state).clone()).collect())
}

/// What scenarios send, and each kind of command once, as programs send them.
fn commands() -> Result<Vec<Vec<u8>>, String> {
    let acts = scenarios()?.into_iter().flat_map(|scenario| scenario.acts);
    let acts: Vec<Command> = acts.map(|Change { command, .. }| command).collect();
    let mut commands: Vec<Value> = acts.iter().filter_map(|command| serde_json::to_value(command).ok()).collect();
    for line in fixtures("commands")? {
        commands.push(serde_json::from_slice(&line).map_err(|error| error.to_string())?);
    }
    let script = json!({ "command": "python train.py", "directory": "/work", "variables": { "A": "b" } });
    let envelope = |(at, command): (usize, &Value)| {
        let mut envelope = json!({ "format": 1, "id": format!("command-{at}"), "command": command });
        if at % 3 == 0 && command.get("submit_job").is_some() {
            envelope["script"] = script.clone();
        }
        envelope.to_string().into_bytes()
    };
    Ok(commands.iter().enumerate().map(envelope).chain(fixtures("envelopes")?).collect())
}

/// Objects that earlier versions have put into KV, by a part of their keys.
fn stored(part: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut objects = Vec::new();
    for cluster in ["simulated", "reported"] {
        let text = read(&place(&format!("protocol/tests/stored/7d4a27c/{cluster}/kv.tsv")))?;
        let text = String::from_utf8(text).map_err(|error| error.to_string())?;
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        objects.extend(lines.filter(|(key, _)| key.contains(part)).map(|(_, value)| value.as_bytes().to_vec()));
    }
    if objects.is_empty() { Err(format!("nothing is stored under {part}")) } else { Ok(objects) }
}

/// Packs of notes, with owners and without.
fn notes() -> Result<Vec<Vec<u8>>, String> {
    let mut packs = Vec::new();
    for count in [0, 1, 5, 40] {
        let mut buckets: Map<String, Value> = Map::new();
        for number in 0..count {
            let name = format!("job/job-{number}");
            let text = json!({ "UserCommand": format!("python train.py --seed {number}") }).to_string();
            let said = if number % 2 == 0 { json!(text) } else { json!([text, "ann"]) };
            buckets.entry(bucket(&name).to_string()).or_insert_with(|| json!({}))[name] = said;
        }
        packs.push(json!({ "format": 1, "buckets": buckets }).to_string().into_bytes());
    }
    packs.extend(stored("/notes/")?);
    Ok(packs)
}

/// Recorded requests, and one for each operation that is served.
fn requests() -> Result<Vec<Vec<u8>>, String> {
    let made = ROWS.iter().map(|row| {
        let path = row.path.replace(['{', '}'], "");
        let query: Vec<String> = names(&row.query).map(|name| format!("{name}=1")).collect();
        let body: Map<String, Value> = names(&row.body).map(|name| (name.to_owned(), json!("1"))).collect();
        let (query, body) = (query.join("&"), Value::Object(body));
        format!(
            "{} {path}?{query} HTTP/1.1\r\nhost: x\r\nx-acs-action: {}\r\nx-acs-version: {}\r\ncontent-type: application/json\r\n\r\n{body}",
            row.method,
            row.action,
            version(row.product)
        )
        .into_bytes()
    });
    let mut requests: Vec<Vec<u8>> = made.collect();
    requests.extend(texts("pai/tests/fixtures", "http")?);
    Ok(requests)
}

/// The fields that an operation knows.
fn names(sent: &Sent) -> impl Iterator<Item = &'static str> {
    let fields = if let Sent::Fields(fields) = sent { *fields } else { &[] };
    fields.iter().map(|field| field.name)
}

fn version(product: Product) -> &'static str {
    match product {
        Product::Dlc => "2020-12-03",
        Product::Workspace => "2021-02-04",
        Product::Studio => "2022-01-12",
        Product::Eas => "2021-07-01",
        Product::Dsw => "2022-01-01",
    }
}

/// Links to scenarios and to plans, and the documents behind these.
fn links() -> Result<Vec<Vec<u8>>, String> {
    let mut links = Vec::new();
    for (at, scenario) in scenarios()?.iter().enumerate().step_by(4) {
        links.push(address::write(&scenario.lines, &[1, -1]).into_bytes());
        let sheet = Sheet::of(&scenario.base, format!("plan {at}"), None, None, vec![scenario.variant(&[])]);
        links.extend(sheet.link().map(String::into_bytes));
        links.push(sheet.text().into_bytes());
    }
    Ok(links)
}
