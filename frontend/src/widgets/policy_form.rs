//! What is set on a quota, as a form: how it queues and lends, and both preemption policies.

use std::collections::BTreeSet;

use engine::message::command::UpdateQuota;

use leptos::prelude::*;

use crate::widgets::action_button::ActionButton;
use crate::widgets::copy_button::CopyButton;
use crate::widgets::policy_fields::PolicyFields;
use crate::widgets::settings_fields::SettingsFields;
use console_model::explained::PolicyText;
use console_model::policy_draft::PolicyDraft;

/// The forms.
#[component]
pub(crate) fn PolicyForm(
    /// What is set beside the policies.
    update: RwSignal<UpdateQuota>,
    /// The fields of that which cannot be read.
    unread: RwSignal<BTreeSet<String>>,
    /// The policies that have been chosen.
    draft: RwSignal<PolicyDraft>,
    /// What the child-level policy allows.
    child_text: Memo<PolicyText>,
    /// What the self-level policy allows.
    self_text: Memo<PolicyText>,
    /// Whether there is anything to apply.
    is_changed: Signal<bool>,
    /// Why one may not.
    denied: Signal<Option<String>>,
    /// Applies it.
    apply: Callback<()>,
    /// The same for a terminal.
    curl: Callback<(), Option<String>>,
) -> impl IntoView {
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        apply.run(());
    };
    let is_faulty = move || child_text.with(|text| text.is_fault) || self_text.with(|text| text.is_fault);
    let is_refused = move || !is_changed.get() || is_faulty() || unread.with(|unread| !unread.is_empty());
    view! {
        <form class="form" on:submit=submit>
            <SettingsFields update=update unread=unread />
            <PolicyFields draft=draft child_text=child_text self_text=self_text />
            <div class="form-row">
                <ActionButton id="save-policies" label="Save policies" denied=denied is_idle=Signal::derive(is_refused) is_submit=true />
                <CopyButton label="Copy as curl" text=curl />
            </div>
        </form>
    }
}
