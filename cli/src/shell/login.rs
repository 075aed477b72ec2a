//! `tidegate login`, `logout`, `context`: which clusters somebody works with, and by which key.

use std::fmt::Write;

use clap::Args;
use console_model::path;
use engine::transition::Sender;
use protocol::answer::Me;
use protocol::name::ClusterName;

use crate::service::http::Address;
use crate::service::http::Client;
use crate::shell::contexts;
use crate::shell::contexts::Context;
use crate::shell::contexts::Contexts;
use crate::shell::contexts::Opened;
use crate::shell::failure::Failure;
use crate::shell::failure::Status;
use crate::shell::person;
use crate::shell::person::Person;
use crate::shell::prompt;

/// What `tidegate login` is asked for.
#[derive(Debug, Args)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
pub struct Login {
    /// The address of the service, or of a cluster's console: https://tidegate.example.org/clusters/lab.
    ///
    /// The key is asked for, and read from the standard input where that is no terminal: NAME:SECRET of an access key,
    /// such as lab.ann:SECRET, or the service's ADMIN_KEY.
    #[arg(verbatim_doc_comment)]
    pub address: String,
    /// The cluster, if neither the address nor the key names it.
    #[arg(long)]
    pub cluster: Option<String>,
    /// What the context is called [default: the cluster's name].
    #[arg(long)]
    pub name: Option<String>,
}

/// Keeps a key after it has been tried.
pub fn login(asked: &Login) -> Result<String, Failure> {
    let (address, named) = split(&asked.address)?;
    let client = Client::new(Address::new(&address).map_err(Failure::usage)?);
    let folder = contexts::folder()?;
    let mut contexts = Contexts::read(&folder)?;
    let key = Key::of(&prompt::key()?);
    let cluster = cluster(&client, &key, asked.cluster.clone().or(named))?;
    let (context, me) = open(&client, cluster.as_str(), key)?;
    let name = asked.name.clone().unwrap_or_else(|| context.cluster.clone());
    let taken = contexts.contexts.get(&name);
    if let Some(other) = taken.filter(|other| (&other.service, &other.cluster) != (&context.service, &context.cluster))
    {
        let (service, cluster) = (&other.service, &other.cluster);
        let text = format!("context {name} is cluster {cluster} at {service}; choose another name with --name");
        return Err(Failure::usage(text));
    }
    let administers = if me.administers && context.key.is_some() { ", who administers it" } else { "" };
    // Who has several should know for which one the next command is.
    let is_another = contexts.current.as_ref().is_some_and(|current| *current != name);
    let current = if is_another { "; commands are for it from now on" } else { "" };
    let (cluster, service, user) = (&context.cluster, &context.service, &context.user);
    let said = format!("{name}: cluster {cluster} at {service}, as {user}{administers}{current}");
    contexts.contexts.insert(name.clone(), context);
    contexts.current = Some(name);
    contexts.write(&folder)?;
    Ok(said)
}

/// The service's address, and the cluster that it names.
pub(crate) fn split(address: &str) -> Result<(String, Option<String>), Failure> {
    if address.contains('#') {
        let text = "the part of the address from # on is a key, which others on this computer see on a command line; \
                    leave it out, and give the key when it is asked for";
        return Err(Failure::usage(text));
    }
    let Some((service, rest)) = address.split_once("/clusters/") else { return Ok((address.to_owned(), None)) };
    let cluster = rest.split(['/', '?']).next().filter(|cluster| !cluster.is_empty());
    Ok((service.to_owned(), cluster.map(str::to_owned)))
}

/// What somebody proves to be themselves by.
enum Key {
    /// An access key.
    Named { name: String, secret: String },
    /// The service's own.
    Service(String),
}

impl Key {
    fn of(text: &str) -> Self {
        match text.split_once(':') {
            Some((name, secret)) => Self::Named { name: name.to_owned(), secret: secret.to_owned() },
            None => Self::Service(text.to_owned()),
        }
    }
}

/// The cluster that is meant: the one that is named, the one that the key is of, or the only one that there is.
fn cluster(client: &Client, key: &Key, named: Option<String>) -> Result<ClusterName, Failure> {
    let name = match (named, key) {
        (Some(named), Key::Named { name, .. }) if !name.starts_with(&format!("{named}.")) => {
            let text = format!("the key {name} is not of cluster {named}: the name of a key begins with its cluster's");
            return Err(Failure::usage(text));
        }
        (Some(named), Key::Named { .. } | Key::Service(_)) => named,
        (None, Key::Named { name, .. }) => name.split('.').next().unwrap_or_default().to_owned(),
        (None, Key::Service(key)) => only(client, key)?,
    };
    ClusterName::new(&name).ok_or_else(|| {
        Failure::usage(format!(
            "“{name}” is not the name of a cluster: small letters, digits and hyphens, such as lab-1"
        ))
    })
}

fn only(client: &Client, key: &str) -> Result<String, Failure> {
    let answer = client.get("/v1/clusters", key).map_err(|problem| person::unreachable(&problem))?;
    match answer.status {
        200 => {}
        401 => return Err(wrong(client)),
        _ => return Err(Failure::refused(format!("{}: {}", client.address(), answer.refusal().1))),
    }
    let names: Vec<String> = serde_json::from_str(&answer.text)
        .map_err(|error| Failure::refused(format!("the answer of {} cannot be read: {error}", client.address())))?;
    match names.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(format!("{} has no cluster yet", client.address()))),
        several => {
            let text = format!(
                "{} has several clusters: choose one of {} with --cluster",
                client.address(),
                several.join(", ")
            );
            Err(Failure::usage(text))
        }
    }
}

fn wrong(client: &Client) -> Failure {
    let text = format!("{}: wrong key or secret, or the key has expired", client.address());
    Failure { status: Status::NotLoggedIn, text }
}

/// Tries the key; who somebody is with it.
fn open(client: &Client, cluster: &str, key: Key) -> Result<(Context, Sender), Failure> {
    let service = client.address().to_string();
    let cluster = cluster.to_owned();
    match key {
        Key::Named { name, secret } => {
            let opened = person::open_session(client, &cluster, &name, &secret)?.ok_or_else(|| wrong(client))?;
            let me = Sender { user: opened.user, administers: opened.administers };
            let session = Some(Opened { token: opened.token, expires: opened.expires });
            let user = me.user.to_string();
            Ok((Context { service, cluster, user, key: Some(name), secret, session }, me))
        }
        Key::Service(secret) => {
            let path = path::api(&cluster, "me");
            let answer = client.get(&path, &secret).map_err(|problem| person::unreachable(&problem))?;
            match answer.status {
                200 => {}
                401 => return Err(wrong(client)),
                _ => return Err(Failure::refused(format!("cluster {cluster} at {service}: {}", answer.refusal().1))),
            }
            let me: Me = serde_json::from_str(&answer.text)
                .map_err(|error| Failure::refused(format!("the answer of {service} cannot be read: {error}")))?;
            let user = me.user.to_string();
            let context = Context { service, cluster, user, key: None, secret, session: None };
            Ok((context, Sender { user: me.user, administers: me.administers }))
        }
    }
}

/// Forgets a key, and ends its session.
pub fn logout(named: Option<&str>) -> Result<String, Failure> {
    let folder = contexts::folder()?;
    let mut contexts = Contexts::read(&folder)?;
    let (name, context) = contexts.meant(named)?;
    let ended = Person::of(Some(&name)).and_then(|mut person| person.sign_out());
    contexts.contexts.remove(&name);
    if contexts.current.as_ref() == Some(&name) {
        contexts.current = None;
    }
    contexts.write(&folder)?;
    let Context { cluster, service, .. } = context;
    let mut said = format!("{name}: logged out of cluster {cluster} at {service}");
    if let Err(failure) = ended {
        // The key is forgotten all the same: that is what was asked for.
        let _ = write!(said, "; its session ends by itself within twelve hours ({})", failure.text);
    }
    Ok(said)
}

/// Chooses a context, or lists them.
pub fn context(chosen: Option<&str>) -> Result<String, Failure> {
    let folder = contexts::folder()?;
    let mut contexts = Contexts::read(&folder)?;
    if let Some(chosen) = chosen {
        let (name, _) = contexts.meant(Some(chosen))?;
        contexts.current = Some(name);
        contexts.write(&folder)?;
    } else if contexts.contexts.is_empty() {
        contexts.meant(None)?;
    }
    let line = |(name, context): (&String, &Context)| {
        let mark = if contexts.current.as_ref() == Some(name) { "*" } else { " " };
        format!("{mark} {name}: cluster {} at {}, as {}", context.cluster, context.service, context.user)
    };
    Ok(contexts.contexts.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::shell::failure::Status;

    #[test]
    fn an_address_may_name_the_cluster_and_never_the_key() {
        let told = |address: &str| split(address).unwrap();
        assert_eq!(told("http://127.0.0.1:8787"), ("http://127.0.0.1:8787".to_owned(), None));
        let lab = ("https://a.example.org".to_owned(), Some("lab".to_owned()));
        assert_eq!(told("https://a.example.org/clusters/lab"), lab);
        assert_eq!(told("https://a.example.org/clusters/lab/jobs?state=queued"), lab);
        let failure = split("https://a.example.org/clusters/lab#key=secret").unwrap_err();
        assert_eq!(failure.status, Status::Usage);
        assert!(!failure.text.contains("secret"), "{}", failure.text);
    }
}
