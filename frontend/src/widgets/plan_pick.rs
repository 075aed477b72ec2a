//! Something of the plan's beginning that is picked: from a list, or typed where a list would be too long.

use std::sync::Arc;

use fields::facts::Facts;
use fields::list::List;
use fields::list::Suggestions;
use leptos::prelude::*;

use crate::widgets::choice::Choice;

/// The pick.
#[component]
pub(crate) fn PlanPick(
    /// Its id in the document.
    #[prop(into)]
    id: String,
    /// Its label.
    #[prop(into)]
    label: String,
    /// What it means, in a sentence.
    #[prop(optional)]
    about: &'static str,
    /// What there is to pick from.
    list: Memo<List>,
    /// Where the plan begins.
    facts: StoredValue<Arc<Facts>>,
    /// What is picked.
    #[prop(into)]
    value: Signal<String>,
    /// Called with every pick.
    choose: Callback<String>,
) -> impl IntoView {
    let is_typed = list.with_untracked(|list| facts.with_value(|facts| list.is_typed(facts)));
    if !is_typed {
        let options = Memo::new(move |_| list.with(|list| facts.with_value(|facts| list.options(facts))));
        return view! { <Choice id=id label=label about=about options=options value=value change=choose /> }.into_any();
    }
    let suggestions = list.with_untracked(List::suggestions).map(Suggestions::id);
    view! {
        <div class="field" title=(!about.is_empty()).then_some(about)>
            <label for=id.clone()>{label}</label>
            <input type="text" id=id list=suggestions autocomplete="off" spellcheck="false" prop:value=value on:change=move |event| choose.run(event_target_value(&event)) />
        </div>
    }
    .into_any()
}

/// The names that are suggested, each list once for all who type.
#[component]
pub(crate) fn PlanSuggestions(
    /// Where the plan begins.
    facts: StoredValue<Arc<Facts>>,
) -> impl IntoView {
    let list = |of: Suggestions| {
        let names =
            facts.with_value(|facts| of.names(facts)).into_iter().map(|name| view! { <option value=name></option> });
        view! { <datalist id=of.id()>{names.collect_view()}</datalist> }
    };
    Suggestions::ALL.map(list).into_iter().collect_view()
}
