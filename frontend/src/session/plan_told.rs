//! What becomes of the open plan when the bench tells something.

use std::sync::Arc;

use console_model::turns::Turns;
use engine::message::plan::Variant;
use fields::facts::Facts;
use leptos::prelude::*;
use planner::page::message::Tell;

use crate::api::browser;
use crate::session::draft::Draft;
use crate::session::draft::Moment;
use crate::session::plan::Numbers;
use crate::session::plan::Plan;
use crate::session::plan::Shared;
use crate::session::under_way::Going;
use crate::session::under_way::Length;
use crate::session::under_way::Progress;
use crate::session::under_way::Reading;

impl Plan {
    /// Takes in what the bench tells.
    pub(super) fn take(&self, tell: Tell) {
        // The page may have been left meanwhile, or the plan.
        let Some(Numbers { open: number, asked, .. }) = self.numbers.try_get_value() else { return };
        match tell {
            Tell::Opened { plan, facts, length, usual, variants } if plan == asked => {
                self.numbers.update_value(|numbers| numbers.open = plan);
                self.opened(*facts, Length { is: length, usual }, variants);
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
                let since = self.going.get_untracked().progress().map_or(now, |progress| progress.since);
                self.going.set(Going::On(Progress { done, events, since, now }));
            }
            Tell::Ran { plan, variant: None, ended, .. } if plan == number => {
                self.views().ranges.set(Vec::new());
                self.base.set(Some(Arc::new(*ended)));
                self.pause();
            }
            Tell::Ran { plan, variant: Some(variant), ticket, ended } if plan == number => {
                if let Some(draft) = self.find(variant, ticket) {
                    draft.done.set_value(ticket);
                    draft.ranges.set(Vec::new());
                    draft.ended.set(Some(Arc::new(*ended)));
                }
                self.pause();
            }
            Tell::Ranges { plan, variant, ticket, ranges } if plan == number => match variant {
                None => self.views().ranges.set(ranges),
                Some(variant) => {
                    if let Some(draft) = self.find(variant, ticket) {
                        draft.ranges.set(ranges);
                    }
                }
            },
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
                self.beginning.update(|beginning| beginning.is_refused = true);
                self.reading.set(None);
                self.failed.set(Some("The reading of the log has been given up.".to_owned()));
            }
            Tell::Cancelled { plan } if plan == number => {
                self.found.set(None);
                for draft in self.variants.get_untracked().into_iter().filter(|draft| !draft.is_done()) {
                    draft.is_waiting.set_value(false);
                    draft.ended.set(None);
                }
                self.going.set(Going::GivenUp);
            }
            Tell::Linked { plan, link } if plan == number => self.shared.set(Some(Shared { link })),
            Tell::Courses { plan, courses } if plan == number => {
                let views = self.views();
                views.courses.set(courses.map(Arc::from));
                self.ask_in_turn(views.course_turns, Turns::answered);
            }
            Tell::Timeline { plan, view } if plan == number => {
                let views = self.views();
                views.timeline.set(view.map(Arc::from));
                self.ask_in_turn(views.timeline_turns, Turns::answered);
            }
            Tell::Failed { plan, message } if plan == number || plan == asked => {
                self.beginning.update(|beginning| beginning.is_refused = plan != number);
                self.found.set(None);
                self.reading.set(None);
                self.failed.set(Some(message));
            }
            Tell::Opened { .. }
            | Tell::Reading { .. }
            | Tell::Began { .. }
            | Tell::Progress { .. }
            | Tell::Ran { .. }
            | Tell::Ranges { .. }
            | Tell::Searched { .. }
            | Tell::Application { .. }
            | Tell::Cancelled { .. }
            | Tell::Linked { .. }
            | Tell::Courses { .. }
            | Tell::Timeline { .. }
            | Tell::Failed { .. } => {}
        }
    }

    fn opened(&self, facts: Facts, length: Length, variants: Vec<Variant>) {
        let kept = self.all_variants();
        let same_place = self.facts.with_untracked(|known| {
            let cluster = |facts: &Facts| facts.place.as_ref().map(|place| place.cluster.clone());
            known.as_ref().is_some_and(|known| cluster(known).is_some() && cluster(known) == cluster(&facts))
        });
        self.facts.set(Some(Arc::new(facts)));
        self.length.set(length);
        self.reading.set(None);
        self.base.set(None);
        self.views().ranges.set(Vec::new());
        self.going.set(Going::NotYet);
        self.found.set(None);
        self.beginning.update(|beginning| beginning.open.clone_from(&beginning.asked));
        let views = self.views();
        // What is on its way is about the plan before.
        views.course_turns.set_value(Turns::default());
        views.timeline_turns.set_value(Turns::default());
        views.courses.set(None);
        views.timeline.set(None);
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
    pub(super) fn pause(&self) {
        let all = self.base.with_untracked(Option::is_some) && self.variants.get_untracked().iter().all(Draft::is_done);
        if let Some(Progress { events, since, .. }) = self.going.get_untracked().progress().filter(|_| all) {
            self.going.set(Going::Over(events, (browser::now() - since).0.max(1)));
        }
    }
}
