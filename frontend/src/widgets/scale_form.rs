//! A quota's amounts: what they are, and what changing them would do.

use leptos::prelude::*;

use crate::widgets::action_button::ActionButton;
use crate::widgets::choice::Choice;
use crate::widgets::consequences::Consequences;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::field::TextField;
use console_model::preview::Preview;
use console_model::preview::Verdict;
use console_model::scale_draft::ScaleDraft;

/// The form.
#[component]
pub(crate) fn ScaleForm(
    /// What has been typed.
    draft: RwSignal<ScaleDraft>,
    /// What is wrong with it, by the dimension.
    faults: Memo<Vec<(usize, String)>>,
    /// The unit of each stated dimension.
    units: Vec<String>,
    /// Siblings that can give or take the difference.
    siblings: Vec<String>,
    /// What would happen.
    preview: Memo<Preview>,
    /// Whether there is anything to apply.
    is_changed: Signal<bool>,
    /// Why one may not.
    denied: Signal<Option<String>>,
    /// Applies it.
    apply: Callback<()>,
    /// The same for a terminal.
    curl: Callback<(), Option<String>>,
    /// The address of a job's page.
    href: Callback<String, String>,
) -> impl IntoView {
    let amounts = units.into_iter().enumerate().map(|(at, unit)| {
        let value = Signal::derive(move || {
            draft.with(|draft| draft.amounts.get(at).map(|(_, text)| text.clone()).unwrap_or_default())
        });
        let change = Callback::new(move |text: String| {
            draft.update(|draft| {
                if let Some(amount) = draft.amounts.get_mut(at) {
                    amount.1 = text;
                }
            });
        });
        let fault = Signal::derive(move || {
            let dimension = draft.with(|draft| draft.amounts.get(at).map(|(dimension, _)| *dimension))?;
            faults.with(|faults| faults.iter().find(|(at, _)| *at == dimension).map(|(_, fault)| fault.clone()))
        });
        let id: &'static str =
            ["amount-0", "amount-1", "amount-2", "amount-3", "amount-4", "amount-5", "amount-6", "amount-7"][at % 8];
        view! { <TextField id=id label=format!("Guaranteed {unit}") value=value change=change fault=fault is_short=true /> }
    });
    let has_siblings = !siblings.is_empty();
    let mut options = vec![(String::new(), "nobody: from what the parent has left".to_owned())];
    options.extend(siblings.into_iter().map(|name| (name.clone(), name)));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        apply.run(());
    };
    let is_refused = move || {
        let is_good = |preview: &Preview| !matches!(preview.verdict, Verdict::Refused | Verdict::Unfinished);
        !is_changed.get() || !preview.with(is_good)
    };
    view! {
        <form class="form" on:submit=submit>
            <div class="form-row">{amounts.collect_view()}</div>
            <div hidden=!has_siblings><Choice id="scale-with" label="The difference goes to, or comes from" options=Signal::stored(options) value=Signal::derive(move || draft.with(|draft| draft.with.clone())) change=Callback::new(move |with| draft.update(|draft| draft.with = with)) /></div>
            <label class="check">
                <input type="checkbox" prop:checked=move || draft.with(|draft| draft.is_evicting) on:change=move |event| draft.update(|draft| draft.is_evicting = event_target_checked(&event)) />
                <span>"Evict what is no longer covered (otherwise it may finish)"</span>
            </label>
            {move || is_changed.get().then(|| view! { <Consequences preview=preview href=href /> })}
            <div class="form-row">
                <ActionButton id="scale" label="Scale" denied=denied is_idle=Signal::derive(is_refused) is_submit=true />
                <CopyButton label="Copy as curl" text=curl />
            </div>
        </form>
    }
}
