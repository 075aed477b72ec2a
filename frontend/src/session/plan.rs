//! The open plan: where it begins, its variants, and what the bench has told of them.
//!
//! While an answer is under way only the last move counts.

use std::sync::Arc;

use console_model::turns::Turns;
use engine::host::plan::goal::Goal;
use engine::host::plan::search::Family;
use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::plan::Change;
use engine::message::plan::Variant;
use engine::unit::id::CommandId;
use engine::unit::time::Millis;
use fields::facts::Facts;
use js_sys::Array;
use leptos::prelude::*;
use planner::page::course::Courses;
use planner::page::message::Ask;
use planner::page::message::Ended;
use planner::page::message::LookAhead;
use planner::page::message::Since;
use planner::page::message::Source;
use planner::page::range::Range;
use planner::page::sheet::VARIANTS_MAX;
use planner::page::timeline::Frame;
use planner::page::timeline::View;
use planner::page::whose::Whose;

use crate::api::bench::Bench;
use crate::api::browser;
use crate::session::draft::Draft;
use crate::session::draft::Item;
use crate::session::draft::changes;
use crate::session::draft::variant;
use crate::session::under_way::Going;
use crate::session::under_way::Length;
use crate::session::under_way::Reading;

/// What was asked to be opened last, and what is open, by the names of the choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// What was asked for.
    pub(crate) asked: String,
    /// What is open; empty while nothing is.
    pub(crate) open: String,
    /// Whether what was asked for could not be opened.
    pub(crate) is_refused: bool,
}

/// What is to be shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// The link, unless it would be too long.
    pub(crate) link: Option<String>,
}

/// What of the results somebody looks at. The bench has all of it; the page is told what it shows.
#[derive(Clone, Copy)]
pub(crate) struct Views {
    /// How use and waiting go.
    pub(crate) courses: RwSignal<Option<Arc<Courses>>>,
    /// A part of the timeline.
    pub(crate) timeline: RwSignal<Option<Arc<View>>>,
    /// How far the base's figures may go by chance, once that is known.
    pub(crate) ranges: RwSignal<Vec<Range>>,
    pub(super) course_turns: StoredValue<Turns<Ask>>,
    pub(super) timeline_turns: StoredValue<Turns<Ask>>,
}

/// Which numbers are taken.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    /// The plan that is open.
    pub(super) open: u32,
    /// The plan that was asked for last.
    pub(super) asked: u32,
    /// The next variant.
    fresh: u32,
}

/// The plan.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    // What is added on a part of the page lasts as long as the plan, and not as long as that part.
    owner: StoredValue<Owner>,
    bench: StoredValue<Option<Bench>, LocalStorage>,
    pub(super) numbers: StoredValue<Numbers>,
    /// Where it begins; nothing while it is on its way.
    pub(crate) facts: RwSignal<Option<Arc<Facts>>>,
    /// How far it looks.
    pub(crate) length: RwSignal<Length>,
    /// The variants.
    pub(crate) variants: RwSignal<Vec<Draft>>,
    /// The one that is edited.
    pub(crate) chosen: RwSignal<u32>,
    /// What the base comes to.
    pub(crate) base: RwSignal<Option<Arc<Ended>>>,
    /// The log that is being read for another beginning.
    pub(crate) reading: RwSignal<Option<Reading>>,
    /// Where its runs are.
    pub(crate) going: RwSignal<Going>,
    /// What is wrong.
    pub(crate) failed: RwSignal<Option<String>>,
    /// What was asked to be opened, and what is open.
    pub(crate) beginning: RwSignal<Beginning>,
    /// What the last search has found.
    pub(crate) found: RwSignal<Option<(String, Option<Command>)>>,
    /// The command that makes a variant real, and how many of its changes are for later.
    pub(crate) application: RwSignal<Option<(Envelope, u64)>>,
    /// What can be shared.
    pub(crate) shared: RwSignal<Option<Shared>>,
    views: StoredValue<Views>,
}

impl Plan {
    /// No plan yet; the worker starts.
    pub(crate) fn new() -> Self {
        let plan = Self {
            owner: StoredValue::new(Owner::current().unwrap_or_default()),
            bench: StoredValue::new_local(None),
            numbers: StoredValue::new(Numbers { open: 0, asked: 0, fresh: 1 }),
            facts: RwSignal::new(None),
            length: RwSignal::new(Length { is: Some(Millis::DAY), usual: Some(Millis::DAY) }),
            variants: RwSignal::new(Vec::new()),
            chosen: RwSignal::new(0),
            base: RwSignal::new(None),
            reading: RwSignal::new(None),
            going: RwSignal::new(Going::NotYet),
            failed: RwSignal::new(None),
            beginning: RwSignal::new(Beginning::default()),
            found: RwSignal::new(None),
            application: RwSignal::new(None),
            shared: RwSignal::new(None),
            views: StoredValue::new(Views {
                courses: RwSignal::new(None),
                timeline: RwSignal::new(None),
                ranges: RwSignal::new(Vec::new()),
                course_turns: StoredValue::default(),
                timeline_turns: StoredValue::default(),
            }),
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

    /// What of the results somebody looks at.
    pub(crate) fn views(&self) -> Views {
        self.views.get_value()
    }

    /// Asks for something about the open plan.
    pub(super) fn ask(&self, ask: &Ask) {
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
    pub(crate) fn open(&self, name: &str, source: Source, files: &Array, look: LookAhead) {
        let plan = self.next(name);
        self.reading.set(None);
        self.ask_about(plan, &Ask::Open { plan, source, look }, files);
    }

    /// Opens another plan with what happened in a cluster. Its log is read first, which can be given up.
    pub(crate) fn open_past(&self, cluster: String, since: Since, length: Option<Millis>) {
        let plan = self.next("past");
        self.reading.set(Some(Reading { done: 0, entries: 0, at: None }));
        self.ask_about(plan, &Ask::OpenPast { plan, cluster, since, length, now: browser::now() }, &Array::new());
    }

    /// Gives up the log that is being read.
    pub(crate) fn stop_reading(&self) {
        let plan = self.numbers.get_value().asked;
        self.ask_about(plan, &Ask::Cancel { plan }, &Array::new());
    }

    /// The number of the plan that is asked for.
    fn next(&self, name: &str) -> u32 {
        self.numbers.update_value(|numbers| numbers.asked += 1);
        self.failed.set(None);
        self.beginning.set(Beginning { asked: name.to_owned(), is_refused: false, ..self.beginning.get_untracked() });
        self.shared.set(None);
        self.numbers.get_value().asked
    }

    /// How far it looks now, as something that can be asked for.
    pub(crate) fn as_far(&self) -> LookAhead {
        self.length.with_untracked(|length| length.is.map_or(LookAhead::End, LookAhead::For))
    }

    /// Looks further, or less far.
    pub(crate) fn look(&self, look: LookAhead) {
        self.length.update(|length| length.is = look.length(length.usual));
        let length = self.length.with_untracked(|length| length.is);
        self.base.set(None);
        self.views().ranges.set(Vec::new());
        self.going.set(Going::NotYet);
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
        if self.going.get_untracked() == Going::GivenUp {
            self.going.set(Going::NotYet);
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
        self.ask(&Ask::Link { plan: self.number(), variants: self.all_variants() });
    }

    /// Asks for a file to keep.
    pub(crate) fn save(&self) {
        self.ask(&Ask::File { plan: self.number(), variants: self.all_variants() });
    }

    pub(super) fn all_variants(&self) -> Vec<Variant> {
        self.variants.get_untracked().into_iter().map(variant).collect()
    }

    /// Looks at how use and waiting go in a variant.
    pub(crate) fn look_at_courses(&self, variant: u32, whose: Option<Whose>) {
        let question = Ask::Courses { plan: self.number(), variant, whose };
        self.ask_in_turn(self.views().course_turns, |turns| turns.come(question));
    }

    /// Looks at a part of the timeline of a variant, or of the base.
    pub(crate) fn look_at_timeline(&self, variant: Option<u32>, frame: Frame) {
        let question = Ask::Timeline { plan: self.number(), variant, frame };
        self.ask_in_turn(self.views().timeline_turns, |turns| turns.come(question));
    }

    pub(super) fn ask_in_turn(
        &self,
        turns: StoredValue<Turns<Ask>>,
        turn: impl FnOnce(&mut Turns<Ask>) -> Option<Ask>,
    ) {
        if let Some(Some(ask)) = turns.try_update_value(turn) {
            self.ask(&ask);
        }
    }
}
