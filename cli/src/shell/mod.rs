//! Tidegate from a shell, for people: what runs, why something waits, what a command would cost, and the command.
//!
//! Every sentence about a decision is the engine's, over the state as its reader may see it; what the console computes for
//! its screens is computed here by the same code. Nothing is decided here: the service decides again what is sent.

pub mod at;
pub mod clock;
pub mod failure;
pub mod named;
pub mod table;

pub mod file;

pub mod contexts;
pub mod print;
pub mod prompt;

pub mod person;

pub mod agree;
pub mod declared;
pub mod document;
pub mod follow;

pub mod apply;
pub mod backup;
pub mod change;
pub mod completion;
pub mod deletion;
pub mod events;
pub mod job;
pub mod job_file;
pub mod jobs;
pub mod keys;
pub mod login;
pub mod logs;
pub mod node;
pub mod nodes;
pub mod offers;
pub mod quotas;
pub mod removal;
pub mod submit;
pub mod wait;

use clap::Subcommand;

use crate::shell::apply::Apply;
use crate::shell::apply::Form;
use crate::shell::at::At;
use crate::shell::backup::BackupTask;
use crate::shell::change::Cancel;
use crate::shell::change::Prio;
use crate::shell::change::Scale;
use crate::shell::deletion::Delete;
use crate::shell::events::Events;
use crate::shell::failure::Failure;
use crate::shell::job::OneJob;
use crate::shell::jobs::Jobs;
use crate::shell::keys::Key;
use crate::shell::login::Login;
use crate::shell::logs::Logs;
use crate::shell::node::OneNode;
use crate::shell::quotas::Quotas;
use crate::shell::removal::QuotaTask;
use crate::shell::removal::WorkspaceTask;
use crate::shell::submit::Submit;
use crate::shell::wait::Wait;

/// How there is more of it.
const MADE_BY_A_FILE: &str = "Quotas, workspaces and their members are made, attached and detached by a file: `tidegate export > \
                              cluster.toml`, change it, `tidegate apply cluster.toml`; `tidegate apply --help` shows how.";

/// What people do from a shell.
#[derive(Debug, Subcommand)]
pub enum ShellTask {
    /// Logs in to a cluster: its key is kept in ~/.config/tidegate, where nobody else reads it.
    Login(Login),
    /// Forgets a key, and ends its session.
    Logout {
        /// The context [default: the current one].
        #[arg(long)]
        context: Option<String>,
    },
    /// Says which clusters one is logged in to, and chooses the current one.
    Context {
        /// The one to work with from now on.
        name: Option<String>,
    },
    /// Submits a job: its command after `--`. What it would come to is said first where that costs somebody something.
    Submit(Box<Submit>),
    /// Lists jobs.
    Jobs(Jobs),
    /// Says what there is to know of a job, and what has happened to it.
    Job(OneJob),
    /// Says why a job waits, and what would start it.
    Why(OneJob),
    /// Prints what a job prints.
    Logs(Logs),
    /// Waits until jobs have ended. Ends with status 0 if all have succeeded, 10 if one failed, 11 if one was preempted for
    /// good, 12 if one was cancelled, 13 if the time was over first.
    Wait(Wait),
    /// Cancels jobs, after it was said what they lose.
    Cancel(Cancel),
    /// Changes a job's priority.
    Prio(Prio),
    /// Shows the tree of quotas, and where each one's GPUs are.
    Quotas(Quotas),
    /// Changes what a quota is guaranteed.
    Scale(Scale),
    /// Deletes a quota, after it was said what that means.
    #[command(subcommand, after_help = MADE_BY_A_FILE)]
    Quota(QuotaTask),
    /// Deletes a workspace, after it was said what that means.
    #[command(subcommand, after_help = MADE_BY_A_FILE)]
    Workspace(WorkspaceTask),
    /// Makes a cluster as a file says: all of it as one plan, or nothing. What it costs is said first. One that is not there yet
    /// is created first
    Apply(Apply),
    /// Prints a cluster as a file: what it declares, groups, nodes, quotas, workspaces, offers.
    Export {
        /// The context [default: the current one].
        #[arg(long)]
        context: Option<String>,
        /// How it is printed.
        #[arg(long, short, value_enum, default_value_t)]
        output: Form,
    },
    /// Makes, lists and revokes access keys, by which other people and programs log in.
    Key(Key),
    /// Deletes a cluster with all that is in it, after it was said what that costs.
    Delete(Delete),
    /// Saves a whole cluster as one file, and makes a cluster of such a file.
    #[command(subcommand)]
    Backup(BackupTask),
    /// Lists the offers of the spot market.
    Offers(At),
    /// Lists the machines and their agents, with what is free, what is held, and what is overdue.
    Nodes(At),
    /// Cordons, uncordons, drains, declares dead or deletes a machine, after it was said what that means.
    Node(OneNode),
    /// Lists what was decided lately.
    Events(Events),
}

/// Does it.
pub fn run(task: &ShellTask) -> Result<(), Failure> {
    match task {
        ShellTask::Login(asked) => print::line(&login::login(asked)?),
        ShellTask::Logout { context } => print::line(&login::logout(context.as_deref())?),
        ShellTask::Context { name } => print::line(&login::context(name.as_deref())?),
        ShellTask::Submit(asked) => submit::submit(asked),
        ShellTask::Cancel(asked) => change::cancel(asked),
        ShellTask::Prio(asked) => change::prio(asked),
        ShellTask::Scale(asked) => change::scale(asked),
        ShellTask::Quota(task) => removal::quota(task),
        ShellTask::Workspace(task) => removal::workspace(task),
        ShellTask::Apply(asked) => apply::apply(asked),
        ShellTask::Export { context, output } => apply::export(context.as_deref(), *output),
        ShellTask::Key(asked) => keys::keys(asked),
        ShellTask::Delete(asked) => deletion::delete(asked),
        ShellTask::Backup(asked) => backup::run(asked),
        ShellTask::Jobs(asked) => jobs::jobs(asked),
        ShellTask::Job(asked) => job::job(asked),
        ShellTask::Why(asked) => job::why(asked),
        ShellTask::Logs(asked) => logs::logs(asked),
        ShellTask::Wait(asked) => wait::wait(asked),
        ShellTask::Quotas(asked) => quotas::quotas(asked),
        ShellTask::Offers(at) => offers::offers(at),
        ShellTask::Nodes(at) => nodes::nodes(at),
        ShellTask::Node(asked) => node::node(asked),
        ShellTask::Events(asked) => events::events(asked),
    }
}
