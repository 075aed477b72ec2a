//! How use and waiting go, base and variant in one chart each, with a table beside them.

use std::sync::Arc;

use console_model::chart::Chart as Drawing;
use leptos::prelude::*;
use planner::page::course;
use planner::page::course::Courses;
use planner::page::whose::Whose;

use crate::widgets::chart::Chart;
use crate::widgets::choice::Choice;
use crate::widgets::fold::Fold;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;

/// The charts.
#[component]
pub(crate) fn PlanCourses(
    /// What they show, once it is known.
    courses: Signal<Option<Arc<Courses>>>,
    /// Whose courses there are.
    known: Memo<Vec<Whose>>,
    /// Whose are shown, as addresses have it; nothing: those of all together.
    whose: Signal<String>,
    /// Chooses somebody else.
    choose: Callback<String>,
) -> impl IntoView {
    let options = Memo::new(move |_| {
        let mut options = vec![(String::new(), "all quotas and offers".to_owned())];
        options.extend(known.get().into_iter().map(|whose| (whose.key(), whose.label())));
        options
    });
    // Who has no course in this plan is in the address only.
    let chosen = Memo::new(move |_| {
        let whose = whose.get();
        options.with(|options| options.iter().find(|(key, _)| *key == whose).cloned()).unwrap_or_default()
    });
    let chart = move |part: fn(&Courses) -> &Drawing| {
        Memo::new(move |_| courses.with(|courses| courses.as_ref().map(|courses| part(courses).clone())))
    };
    let rows = Memo::new(move |_| {
        let rows = courses.with(|courses| courses.as_ref().map(|courses| courses.rows.clone()));
        rows.unwrap_or_default().into_iter().map(|row| row.map(Cell::Number).into()).collect::<Vec<Vec<Cell>>>()
    });
    let whom = move || {
        let (_, label) = chosen.get();
        if label.is_empty() { "all quotas and offers".to_owned() } else { label }
    };
    let used = Memo::new(move |_| format!("GPUs that the jobs of {} use.", whom()));
    let waited = Memo::new(move |_| format!("GPUs that the jobs of {} wait for.", whom()));
    let legend = || vec![("base", "Base"), ("variant", "Variant")];
    view! {
        <Choice id="plan-party" label="Whose jobs" options=options value=Signal::derive(move || chosen.get().0) change=choose />
        <div class="columns">
            <Chart chart=chart(|courses| &courses.used) sentence=used legend=legend() />
            <Chart chart=chart(|courses| &courses.waited) sentence=waited legend=legend() />
        </div>
        <Fold summary="The numbers of both charts">
            <PlainTable caption="Use and waiting over time" columns=course::COLUMNS.to_vec() rows=rows empty="Nothing to show yet." />
        </Fold>
    }
}
