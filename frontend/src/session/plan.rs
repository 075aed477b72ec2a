//! The open plan: where it begins, its variants, and what the bench has told of them.
//!
//! While an answer is under way only the last move counts.

use std::sync::Arc;

use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::unit::id::CommandId;
use engine::unit::time::Millis;
use js_sys::Array;
use leptos::prelude::*;
use workbench::facts::Facts;
use workbench::message::Ask;
use workbench::message::Ended;
use workbench::message::Since;
use workbench::message::Source;
use workbench::message::Tell;
use workbench::sheet::VARIANTS_MAX;

use crate::api::bench::Bench;
use crate::api::browser;
use crate::session::draft::Draft;
use crate::session::draft::Item;
use crate::session::draft::Moment;
use crate::session::draft::changes;
use crate::session::draft::variant;
use crate::session::under_way::Progress;
use crate::session::under_way::Reading;

/// What is to be shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// The link, unless it would be too long.
    pub(crate) link: Option<String>,
    /// The same as a file.
    pub(crate) text: String,
}

/// Which numbers are taken.
#[derive(Clone, Copy)]
struct Numbers {
    /// The plan that is open.
    open: u32,
    /// The plan that was asked for last.
    asked: u32,
    /// The next variant.
    fresh: u32,
}

/// The plan.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    // What is added on a part of the page lasts as long as the plan, and not as long as that part.
    owner: StoredValue<Owner>,
    bench: StoredValue<Option<Bench>, LocalStorage>,
    numbers: StoredValue<Numbers>,
    /// Where it begins; nothing while it is on its way.
    pub(crate) facts: RwSignal<Option<Arc<Facts>>>,
    /// How far it looks.
    pub(crate) length: RwSignal<Option<Millis>>,
    /// The variants.
    pub(crate) variants: RwSignal<Vec<Draft>>,
    /// The one that is edited.
    pub(crate) chosen: RwSignal<u32>,
    /// What the base comes to.
    pub(crate) base: RwSignal<Option<Arc<Ended>>>,
    /// The log that is being read for another beginning.
    pub(crate) reading: RwSignal<Option<Reading>>,
    /// What is under way.
    pub(crate) progress: RwSignal<Option<Progress>>,
    /// The pace of what was run last: events, and milliseconds.
    pub(crate) pace: RwSignal<Option<(u64, i64)>>,
    /// Whether what was under way has been given up.
    pub(crate) is_cancelled: RwSignal<bool>,
    /// What is wrong.
    pub(crate) failed: RwSignal<Option<String>>,
    /// What the last search has found.
    pub(crate) found: RwSignal<Option<(String, Option<Command>)>>,
    /// The command that makes a variant real, and how many of its changes are for later.
    pub(crate) application: RwSignal<Option<(Envelope, u64)>>,
    /// What can be shared.
    pub(crate) shared: RwSignal<Option<Shared>>,
}

impl Plan {
    /// No plan yet; the worker starts.
    pub(crate) fn new() -> Self {
        let plan = Self {
            owner: StoredValue::new(Owner::current().unwrap_or_default()),
            bench: StoredValue::new_local(None),
            numbers: StoredValue::new(Numbers { open: 0, asked: 0, fresh: 1 }),
            facts: RwSignal::new(None),
            length: RwSignal::new(Some(Millis(24 * Millis::HOUR.0))),
            variants: RwSignal::new(Vec::new()),
            chosen: RwSignal::new(0),
            base: RwSignal::new(None),
            reading: RwSignal::new(None),
            progress: RwSignal::new(None),
            pace: RwSignal::new(None),
            is_cancelled: RwSignal::new(false),
            failed: RwSignal::new(None),
            found: RwSignal::new(None),
            application: RwSignal::new(None),
            shared: RwSignal::new(None),
        };
        let bench = Bench::start(
            move |tells| tells.into_iter().for_each(|tell| plan.take(tell)),
            move |message| {
                plan.failed.try_set(Some(message));
            },
        );
        plan.bench.set_value(bench);
        plan
    }

    /// The number of the plan that is open.
    fn number(&self) -> u32 {
        self.numbers.get_value().open
    }

    /// Asks for something about the open plan.
    fn ask(&self, ask: &Ask) {
        self.ask_about(self.number(), ask, &Array::new());
    }

    fn ask_about(&self, plan: u32, ask: &Ask, files: &Array) {
        self.bench.with_value(|bench| match bench {
            Some(bench) => bench.ask(plan, ask, files),
            None => self.failed.set(Some("This browser has no workers; the planner needs one.".to_owned())),
        });
    }

    fn fresh(&self) -> u32 {
        let Numbers { fresh, .. } = self.numbers.get_value();
        self.numbers.update_value(|numbers| numbers.fresh += 1);
        fresh
    }

    /// Opens another plan. What is open stays until it is there.
    pub(crate) fn open(&self, source: Source, files: &Array) {
        let (plan, length) = (self.next(), self.length.get_untracked());
        self.reading.set(None);
        self.ask_about(plan, &Ask::Open { plan, source, length }, files);
    }

    /// Opens another plan with what happened in a cluster. Its log is read first, which can be given up.
    pub(crate) fn open_past(&self, cluster: String, since: Since) {
        let (plan, length) = (self.next(), self.length.get_untracked());
        self.reading.set(Some(Reading { done: 0, entries: 0, at: None }));
        self.ask_about(plan, &Ask::OpenPast { plan, cluster, since, length, now: browser::now() }, &Array::new());
    }

    /// Gives up the log that is being read.
    pub(crate) fn stop_reading(&self) {
        let plan = self.numbers.get_value().asked;
        self.ask_about(plan, &Ask::Cancel { plan }, &Array::new());
    }

    /// The number of the plan that is asked for.
    fn next(&self) -> u32 {
        self.numbers.update_value(|numbers| numbers.asked += 1);
        self.failed.set(None);
        self.shared.set(None);
        self.numbers.get_value().asked
    }

    /// Looks further, or less far.
    pub(crate) fn look(&self, length: Option<Millis>) {
        self.length.set(length);
        self.base.set(None);
        self.progress.set(None);
        self.ask(&Ask::Look { plan: self.number(), length });
        for draft in self.variants.get_untracked() {
            draft.ended.set(None);
            draft.is_waiting.set_value(false);
            self.run(draft);
        }
    }

    /// A new variant with these changes.
    pub(crate) fn add(&self, name: &str, changes: Vec<Change>) {
        if self.variants.with_untracked(Vec::len) >= VARIANTS_MAX {
            return;
        }
        let items = changes.into_iter().map(|change| self.item(change)).collect();
        let draft = self.keep(|| Draft::new(self.fresh(), name, items));
        self.variants.update(|variants| variants.push(draft));
        self.chosen.set(draft.id);
        self.run(draft);
    }

    /// A change for a list.
    pub(crate) fn item(&self, change: Change) -> Item {
        self.keep(|| Item { key: self.fresh(), change: RwSignal::new(change) })
    }

    /// Makes signals that last as long as the plan.
    fn keep<T>(&self, make: impl FnOnce() -> T) -> T {
        self.owner.get_value().with(make)
    }

    /// Takes a variant away.
    pub(crate) fn remove(&self, id: u32) {
        self.variants.update(|variants| variants.retain(|draft| draft.id != id));
        self.ask(&Ask::Forget { plan: self.number(), variant: id });
        if self.chosen.get_untracked() == id {
            let first = self.variants.with_untracked(|variants| variants.first().map(|draft| draft.id));
            self.chosen.set(first.unwrap_or(0));
        }
        self.pause();
    }

    /// Goes on with another variant. What was looked for was about the one before.
    pub(crate) fn choose(&self, id: u32) {
        self.chosen.set(id);
        self.found.set(None);
    }

    /// The variant that is edited.
    pub(crate) fn draft(&self) -> Option<Draft> {
        let chosen = self.chosen.get();
        self.variants.with(|variants| variants.iter().find(|draft| draft.id == chosen).copied())
    }

    /// Runs a variant as it is by now.
    pub(crate) fn run(&self, draft: Draft) {
        self.shared.set(None);
        self.found.set(None);
        if self.is_cancelled.get_untracked() {
            self.is_cancelled.set(false);
            let others = self.variants.get_untracked().into_iter().filter(|other| other.id != draft.id);
            others.filter(|other| !other.is_done()).for_each(|other| self.run(other));
        }
        draft.is_behind.set_value(draft.is_waiting.get_value());
        if draft.is_waiting.get_value() {
            return;
        }
        draft.is_waiting.set_value(true);
        draft.ticket.update_value(|ticket| *ticket += 1);
        let (plan, variant, ticket) = (self.number(), draft.id, draft.ticket.get_value());
        self.ask(&Ask::Run { plan, variant, ticket, changes: changes(draft) });
    }

    /// Looks for the smallest change that reaches a goal.
    pub(crate) fn search(&self, goal: Goal, family: Family) {
        self.failed.set(None);
        self.found.set(Some(("Looking…".to_owned(), None)));
        let changes = self.draft().map(changes).unwrap_or_default();
        self.ask(&Ask::Search { plan: self.number(), changes, goal, family });
    }

    /// Gives up what is under way.
    pub(crate) fn cancel(&self) {
        self.ask(&Ask::Cancel { plan: self.number() });
    }

    /// Asks for the command that makes a variant real.
    pub(crate) fn apply(&self, draft: Draft) {
        let Ok(id) = CommandId::new(&browser::unique("plan")) else { return };
        self.ask(&Ask::Apply { plan: self.number(), changes: changes(draft), id });
    }

    /// Asks for something to share.
    pub(crate) fn share(&self) {
        let variants = self.variants.get_untracked().into_iter().map(variant).collect();
        self.ask(&Ask::Link { plan: self.number(), variants });
    }

    /// Takes in what the bench tells.
    fn take(&self, tell: Tell) {
        // The page may have been left meanwhile, or the plan.
        let Some(Numbers { open: number, asked, .. }) = self.numbers.try_get_value() else { return };
        match tell {
            Tell::Opened { plan, facts, length, variants } if plan == asked => {
                self.numbers.update_value(|numbers| numbers.open = plan);
                self.opened(*facts, length, variants);
            }
            Tell::Began { plan, variant, ticket, lines, left_out, refused, picture } if plan == number => {
                let Some(draft) = self.find(variant, ticket) else { return };
                draft.is_waiting.set_value(false);
                draft.moment.set(Some(Arc::new(Moment { lines, left_out, refused, picture })));
                if draft.is_behind.get_value() {
                    self.run(draft);
                }
            }
            Tell::Progress { plan, done, events } if plan == number => {
                let now = browser::now();
                let since = self.progress.get_untracked().map_or(now, |progress| progress.since);
                self.progress.set(Some(Progress { done, events, since, now }));
            }
            Tell::Ran { plan, variant: None, ended, .. } if plan == number => {
                self.base.set(Some(Arc::new(*ended)));
                self.pause();
            }
            Tell::Ran { plan, variant: Some(variant), ticket, ended } if plan == number => {
                if let Some(draft) = self.find(variant, ticket) {
                    draft.done.set_value(ticket);
                    draft.ended.set(Some(Arc::new(*ended)));
                }
                self.pause();
            }
            Tell::Searched { plan, command, words } if plan == number => {
                // Who has left the question is not told the answer.
                if self.found.with_untracked(Option::is_some) {
                    self.found.set(Some((words, command.map(|command| *command))));
                }
                self.pause();
            }
            Tell::Application { plan, envelope, later } if plan == number => {
                self.application.set(Some((*envelope, later)));
            }
            Tell::Reading { plan, done, entries, at } if plan == asked => {
                self.reading.set(Some(Reading { done, entries, at }));
            }
            Tell::Cancelled { plan } if plan == asked && plan != number => {
                self.reading.set(None);
                self.failed.set(Some("The reading of the log has been given up.".to_owned()));
            }
            Tell::Cancelled { plan } if plan == number => {
                self.progress.set(None);
                self.found.set(None);
                for draft in self.variants.get_untracked().into_iter().filter(|draft| !draft.is_done()) {
                    draft.is_waiting.set_value(false);
                    draft.ended.set(None);
                }
                self.is_cancelled.set(true);
            }
            Tell::Linked { plan, link, text } if plan == number => self.shared.set(Some(Shared { link, text })),
            Tell::Failed { plan, message } if plan == number || plan == asked => {
                self.found.set(None);
                self.reading.set(None);
                self.failed.set(Some(message));
            }
            Tell::Opened { .. }
            | Tell::Reading { .. }
            | Tell::Began { .. }
            | Tell::Progress { .. }
            | Tell::Ran { .. }
            | Tell::Searched { .. }
            | Tell::Application { .. }
            | Tell::Cancelled { .. }
            | Tell::Linked { .. }
            | Tell::Failed { .. } => {}
        }
    }

    fn opened(&self, facts: Facts, length: Option<Millis>, variants: Vec<Variant>) {
        let kept: Vec<Variant> = self.variants.get_untracked().into_iter().map(variant).collect();
        let same_place = self.facts.with_untracked(|known| {
            let cluster = |facts: &Facts| facts.place.as_ref().map(|place| place.cluster.clone());
            known.as_ref().is_some_and(|known| cluster(known).is_some() && cluster(known) == cluster(&facts))
        });
        self.facts.set(Some(Arc::new(facts)));
        self.length.set(length);
        self.reading.set(None);
        self.base.set(None);
        self.progress.set(None);
        self.found.set(None);
        self.variants.set(Vec::new());
        // The newest state of the same cluster is planned with the same changes.
        let variants = if variants.is_empty() && same_place { kept } else { variants };
        if variants.is_empty() {
            self.add("Variant A", Vec::new());
        }
        for Variant { name, changes } in variants {
            self.add(&name, changes);
        }
        let first = self.variants.with_untracked(|variants| variants.first().map(|draft| draft.id));
        self.chosen.set(first.unwrap_or(0));
    }

    fn find(&self, variant: u32, ticket: u32) -> Option<Draft> {
        let draft = self.variants.with_untracked(|variants| variants.iter().find(|draft| draft.id == variant).copied());
        draft.filter(|draft| draft.ticket.get_value() == ticket)
    }

    /// Nothing is shown as under way once all is there.
    fn pause(&self) {
        let all = self.base.with_untracked(Option::is_some) && self.variants.get_untracked().iter().all(Draft::is_done);
        if let Some(Progress { events, since, .. }) = self.progress.get_untracked().filter(|_| all) {
            self.pace.set(Some((events, (browser::now() - since).0.max(1))));
            self.progress.set(None);
        }
    }
}
