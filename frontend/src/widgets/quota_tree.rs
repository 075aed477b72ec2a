//! The quota tree as a treegrid: one bar to a row, the same numbers as text.
//!
//! The grid keeps the focus and names its active row (`aria-activedescendant`), so that rows can come and go.

use std::sync::Arc;

use leptos::prelude::*;

use crate::widgets::quota_bar::QuotaBar;
use crate::widgets::scroller::Scroller;
use crate::widgets::scroller::is_on_control;
use console_model::books::Book;
use console_model::books::Books;
use console_model::gpus::bare;
use console_model::gpus::gpus;
use console_model::tree_rows::Move;
use console_model::tree_rows::TreeRow;
use console_model::tree_rows::TreeSort;
use console_model::tree_rows::on_key;
use console_model::window::extent;

const ROW_HEIGHT: f64 = 44.0;

/// What the tree asks its page to do.
#[derive(Clone, Copy)]
pub(crate) struct TreeActions {
    /// Order siblings by a column.
    pub(crate) sort: Callback<TreeSort>,
    /// Show or hide a quota's children.
    pub(crate) toggle: Callback<(String, bool)>,
    /// Open a quota's page.
    pub(crate) open: Callback<String>,
    /// The address of a quota's page.
    pub(crate) href: Callback<String, String>,
}

/// The tree.
#[component]
pub(crate) fn QuotaTree(
    /// The rows, top to bottom.
    rows: Memo<Arc<Vec<TreeRow>>>,
    /// Their numbers.
    books: Memo<Arc<Books>>,
    /// The order of siblings.
    sort: Signal<TreeSort>,
    /// What it can ask for.
    actions: TreeActions,
) -> impl IntoView {
    let scroller = Scroller::new(ROW_HEIGHT);
    let active = RwSignal::new(0usize);
    let n_rows = move || rows.with(|rows| rows.len());
    let range = Memo::new(move |_| scroller.range(n_rows()));
    let shown = move || {
        let range = range.get();
        rows.with(|rows| {
            books.with(|books| {
                range
                    .filter_map(|at| rows.get(at).map(|row| (at, row.clone(), books.get(row.no), books.longest)))
                    .collect::<Vec<_>>()
            })
        })
    };
    let go = move |to: usize| {
        active.set(to);
        scroller.reveal(to);
    };
    let keydown = move |event: leptos::ev::KeyboardEvent| {
        if is_on_control(&event) || event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let step = rows.with_untracked(|rows| on_key(rows, active.get_untracked(), &event.key(), scroller.page()));
        let name = |at: usize| rows.with_untracked(|rows| rows.get(at).map(|row| row.name.clone())).unwrap_or_default();
        match step {
            Move::None => return,
            Move::To(at) => go(at),
            Move::Open(at) => actions.toggle.run((name(at), true)),
            Move::Close(at) => actions.toggle.run((name(at), false)),
            Move::Enter(at) => actions.open.run(name(at)),
        }
        event.prevent_default();
    };
    view! {
        <div
            class="grid quota-grid"
            role="treegrid"
            tabindex="0"
            aria-label="Quotas"
            aria-rowcount=move || n_rows() + 1
            aria-activedescendant=move || rows.with(|rows| rows.get(active.get()).map(row_id))
            node_ref=scroller.element
            on:scroll=move |_| scroller.measure()
            on:keydown=keydown
        >
            <div class="grid-head" role="rowgroup">
                <div class="grid-row" role="row" aria-rowindex="1">
                    {TreeSort::ALL.into_iter().map(|column| header(column, sort, actions.sort)).collect_view()}
                </div>
            </div>
            <div role="rowgroup">
                <div role="presentation" style:height=move || format!("{}px", extent(range.get().start, ROW_HEIGHT))></div>
                <For
                    each=shown
                    key=|(at, row, book, longest)| (*at, row.clone(), *book, *longest)
                    children=move |(at, row, book, longest)| tree_row(at, &row, book, longest, active, actions)
                />
                <div role="presentation" style:height=move || format!("{}px", extent(n_rows() - range.get().end.min(n_rows()), ROW_HEIGHT))></div>
            </div>
        </div>
    }
}

fn row_id(row: &TreeRow) -> String {
    format!("quota-row-{}", row.no.0)
}

/// A column's title; the colour of its part of the bar stands beside it.
fn header(column: TreeSort, sort: Signal<TreeSort>, choose: Callback<TreeSort>) -> impl IntoView {
    let title = match column {
        TreeSort::Name => "Quota",
        TreeSort::Guaranteed => "Guaranteed",
        TreeSort::Own => "Own jobs",
        TreeSort::Children => "Children",
        TreeSort::Borrowed => "Borrowed",
        TreeSort::Lent => "Lent out",
        TreeSort::Idle => "Idle",
        TreeSort::Waiting => "Waiting",
    };
    let order = if column == TreeSort::Name { "ascending" } else { "descending" };
    let aria = move || if sort.get() == column { order } else { "none" };
    let is_numeric = column != TreeSort::Name;
    let swatch = format!("swatch bar-{}", column.as_str());
    let button = view! {
        <div class="cell" class:num=is_numeric role="columnheader" aria-sort=aria>
            <button class="sort" on:click=move |_| choose.run(column)>
                <span class=swatch aria-hidden="true"></span>
                {title}
            </button>
        </div>
    };
    // The bars have a column of their own, after the names.
    (
        button,
        (column == TreeSort::Name)
            .then(|| view! { <div class="cell cell-bar" role="columnheader">"Where its GPUs are"</div> }),
    )
}

fn tree_row(
    at: usize,
    row: &TreeRow,
    book: Book,
    longest: i64,
    active: RwSignal<usize>,
    actions: TreeActions,
) -> impl IntoView + use<> {
    let name = row.name.clone();
    let toggled = row.name.clone();
    let id = row_id(row);
    let is_open = row.is_open;
    let toggle = move |event: leptos::ev::MouseEvent| {
        event.stop_propagation();
        actions.toggle.run((toggled.clone(), is_open == Some(false)));
    };
    let number = |value: i64| view! { <div class="cell num" class:zero=value == 0 role="gridcell">{bare(value)}</div> };
    view! {
        <div
            class="grid-row"
            class:is-active=move || active.get() == at
            id=id
            role="row"
            attr:aria-level=row.level
            aria-posinset=row.position
            aria-setsize=row.n_siblings
            aria-expanded=is_open.map(|is_open| is_open.to_string())
            aria-rowindex=at + 2
            on:click=move |_| active.set(at)
        >
            <div class="cell cell-name" role="rowheader" style:padding-inline-start=format!("{}rem", f64::from(u32::try_from(row.level).unwrap_or(1)) * 1.25 - 0.75)>
                {match is_open {
                    Some(is_open) => view! { <span class="twist" class:is-open=is_open aria-hidden="true" on:click=toggle></span> }.into_any(),
                    None => view! { <span class="twist is-leaf" aria-hidden="true"></span> }.into_any(),
                }}
                <a href=actions.href.run(name.clone()) tabindex="-1">{name.clone()}</a>
            </div>
            <div class="cell cell-bar" role="gridcell"><QuotaBar book=book longest=longest /></div>
            {number(book.guaranteed)} {number(book.own)} {number(book.children)} {number(book.borrowed)} {number(book.lent + book.above)} {number(book.idle)}
            <div class="cell num" class:zero=book.n_waiting == 0 role="gridcell">
                {if book.n_waiting == 0 { "0".to_owned() } else { waiting(&book) }}
            </div>
        </div>
    }
}

/// `3 jobs, 48 GPUs`.
fn waiting(book: &Book) -> String {
    let jobs = if book.n_waiting == 1 { "1 job".to_owned() } else { format!("{} jobs", book.n_waiting) };
    format!("{jobs}, {}", gpus(book.waiting))
}
