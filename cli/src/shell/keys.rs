//! `tidegate key`: access keys, by which other people and programs log in. A secret is shown once.

use clap::Args;
use clap::Subcommand;
use console_model::path;
use engine::message::command::Command;
use engine::message::command::people::CreateKey;
use engine::message::command::people::RevokeKey;
use engine::unit::id::UserId;
use engine::workspace::key::KeyId;
use protocol::answer::KeyShown;

use crate::service::time;
use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::prompt;
use crate::shell::table::Cell;
use crate::shell::table::Column;
use crate::shell::table::Table;

const COLUMNS: [Column; 4] = [
    Column::words("key", "KEY"),
    Column::words("user", "USER"),
    Column::words("rights", "RIGHTS"),
    Column::words("state", "STATE"),
];

/// What `tidegate key` is asked for.
#[derive(Debug, Args)]
pub struct Key {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
enum Task {
    /// Makes a key for somebody, and prints it with its secret, which is shown this one time.
    Create {
        /// Whose it is; what is sent with it counts as theirs.
        user: String,
        /// The key administers the whole cluster; otherwise the user's roles in workspaces count.
        #[arg(long)]
        administers: bool,
        /// Its name after the cluster's and a full stop; the user's name if nothing is said.
        #[arg(long)]
        name: Option<String>,
        /// The context [default: TIDEGATE_CONTEXT, or the current one].
        #[arg(long)]
        context: Option<String>,
    },
    /// Lists one's own keys; who administers the cluster sees all.
    List(At),
    /// Ends a key for good: who uses it is refused at once.
    Revoke {
        /// Its name, such as lab.ann.
        key: String,
        /// Agrees without being asked.
        #[arg(long, short)]
        yes: bool,
        /// The context [default: TIDEGATE_CONTEXT, or the current one].
        #[arg(long)]
        context: Option<String>,
    },
}

/// Does it.
pub fn keys(asked: &Key) -> Result<(), Failure> {
    match &asked.task {
        Task::Create { user, administers, name, context } => {
            create(Person::of(context.as_deref())?, user, name.as_deref(), *administers)
        }
        Task::List(at) => list(at),
        Task::Revoke { key, yes, context } => revoke(Person::of(context.as_deref())?, key, *yes),
    }
}

fn create(mut person: Person, user: &str, name: Option<&str>, administers: bool) -> Result<(), Failure> {
    let key = named(&format!("{}.{}", person.context.cluster, name.unwrap_or(user)))?;
    let user = UserId::new(user).map_err(|bad| Failure::usage(bad.to_string()))?;
    let (serves, adopts) = (Vec::new(), Vec::new());
    let (whose, known) = (user.to_string(), person.read::<Vec<KeyShown>>("keys")?);
    if known.iter().any(|shown| shown.key == key) {
        return Err(person.refused_since(&format!(
            "there is a key {key} already, and its secret was shown once; choose another name with --name"
        )));
    }
    let command = Command::CreateKey(CreateKey { key: key.clone(), user, administers, expires: None, serves, adopts });
    let secret = person.make_secret(command)?;
    let address = format!("{}{}", person.address(), path::cluster(&person.context.cluster));
    prompt::say(&format!(
        "tidegate: keep this now, it is shown this one time; {whose} logs in with: tidegate login {address}\n"
    ));
    print::line(&format!("{key}:{secret}"))
}

fn list(at: &At) -> Result<(), Failure> {
    let mut person = Person::of(at.context.as_deref())?;
    let now = time::now();
    let row = |KeyShown { key, is_now, .. }: KeyShown| {
        let rights = match (is_now.administers, &is_now.serves[..]) {
            (true, _) => "administers the cluster".to_owned(),
            (false, []) => "the user's roles".to_owned(),
            (false, _) => {
                format!("agent for {}", is_now.serves.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        let state = if is_now.is_revoked {
            "revoked"
        } else if is_now.generations(now).next().is_none() {
            "expired"
        } else {
            "serves"
        };
        vec![Cell::of(key.as_str()), Cell::of(is_now.owner.as_str()), Cell::of(&rights), Cell::of(state)]
    };
    let rows = person.read::<Vec<KeyShown>>("keys")?.into_iter().map(row).collect();
    print::table(&Table { columns: &COLUMNS, rows, empty: "No keys." }, at.output)
}

fn revoke(mut person: Person, key: &str, is_agreed: bool) -> Result<(), Failure> {
    let key = named(key)?;
    prompt::say(&format!("Everybody who uses {key} is signed out and refused at once. It cannot be brought back.\n"));
    if !is_agreed {
        prompt::agree(&format!("Revoke {key}?"))?;
    }
    let said = format!("{key} is revoked.");
    person.send(Command::RevokeKey(RevokeKey { key }), None, None)?;
    print::line(&said)
}

fn named(name: &str) -> Result<KeyId, Failure> {
    let bad =
        || Failure::usage(format!("“{name}” is not the name of a key: letters, digits, and . _ -, such as lab.ann"));
    KeyId::new(name).ok_or_else(bad)
}
