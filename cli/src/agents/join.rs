//! `tidegate agent join`: an administrator makes a key for this machine.

use std::path::Path;

use engine::message::FORMAT;
use serde_json::json;

use crate::agents::joined::AgentFile;
use crate::agents::joined::Joined;
use crate::agents::mirror::mirror;
use crate::service::drawn;
use crate::service::http::Address;
use crate::service::http::Client;

/// Where the administrator's token is read. It is never an argument: others on this machine see those.
pub const TOKEN: &str = "TIDEGATE_TOKEN";

/// What is to be joined.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// The address of the service.
    pub service: &'a str,
    /// The cluster.
    pub cluster: &'a str,
    /// The agent's name.
    pub name: &'a str,
    /// The groups on whose nodes it runs jobs.
    pub groups: &'a [String],
    /// The workspaces for which it adopts jobs that people submit to Slurm.
    pub adopts: &'a [String],
    /// Whether it stands for the nodes of a Slurm cluster; of a partition, if one is named.
    pub slurm: Option<Option<&'a str>>,
    /// By which words an agent is called here, for who starts it then.
    pub called: &'a str,
}

/// Makes the key and keeps it; what to say of that.
pub fn join(asked: Join, token: &str, state: &Path) -> Result<String, String> {
    let Join { service, cluster, name, groups, slurm, called, .. } = asked;
    let client = Client::new(Address::new(service)?);
    let file = AgentFile::take(state)?;
    let mirrored = slurm.map(|partition| mirror(&client, token, cluster, partition, groups, state)).transpose();
    let mirrored = match mirrored {
        Ok(said) => said,
        Err(problem) => {
            file.give_back();
            return Err(problem);
        }
    };
    match make_key(&client, asked, token) {
        Ok(secret) => {
            let (service, cluster, name) = (service.to_owned(), cluster.to_owned(), name.to_owned());
            file.fill(&Joined { format: FORMAT, service, cluster, name, secret })?;
        }
        Err(problem) => {
            file.give_back();
            return Err(problem);
        }
    }
    let (state, groups) = (state.display(), groups.join(", "));
    let (said, how) = mirrored.map_or_else(Default::default, |said| (format!(", with {said}"), " --slurm"));
    Ok(format!(
        "{name} is an agent of cluster {cluster} for {groups}{said}; start it with: {called} run{how} --state {state}"
    ))
}

fn make_key(client: &Client, asked: Join, token: &str) -> Result<String, String> {
    let Join { cluster, name, groups, adopts, .. } = asked;
    let key = format!("{cluster}.{name}");
    let command = json!({ "create_key": { "key": key, "user": name, "serves": groups, "adopts": adopts } });
    let body = json!({ "format": FORMAT, "id": format!("join-{name}-{}", drawn::drawn()?), "command": command });
    let answer = client.post(&format!("/v1/clusters/{cluster}/commands"), Some(token), &body.to_string())?;
    if answer.status != 200 {
        let (_, message) = answer.refusal();
        return Err(message);
    }
    answer.secret.ok_or_else(|| {
        format!(
            "there is a key {key} already, and its secret was shown once; choose another --name, or rotate that key"
        )
    })
}
