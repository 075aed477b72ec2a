//! `tidegate delete`: a cluster with all that is in it. The service says what that costs, and takes no other price.

use clap::Args;
use console_model::deletion;
use console_model::deletion::ClusterCost;

use crate::shell::failure::Failure;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::prompt;

/// What `tidegate delete` is asked for.
#[derive(Debug, Args)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
pub struct Delete {
    /// The cluster's name, so that nobody deletes another one than they mean.
    pub cluster: String,
    /// Agrees to what it costs without being asked; that is said all the same.
    #[arg(long, short)]
    pub yes: bool,
    /// Says what it would cost, and deletes nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// The context [default: TIDEGATE_CONTEXT, or the current one].
    #[arg(long)]
    pub context: Option<String>,
}

/// Deletes it for what has been said.
pub fn delete(asked: &Delete) -> Result<(), Failure> {
    let mut person = Person::of(asked.context.as_deref())?;
    let cluster = person.context.cluster.clone();
    if asked.cluster != cluster {
        let text = format!(
            "this is cluster {cluster}, not {}; choose the other one with --context; nothing was deleted",
            asked.cluster
        );
        return Err(Failure::usage(text));
    }
    let cost: ClusterCost = person.read("deletion")?;
    let costs = deletion::of_cluster(&cost).join("\n");
    if asked.dry_run {
        return print::line(&costs);
    }
    prompt::say(&format!("{costs}\n"));
    if !asked.yes {
        prompt::agree(&format!("Delete the cluster {cluster} for good?"))?;
    }
    person.post(&format!("delete?confirm={}", console_model::path::escape(&cost.confirm)))?;
    print::line(&format!("The cluster {cluster} is deleted."))
}
