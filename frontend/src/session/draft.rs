//! The variants of the open plan, as they are edited: each change is a signal of its own, so that a slider keeps the
//! focus while it is dragged.

use std::sync::Arc;

use engine::message::plan::Change;
use engine::message::plan::Variant;
use leptos::prelude::*;
use planner::page::message::Ended;
use planner::page::message::Line;
use planner::page::range::Range;

/// A change in the list.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// By which it is found again.
    pub(crate) key: u32,
    /// The change.
    pub(crate) change: RwSignal<Change>,
}

/// What a variant comes to at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// What happens.
    pub(crate) lines: Vec<Line>,
    /// How much more happens.
    pub(crate) left_out: u64,
    /// Changes that are refused at once.
    pub(crate) refused: Vec<(u32, String)>,
    /// The cluster after them, as SVG.
    pub(crate) picture: String,
}

/// A variant.
#[derive(Clone, Copy)]
pub(crate) struct Draft {
    /// By which it is found again.
    pub(crate) id: u32,
    /// What people call it.
    pub(crate) name: RwSignal<String>,
    /// Its changes.
    pub(crate) items: RwSignal<Vec<Item>>,
    /// What it comes to at once.
    pub(crate) moment: RwSignal<Option<Arc<Moment>>>,
    /// What it comes to.
    pub(crate) ended: RwSignal<Option<Arc<Ended>>>,
    /// How far its figures may go by chance, once that is known.
    pub(crate) ranges: RwSignal<Vec<Range>>,
    /// The last run that was asked for.
    pub(super) ticket: StoredValue<u32>,
    /// The last run that is over.
    pub(super) done: StoredValue<u32>,
    /// Whether the answer to it is under way.
    pub(super) is_waiting: StoredValue<bool>,
    /// Whether something was changed since.
    pub(super) is_behind: StoredValue<bool>,
}

impl Draft {
    /// A variant that has not been run.
    pub(super) fn new(id: u32, name: &str, items: Vec<Item>) -> Self {
        Self {
            id,
            name: RwSignal::new(name.to_owned()),
            items: RwSignal::new(items),
            moment: RwSignal::new(None),
            ended: RwSignal::new(None),
            ranges: RwSignal::new(Vec::new()),
            ticket: StoredValue::new(0),
            done: StoredValue::new(0),
            is_waiting: StoredValue::new(false),
            is_behind: StoredValue::new(false),
        }
    }

    /// Whether what it comes to is told as it is by now.
    pub(super) fn is_done(&self) -> bool {
        self.done.get_value() == self.ticket.get_value()
    }
}

/// The changes of a variant.
pub(crate) fn changes(draft: Draft) -> Vec<Change> {
    draft.items.with_untracked(|items| items.iter().map(|item| item.change.get_untracked()).collect())
}

/// A variant as a message.
pub(crate) fn variant(draft: Draft) -> Variant {
    Variant { name: draft.name.get_untracked(), changes: changes(draft) }
}
