//! The reference of the language: every verb and every option with its form, what it says, and an example that is read.
//!
//! It is made for people, by `tidegate scenario --reference`. A test reads every example, and holds the words of the
//! parser against it: what is read stands here, and what stands here is read.

use std::fmt::Write;

/// A verb, or an option of several.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// How it is written; what people choose is in capital letters.
    pub form: &'static str,
    /// What it says.
    pub what: &'static str,
    /// A line with it.
    pub example: &'static str,
}

/// A part of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its heading.
    pub title: &'static str,
    /// What holds for all of it.
    pub what: &'static str,
    /// Its entries.
    pub entries: &'static [Entry],
}

const fn entry(form: &'static str, what: &'static str, example: &'static str) -> Entry {
    Entry { form, what, example }
}

/// All of it.
pub const PARTS: [Part; 7] = [
    Part {
        title: "The scene",
        what: "What is there before anything happens.",
        entries: &[
            entry(
                "cluster [DIMENSION...] [reported]",
                "What is counted, before everything else: GPUs if it is left out. `cpu`, `memory` and `rdma` are known; any other name is a type of GPUs. Whose jobs are `reported` hears of their ends from agents.",
                "cluster h100 a100 cpu reported",
            ),
            entry(
                "group NAME [lingjun|general] [AMOUNT] [stop-after PERIOD]",
                "A resource group; with an amount it is a pool without nodes.",
                "group new general 64",
            ),
            entry("node NAME AMOUNT [in GROUP] [cordoned]", "A machine.", "node n1 8,cpu=64 in new cordoned"),
            entry(
                "quota NAME AMOUNT [in PARENT | from GROUP,...] [POLICY...]",
                "A quota: a part of its parent, or a root. Roots that name no group draw on one pool of what they need, or on the nodes without a group.",
                "quota TeamA 16 in Research child-level 1-3 DLC",
            ),
            entry(
                "run NAME QUOTA MODULE PRIORITY PODS [JOB OPTION...] [idle] [since PERIOD] [on NODE,...]",
                "A job that runs already, for an hour if no more is said; `idle` if it runs on what is lent.",
                "run train TeamA DLC p5 2x8 idle since 2h on n1,n2",
            ),
            entry(
                "offer NAME lingjun|general AMOUNT xNUMBER original PRICE [at PRICE] [auction] [protection PERIOD] [window PERIOD] [grace PERIOD]",
                "An offer of the spot market.",
                "offer gn7 general 8 x4 original 10 at 3 protection 1h",
            ),
        ],
    },
    Part {
        title: "What is done",
        what: "Each becomes a control of a planner in a page.",
        entries: &[
            entry(
                "submit NAME QUOTA MODULE PRIORITY PODS [JOB OPTION...]",
                "Submits a job.",
                "submit big TeamA EAS p9 16 acceptable",
            ),
            entry(
                "bid NAME OFFER NUMBER [PERCENT%] [limit PRICE] [as-price-goes] [BID OPTION...]",
                "Submits a job that bids for so many instances.",
                "bid cheap gn7 2 40% for 6h",
            ),
            entry("cancel JOB", "Cancels a job.", "cancel big"),
            entry("priority JOB NUMBER", "Gives a job another priority.", "priority big p3"),
            entry("resize JOB PODS [min PODS]", "Gives a job more or fewer pods.", "resize big 6 min 2"),
            entry(
                "scale QUOTA=AMOUNT... [evict]",
                "Changes what quotas are guaranteed, all at once; with `evict` jobs that do not fit any more go at once.",
                "scale TeamA=8 TeamB=24 evict",
            ),
            entry(
                "update QUOTA [POLICY...]",
                "States all settings of a quota anew.",
                "update TeamA self-level 6-9 over 1-4 DLC grace 30s",
            ),
            entry(
                "price OFFER PRICE [PERIOD ago|ahead]",
                "The market price of an offer, now or at another time.",
                "price gn7 4.5 30m ago",
            ),
            entry("inventory OFFER NUMBER", "How many instances an offer has.", "inventory gn7 2"),
            entry("cordon NODE", "A node takes no new pods.", "cordon n1"),
            entry("uncordon NODE", "It takes new pods again.", "uncordon n1"),
            entry("dead NODE", "It is declared dead.", "dead n1"),
            entry("delete NODE", "It is deleted.", "delete n1"),
            entry("silent NODE [stop-after PERIOD]", "Nobody hears of a node any more.", "silent n1 stop-after 5m"),
            entry("heard NODE", "It is heard again.", "heard n1"),
            entry("finish JOB", "A job has done its work.", "finish big"),
            entry(
                "report JOB [run RUN] confirmed|checkpointed|stopped|finished|failed|failed-by-node|failed-to-start|vacated [MORE]",
                "What an agent tells of a job; MORE is why it failed, or the order that was followed.",
                "report big run 0-1042 failed out of memory",
            ),
            entry(
                "execution [simulated|reported] [start-within PERIOD]",
                "Whether jobs are simulated, and how soon a start is to be confirmed.",
                "execution reported start-within 2m",
            ),
        ],
    },
    Part {
        title: "Time",
        what: "What is written before is done before.",
        entries: &[
            entry("round", "Runs a round now.", "round"),
            entry("advance PERIOD", "Time goes on, with a round whenever time alone changes something.", "advance 90m"),
            entry(
                "pass PERIOD",
                "Time goes on with a scheduled round each minute, in which prices and protections act.",
                "pass 10m",
            ),
            entry("skip PERIOD", "Time goes on, and nobody looks.", "skip 1d"),
        ],
    },
    Part {
        title: "Questions",
        what: "For files that are played, with the answers in lines that begin with `> `; a page answers by itself.",
        entries: &[
            entry("status JOB", "What its state is called.", "status big"),
            entry("why JOB", "Why it waits.", "why big"),
            entry("remedy JOB", "What would start it.", "remedy big"),
            entry("bills JOB", "What it owes.", "bills cheap"),
            entry("overdue", "What has not been confirmed in time.", "overdue"),
        ],
    },
    Part {
        title: "POLICY: settings of a quota",
        what: "SET are priorities: `6-9`, `4`, `1,3,5`. MODULES are some of `DLC,DSW,EAS`.",
        entries: &[
            entry(
                "child-level SET MODULES",
                "Its jobs may take such jobs of the quotas below.",
                "update A child-level 1-3 DLC,DSW",
            ),
            entry(
                "self-level SET over SET MODULES",
                "Its jobs of the first priorities may take jobs of the second ones at the same level.",
                "update A self-level 6-9 over 1-4 DLC",
            ),
            entry(
                "scope own|same-level|siblings-idle",
                "How far self-level preemption reaches; behind it.",
                "update A self-level 6-9 over 1-4 DLC scope siblings-idle",
            ),
            entry(
                "grace PERIOD",
                "How long an evicted job may take to stop: none if nothing is said.",
                "update A grace 0s",
            ),
            entry(
                "min-runtime PERIOD",
                "How long its jobs are nobody's victims after their start.",
                "update A min-runtime 30m",
            ),
            entry("starvation PERIOD", "After which wait a job gets a reservation.", "update A starvation 6h"),
            entry(
                "strategy intelligent|strict-fifo|round-robin|balance",
                "How its queue is ordered.",
                "update A strategy strict-fifo",
            ),
            entry("no-lending", "It keeps what it does not use.", "update A no-lending"),
        ],
    },
    Part {
        title: "JOB OPTION and BID OPTION",
        what: "Behind the pods of a job, or the instances of a bid.",
        entries: &[
            entry("acceptable", "It may run on idle amounts.", "submit x A DLC p5 8 acceptable"),
            entry("only", "It runs on idle amounts alone.", "submit x A DLC p5 8 only"),
            entry("fault-tolerance", "It is queued again after an eviction.", "submit x A DLC p5 8 fault-tolerance"),
            entry("for PERIOD", "How long it runs.", "submit x A DLC p5 8 for 6h"),
            entry("checkpoint PERIOD", "How often its work is saved.", "submit x A DLC p5 8 checkpoint 15m"),
            entry(
                "min PODS",
                "It starts with so many of its pods; the others come and go.",
                "submit x A DLC p5 8x1 min 4",
            ),
            entry(
                "only-on NODES",
                "Where it may run: names with commas between them.",
                "submit x A DLC p5 8 only-on n1,n2",
            ),
            entry("not-on NODES", "Where it may not run.", "submit x A DLC p5 8 not-on n3"),
            entry("limit PRICE", "The most that a bid pays for an instance.", "bid x gn7 1 limit 4"),
            entry("as-price-goes", "A bid that pays what the market asks.", "bid x gn7 1 as-price-goes"),
            entry("of AMOUNT", "What each instance of a bid is used for.", "bid x gn7 1 40% of 4"),
            entry("DLC | DSW | EAS", "The module of a bid: DLC if nothing is said.", "bid x gn7 1 40% DSW"),
            entry(
                "mpi | other-framework | no-network",
                "What a bid runs with, where its offer asks for it.",
                "bid x gn7 1 40% mpi",
            ),
        ],
    },
    Part {
        title: "Amounts, pods, periods",
        what: "What capital letters stand for.",
        entries: &[
            entry(
                "AMOUNT",
                "A number of GPUs, also a part of one, or numbers with names: cores for `cpu`, GiB for `memory`.",
                "node n1 8,cpu=64,memory=512",
            ),
            entry(
                "PODS",
                "One pod, or several kinds, each with a number before `x`.",
                "submit x A DLC p5 1x0,cpu=4+2x8",
            ),
            entry("PRIORITY", "`p1` to `p9`; 9 goes first.", "submit x A DLC p9 8"),
            entry("PERIOD", "A number with `s`, `m`, `h` or `d`.", "advance 1.5h"),
            entry("# REMARK", "The rest of the line is for people.", "round # it starts"),
        ],
    },
];

/// The reference as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = "# The language of scenarios\n\n\
        A scenario is a list of lines: first the scene, then what is done, with time going on in between.\n\
        A line begins with a verb; what stands in brackets may be left out.\n\
        A line that cannot be read is named with its number, with the letter where the wrong word begins, and with what \
        should stand there.\n"
        .to_owned();
    for Part { title, what, entries } in PARTS {
        let _ = write!(text, "\n## {title}\n\n{what}\n");
        for Entry { form, what, example } in entries {
            let _ = write!(text, "\n`{form}`  \n{what}  \nSuch as: `{example}`\n");
        }
    }
    text
}
