//! What is set on a quota beside its amount and its preemption policies: how it queues, whether it lends, its periods.

use std::collections::BTreeSet;

use engine::message::command::Command;
use engine::message::command::UpdateQuota;
use fields::change;
use fields::facts::Facts;
use fields::field::Input;
use fields::field::Shown;
use fields::field::Value;
use fields::list::List;
use fields::number::Number;
use leptos::prelude::*;

use crate::widgets::choice::Choice;
use crate::widgets::field::TextField;

/// The field that a page about one quota does not show.
const QUOTA: &str = "quota";

/// The fields.
#[component]
pub(crate) fn SettingsFields(
    /// The command that would set what is typed.
    update: RwSignal<UpdateQuota>,
    /// The fields that hold something that cannot be read.
    unread: RwSignal<BTreeSet<String>>,
) -> impl IntoView {
    let shown = Memo::new(move |_| update.with(fields_of));
    let row = move |field: Shown| match field.input.clone() {
        Input::Number(number) => {
            view! { <NumberField field=field number=number shown=shown update=update unread=unread /> }.into_any()
        }
        Input::Text(list) => view! { <TextChoice field=field list=list shown=shown update=update /> }.into_any(),
    };
    let is_text = |field: &Shown| matches!(field.input, Input::Text(_));
    let (texts, numbers): (Vec<Shown>, Vec<Shown>) = shown.get_untracked().into_iter().partition(is_text);
    view! {
        <div class="form-row">{texts.into_iter().map(row).collect_view()}</div>
        <div class="form-row">{numbers.into_iter().map(row).collect_view()}</div>
    }
}

/// Nothing that is around a quota decides what may be set on it.
fn fields_of(update: &UpdateQuota) -> Vec<Shown> {
    let fields = change::shown(&Command::UpdateQuota(update.clone()), &Facts::default());
    fields.into_iter().filter(|field| field.key != QUOTA).collect()
}

fn value_of(shown: &[Shown], key: &str) -> Option<Value> {
    shown.iter().find(|field| field.key == key).map(|field| field.value.clone())
}

fn write(update: RwSignal<UpdateQuota>, key: &str, value: &Value) {
    let command = Command::UpdateQuota(update.get_untracked());
    if let Ok(Command::UpdateQuota(written)) = change::with(&command, &Facts::default(), key, value) {
        update.set(written);
    }
}

/// A number that is typed. What cannot be read stays where it stands, and says so.
#[component]
fn NumberField(
    field: Shown,
    number: Number,
    shown: Memo<Vec<Shown>>,
    update: RwSignal<UpdateQuota>,
    unread: RwSignal<BTreeSet<String>>,
) -> impl IntoView {
    let Shown { key, label, about, .. } = field;
    let number = StoredValue::new(number);
    let key = StoredValue::new(key);
    let typed = RwSignal::new(None::<String>);
    let now = Memo::new(move |_| match shown.with(|shown| key.with_value(|key| value_of(shown, key))) {
        Some(Value::Number(value)) => value,
        Some(Value::Text(_)) | None => 0,
    });
    let read = move |text: &str| number.with_value(|number| read(number, text));
    let fault = Memo::new(move |_| typed.with(|typed| typed.as_deref().and_then(|text| read(text).err())));
    let text = Signal::derive(move || {
        let now = now.get();
        let as_typed = typed.get().filter(|text| read(text).map_or(true, |value| value == now));
        as_typed.unwrap_or_else(|| number.with_value(|number| number.text(now)))
    });
    let change = Callback::new(move |text: String| {
        let value = read(&text);
        typed.set(Some(text));
        key.with_value(|key| {
            unread.update(|unread| {
                if value.is_ok() {
                    unread.remove(key)
                } else {
                    unread.insert(key.clone())
                };
            });
            if let Ok(value) = value {
                write(update, key, &Value::Number(value));
            }
        });
    });
    let id = key.with_value(|key| format!("set-{key}"));
    let unit = number.with_value(|number| number.unit);
    view! { <TextField id=id label=format!("{label} ({unit})") value=text change=change fault=fault hint=about is_short=true /> }
}

fn read(number: &Number, text: &str) -> Result<i64, String> {
    let Number { unit, least, most, .. } = number;
    let value = number.parse(text).filter(|value| (least..=most).contains(&value));
    let range = || format!("{} to {} {unit}", number.text(*least), number.text(*most));
    value.ok_or_else(|| format!("Enter a number from {}", range()))
}

#[component]
fn TextChoice(field: Shown, list: List, shown: Memo<Vec<Shown>>, update: RwSignal<UpdateQuota>) -> impl IntoView {
    let Shown { key, label, about, .. } = field;
    let options = list.options(&Facts::default());
    let of_value = key.clone();
    let value = Signal::derive(move || match shown.with(|shown| value_of(shown, &of_value)) {
        Some(Value::Text(text)) => text,
        Some(Value::Number(_)) | None => String::new(),
    });
    let id = format!("set-{key}");
    let change = Callback::new(move |text: String| write(update, &key, &Value::Text(text)));
    view! { <Choice id=id label=label about=about options=Signal::stored(options) value=value change=change /> }
}
