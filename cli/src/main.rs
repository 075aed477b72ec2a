//! The command `tidegate`: arguments in, exit status out.
#![expect(clippy::doc_markdown, reason = "the comments of arguments are the help text")]

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use engine::unit::time::Timestamp;
use serde::Serialize;
use tidegate::agents;
use tidegate::agents::task::AgentTask;
use tidegate::agents::task::SlurmTask;
use tidegate::bench::figure::Figure;
use tidegate::bench::growth;
use tidegate::bench::growth::Growing;
use tidegate::bench::measure;
use tidegate::bench::measure::CASES;
use tidegate::bench::timing::Bench;
use tidegate::bench::timing::Philly;
use tidegate::check;
use tidegate::meter::Process;
use tidegate::plan;
use tidegate::plan::Plan;
use tidegate::replay;
use tidegate::replay::compare::Asked;
use tidegate::replay::compare::Strategy;
use tidegate::scenario;
use tidegate::shell;
use tidegate::shell::ShellTask;
use tidegate::shell::completion;
use tidegate::shell::completion::Shell;
use tidegate::shell::failure::Failure;
use tidegate::shell::job_file;
use tidegate::up;
use tidegate::up::Up;
use trace::calendar;
use trace::offers::Offers;
use trace::offers::Reading;
use trace::sheet::Source;

/// Who gets the GPUs, and why.
///
/// A cluster of this computer (`up`), any cluster from a shell (`login`, then `submit`, `jobs`, `why`, `logs`), the machines
/// on which jobs run (`agent`); and the engine alone: scenarios, policy checks, replays of real traces, figures.
#[derive(Debug, Parser)]
#[command(name = "tidegate", about, disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// How the figures of a replay are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As text.
    #[default]
    Text,
    /// As JSON, for scripts.
    Json,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Serves a cluster of this computer, with an agent that runs its jobs here, until it is ended; jobs go on without it.
    Up(Up),
    #[command(flatten)]
    Shell(ShellTask),
    /// Prints what a shell completes the words of this command by: bash, zsh or fish.
    Completion {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Makes this machine one on which a cluster's jobs run.
    #[command(subcommand)]
    Agent(AgentTask),
    /// Governs a Slurm cluster that is there.
    #[command(subcommand)]
    Slurm(SlurmTask),
    /// Runs scenario files (.md) and says which of them hold.
    Scenario {
        /// The files.
        #[arg(required_unless_present = "reference")]
        files: Vec<PathBuf>,
        /// Prints the reference of the language, as Markdown.
        #[arg(long, conflicts_with = "files")]
        reference: bool,
    },
    /// Replays a trace of jobs and says how long they wait, what is used, and what evictions cost.
    Replay {
        /// The job table (.csv): job_id, submit_s, duration_s, gpus, group, and optional columns.
        trace: PathBuf,
        /// The quotas (.csv): group, parent, gpus.
        #[arg(long)]
        quotas: PathBuf,
        /// The nodes (.csv): sn and gpu, or node_name and gpu_capacity_num. Without it the machines are one pool.
        #[arg(long)]
        nodes: Option<PathBuf>,
        /// Makes as many nodes with this many GPUs as the root quotas need.
        #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i64).range(1..=16))]
        gpus_per_node: Option<i64>,
        /// Switches on preemption: self-level 6 to 9 over 1 to 4 on every leaf, child-level 1 to 4 on every parent.
        #[arg(long)]
        preemption: bool,
        /// The spot market (.csv), on which jobs with bid_discount, bid_price or offer run.
        ///
        /// A line says what holds of an offer from a time on: offer; at_s (seconds of the trace) or timestamp
        /// (2026-11-21T08:00:00Z); price; inventory. Lines need not be in order, and what is left out stays as it is.
        /// The terms stand on at least one line of an offer: original_price, gpus (of an instance), resource_type
        /// (lingjun or general, lingjun if left out), protection_s and window_s (3600), grace_s (0), price_source
        /// (published or auction). Without inventory there are as many instances as anybody asks for. The market asks
        /// a tenth of the original price to all of it.
        #[arg(long, verbatim_doc_comment)]
        offers: Option<PathBuf>,
        /// Prices of offers and bid_price are for an instance-hour; otherwise for an instance-minute.
        #[arg(long, requires = "offers")]
        per_hour: bool,
        /// The timestamp that is second 0 of the trace; otherwise the earliest one of the offers.
        #[arg(long, requires = "offers", value_parser = timestamp)]
        zero: Option<Timestamp>,
        /// Replays the trace with all quotas ordered by each of these, and prints side by side what it comes to.
        #[arg(long, value_enum, value_delimiter = ',', value_name = "STRATEGY,STRATEGY")]
        compare: Vec<Strategy>,
        /// How often each is replayed, every time with the submissions moved by up to a minute; the same number moves
        /// them in the same way.
        #[arg(long, default_value_t = 20, requires = "compare", value_parser = clap::value_parser!(u64).range(1..=1000))]
        seeds: u64,
        /// How it is printed.
        #[arg(long, short, value_enum, default_value_t)]
        output: Format,
        /// The same as `-o json`.
        #[arg(long, conflicts_with = "output")]
        json: bool,
    },
    /// Says what changes would come to, in the figures of the console's planner page: for a cluster, or for a trace of jobs.
    Plan(Plan),
    /// Looks for what quotas and policies will come to that hardly anybody means, with an example and a change for each.
    ///
    /// Ends with status 1 when one of the findings is a fault: a policy, a priority or a right that can never be used,
    /// or quotas that can evict each other's jobs in turns. Warnings alone end with status 0.
    Check {
        /// A scenario (.md), of which the scene counts; a table of quotas (.csv): group, parent, gpus; or the snapshot
        /// of a cluster (.json).
        file: PathBuf,
        /// Of a table: switches on preemption, as in a replay.
        #[arg(long)]
        preemption: bool,
    },
    /// Measures the figures to reach, and prints each beside its target.
    Bench {
        /// What to measure, by name; otherwise everything.
        names: Vec<String>,
        /// Prints the names and measures nothing.
        #[arg(long)]
        list: bool,
        /// Measures everything a single time, and what is long in a shorter form; prints how much work that was.
        ///
        /// For a profiler that counts the instructions of the function measured_work.
        #[arg(long)]
        once: bool,
        /// Prints a JSON list instead of text.
        #[arg(long)]
        json: bool,
        /// The folder with philly_week.csv; without it that figure is left out.
        #[arg(long, default_value = "../shared/traces")]
        traces: PathBuf,
        /// Runs one full round of a cluster of this size and nothing else, for a profiler that counts instructions;
        /// nodes=N jobs=M are more machines, backlog=N quotas=M jobs that may preempt, bids=N offers=M a market.
        #[arg(long, num_args = 2, value_names = ["jobs=N", "quotas=M"])]
        growth_step: Option<Vec<String>>,
    },
}

fn timestamp(text: &str) -> Result<Timestamp, String> {
    calendar::timestamp(text).ok_or_else(|| "write a date and a time, such as 2026-11-21T08:00:00Z".to_owned())
}

fn main() -> ExitCode {
    // The same program watches over the runs that an agent starts.
    if let Some(code) = runner::supervise::run_if_asked() {
        return ExitCode::from(code);
    }
    if let Some(problem) = up::runtime::become_if_asked() {
        return fail(&problem);
    }
    let words = match job_file::expanded(&Arguments::command(), std::env::args_os().collect()) {
        Ok(words) => words,
        Err(failure) => return end(&failure),
    };
    let Arguments { task } = Arguments::parse_from(words);
    match run(task) {
        Ok(code) => code,
        Err(problem) => fail(&problem),
    }
}

fn fail(problem: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "tidegate: {problem}");
    ExitCode::FAILURE
}

/// Says what went wrong, and what scripts are told.
fn end(failure: &Failure) -> ExitCode {
    if !failure.text.is_empty() {
        fail(&failure.text);
    }
    failure.code()
}

fn run(task: Task) -> Result<ExitCode, String> {
    let mut out = std::io::stdout().lock();
    match task {
        Task::Scenario { reference: true, .. } => say(script::reference::markdown().trim_end(), &mut out),
        Task::Scenario { files, .. } => {
            let tally = scenario::report::run_files(&files, &mut out).map_err(|error| error.to_string())?;
            Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Task::Replay {
            trace,
            quotas,
            nodes,
            gpus_per_node,
            preemption,
            offers,
            per_hour,
            zero,
            compare,
            seeds,
            output,
            json,
        } => {
            let (quotas, nodes) = (Source::open(&quotas)?, nodes.as_deref().map(Source::open).transpose()?);
            let nodes = nodes.as_ref();
            let setting =
                trace::machines::Setting { quotas: &quotas, nodes, gpus_per_node, has_preemption: preemption };
            let reading = Reading { is_per_hour: per_hour, zero };
            let offers = offers.map(|offers| Offers::read(&Source::open(&offers)?, reading)).transpose()?;
            let asked = Asked { strategies: compare, seeds };
            replay(&Source::open(&trace)?, &setting, offers.as_ref(), &asked, json || output == Format::Json, &mut out)
        }
        Task::Shell(task) => {
            // What is followed is printed as it comes, and what is asked must be seen before.
            drop(out);
            Ok(shell::run(&task).map_or_else(|failure| end(&failure), |()| ExitCode::SUCCESS))
        }
        Task::Completion { shell } => say(completion::script(Arguments::command(), shell).trim_end(), &mut out),
        Task::Agent(task) => say(&agents::task::agent(task, "tidegate agent")?, &mut out),
        Task::Slurm(task) => say(&agents::task::slurm(task)?, &mut out),
        Task::Plan(asked) => say(&plan::plan(&asked)?, &mut out),
        Task::Up(asked) => say(&up::up(&asked)?, &mut out),
        Task::Check { file, preemption } => {
            let has_faults = check::run(&file, preemption, &mut out)?;
            Ok(if has_faults { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        Task::Bench { growth_step: Some(sizes), .. } => growth_step(&sizes, &mut out),
        Task::Bench { list: true, .. } => {
            let names = CASES.iter().try_for_each(|case| writeln!(out, "{}", case.name));
            names.map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string())
        }
        Task::Bench { names, once, json, traces, .. } => bench(&names, &traces, once, json, &mut out),
    }
}

fn say(text: &str, out: &mut impl Write) -> Result<ExitCode, String> {
    writeln!(out, "{text}").map(|()| ExitCode::SUCCESS).map_err(|error| error.to_string())
}

fn replay(
    trace: &Source,
    setting: &trace::machines::Setting<'_>,
    offers: Option<&Offers>,
    asked: &Asked,
    is_json: bool,
    out: &mut impl Write,
) -> Result<ExitCode, String> {
    let (stage, trace) = replay::run::prepare(setting, offers, trace)?;
    if asked.strategies.is_empty() {
        return say(&as_text(&replay::run::replay(stage, trace, &Process::this(), true)?, is_json)?, out);
    }
    let comparison = replay::compare::compare(&stage, &trace, asked, &Process::this())?;
    say(as_text(&comparison, is_json)?.trim_end(), out)
}

fn as_text(figures: &(impl Serialize + Display), is_json: bool) -> Result<String, String> {
    if is_json {
        return serde_json::to_string_pretty(figures).map_err(|error| error.to_string());
    }
    Ok(figures.to_string())
}

fn bench(
    names: &[String],
    traces: &Path,
    is_once: bool,
    is_json: bool,
    out: &mut impl Write,
) -> Result<ExitCode, String> {
    let mut problem = Ok(());
    let mut tell = |figure: &Figure| {
        if is_once && problem.is_ok() {
            problem = writeln!(out, "{}", figure.work);
        } else if !is_json && problem.is_ok() {
            problem = writeln!(out, "{figure}").and_then(|()| out.flush());
        }
    };
    let (jobs, quotas) = (traces.join("philly_week.csv"), traces.join("philly_quotas.csv"));
    let philly = if jobs.exists() && quotas.exists() {
        Some(Philly { jobs: Source::open(&jobs)?, quotas: Source::open(&quotas)? })
    } else {
        None
    };
    let bench = Bench { meter: &Process::this(), philly: philly.as_ref(), is_once };
    let figures = measure::all(bench, names, &mut tell)?;
    if is_json {
        let text = serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?;
        problem = writeln!(out, "{text}");
    }
    problem.map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn growth_step(sizes: &[String], out: &mut impl Write) -> Result<ExitCode, String> {
    let size = |name: &str| {
        let text = sizes.iter().find_map(|size| size.strip_prefix(name)?.strip_prefix('='));
        text.and_then(|text| text.replace('_', "").parse().ok())
    };
    let known = [
        (Growing::Jobs, size("jobs"), size("quotas")),
        (Growing::Nodes, size("nodes"), size("jobs")),
        (Growing::Backlog, size("backlog"), size("quotas")),
        (Growing::Bids, size("bids"), size("offers")),
    ];
    let asked = known.into_iter().find_map(|(growing, count, among)| Some((growing, count?, among?)));
    let Some((growing, count, among)) = asked else {
        return Err(format!("{sizes:?} is no size; write --growth-step jobs=N quotas=M, or what --help names"));
    };
    let mut session = growth::growth_cluster(growing, count, among)?;
    let events = growth::one_full_round(&mut session)?;
    writeln!(out, "one full round, {events} events").map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}
