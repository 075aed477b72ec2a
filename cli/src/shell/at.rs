//! What is said to every command that shows something of a cluster.

use clap::Args;

use crate::shell::table::Output;

/// At which cluster, and how what is found is printed.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]
pub struct At {
    /// The context [default: TIDEGATE_CONTEXT, or the current one].
    #[arg(long)]
    pub context: Option<String>,
    /// How it is printed.
    #[arg(long, short, value_enum, default_value_t)]
    pub output: Output,
}
