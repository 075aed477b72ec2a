//! The main screen: the cluster in numbers, and the quota tree.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::pages::address::title;
use crate::session::Session;
use crate::session::url;
use crate::widgets::field::TextField;
use crate::widgets::overview::Overview;
use crate::widgets::overview::Totals;
use crate::widgets::quota_tree::QuotaTree;
use crate::widgets::quota_tree::TreeActions;
use console_model::path;
use console_model::tree_rows::TreeSort;
use console_model::tree_rows::TreeView;
use console_model::tree_rows::rows;
use engine::unit::ordered::Set;

/// The page.
#[component]
pub(crate) fn QuotasPage() -> impl IntoView {
    let session = Session::here();
    title(move || session.name().to_string());
    let (search, set_search) = url::typed("q");
    let (sort_name, set_sort) = url::chosen("sort");
    let (closed, set_closed) = url::typed("closed");
    let sort = Signal::derive(move || TreeSort::parse(&sort_name.get()));
    let view_state =
        Memo::new(move |_| TreeView { search: search.get(), sort: sort.get(), closed: names(&closed.get()) });
    let tree = Memo::new(move |_| {
        let books = session.books.get();
        Arc::new(session.ask(|state| view_state.with(|view| rows(state, &books, view))).unwrap_or_default())
    });
    let totals = Memo::new(move |_| Totals {
        book: session.books.with(|books| books.total),
        missed_rounds: session.ask(|state| state.missed_slots).unwrap_or_default(),
    });
    let navigate = use_navigate();
    let actions = TreeActions {
        sort: Callback::new(move |sort: TreeSort| {
            set_sort.run(if sort == TreeSort::Name { String::new() } else { sort.as_str().to_owned() });
        }),
        toggle: Callback::new(move |(name, is_open): (String, bool)| {
            let mut names = names(&closed.get_untracked());
            if is_open {
                names.remove(&name)
            } else {
                names.insert(name)
            };
            set_closed.run(joined(&names));
        }),
        open: Callback::new(move |quota: String| {
            navigate(&path::quota(&session.name(), &quota), NavigateOptions::default());
        }),
        href: Callback::new(move |quota: String| path::quota(&session.name(), &quota)),
    };
    let close_all = move |_| {
        let names = session.ask_once(|state| {
            state
                .live_quotas()
                .filter_map(|(_, quota)| quota.parent)
                .map(|no| state.quotas[no.at()].id.as_str().to_owned())
                .collect()
        });
        set_closed.run(joined(&names.unwrap_or_default()));
    };
    let count = move || {
        tree.with(|tree| if tree.is_empty() { "No quota matches.".to_owned() } else { format!("{} shown", tree.len()) })
    };
    view! {
        <div class="page-head">
            <h1>"Quotas"</h1>
            <a class="button" href=move || path::submit(&session.name())>"Submit a job"</a>
        </div>
        <Overview totals=totals />
        <div class="toolbar">
            <TextField id="quota-filter" label="Filter by name" value=search change=set_search />
            <button type="button" on:click=move |_| set_closed.run(String::new())>"Expand all"</button>
            <button type="button" on:click=close_all>"Collapse all"</button>
            <p class="hint" role="status">{count}</p>
        </div>
        <QuotaTree rows=tree books=session.books sort=sort actions=actions />
    }
}

/// Names in the URL: separated by commas, which names escape as `%2C`.
fn names(text: &str) -> Set<String> {
    text.split(',').filter(|name| !name.is_empty()).map(|name| name.replace("%2C", ",").replace("%25", "%")).collect()
}

fn joined(names: &Set<String>) -> String {
    names.iter().map(|name| name.replace('%', "%25").replace(',', "%2C")).collect::<Vec<_>>().join(",")
}
