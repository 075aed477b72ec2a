//! How use and waiting go, base and variant in one chart each, with a table beside them.

use std::sync::Arc;

use leptos::prelude::*;
use workbench::course;
use workbench::course::Part;
use workbench::message::Ended;

use crate::widgets::chart::Chart;
use crate::widgets::choice::Choice;
use crate::widgets::fold::Fold;
use crate::widgets::plain_table::Cell;
use crate::widgets::plain_table::PlainTable;

/// The charts.
#[component]
pub(crate) fn PlanCourses(
    /// The base and the variant, once both are known.
    pair: Signal<Option<(Arc<Ended>, Arc<Ended>)>>,
) -> impl IntoView {
    let party = RwSignal::new(String::new());
    let options = Signal::derive(move || {
        let mut options = vec![(String::new(), "all quotas and offers".to_owned())];
        let names = pair.with(|pair| pair.as_ref().map(|(base, ended)| course::parties(&base.outcome, &ended.outcome)));
        options.extend(names.unwrap_or_default().into_iter().map(|name| (name.clone(), name)));
        options
    });
    let chart = move |part: Part| {
        Memo::new(move |_| {
            let party = party.get();
            pair.with(|pair| {
                pair.as_ref().map(|(base, ended)| course::chart(&base.outcome, &ended.outcome, &party, part))
            })
        })
    };
    let rows = Signal::derive(move || {
        let party = party.get();
        let rows =
            pair.with(|pair| pair.as_ref().map(|(base, ended)| course::rows(&base.outcome, &ended.outcome, &party)));
        rows.unwrap_or_default().into_iter().map(|row| row.map(Cell::Number).into()).collect::<Vec<Vec<Cell>>>()
    });
    let whose =
        move || party.with(|party| if party.is_empty() { "all quotas and offers".to_owned() } else { party.clone() });
    let used = Signal::derive(move || format!("GPUs that the jobs of {} use.", whose()));
    let waited = Signal::derive(move || format!("GPUs that the jobs of {} wait for.", whose()));
    let legend = || vec![("base", "Base"), ("variant", "Variant")];
    view! {
        <Choice id="plan-party" label="Whose jobs" options=options value=party change=Callback::new(move |name| party.set(name)) />
        <div class="columns">
            <Chart chart=chart(Part::Used) sentence=used legend=legend() />
            <Chart chart=chart(Part::Waited) sentence=waited legend=legend() />
        </div>
        <Fold summary="The numbers of both charts">
            <PlainTable caption="Use and waiting over time" columns=course::COLUMNS.to_vec() rows=rows empty="Nothing to show yet." />
        </Fold>
    }
}
