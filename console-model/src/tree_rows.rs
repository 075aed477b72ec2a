//! The rows of the quota tree: which are shown, in which order, and where the keys lead.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use engine::state::world::State;
use engine::unit::id::QuotaNo;
use engine::unit::ordered::Set;
use engine::unit::sort;

use crate::books::Books;

/// By what siblings are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeSort {
    /// By name.
    #[default]
    Name,
    /// The largest guaranteed amount first.
    Guaranteed,
    /// The largest use of their own first.
    Own,
    /// The largest use by children first.
    Children,
    /// Who borrows most first.
    Borrowed,
    /// Who lends most first.
    Lent,
    /// Who leaves most idle first.
    Idle,
    /// Who waits for most first.
    Waiting,
}

impl TreeSort {
    /// All orders, in the order of the columns.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Guaranteed,
        Self::Own,
        Self::Children,
        Self::Borrowed,
        Self::Lent,
        Self::Idle,
        Self::Waiting,
    ];

    /// In the URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Guaranteed => "guaranteed",
            Self::Own => "own",
            Self::Children => "children",
            Self::Borrowed => "borrowed",
            Self::Lent => "lent",
            Self::Idle => "idle",
            Self::Waiting => "waiting",
        }
    }

    /// From the URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|sort| sort.as_str() == text).unwrap_or_default()
    }
}

/// What the person has chosen to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeView {
    /// Names must contain this; ancestors of a match are shown as well.
    pub search: String,
    /// The order of siblings.
    pub sort: TreeSort,
    /// Names of quotas whose children are hidden.
    pub closed: Set<String>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeRow {
    /// The quota.
    pub no: QuotaNo,
    /// Its name.
    pub name: String,
    /// 1 for a root.
    pub level: usize,
    /// Its place among its siblings, from 1.
    pub position: usize,
    /// How many siblings there are, itself included.
    pub n_siblings: usize,
    /// Whether its children are shown; nothing if it has none.
    pub is_open: Option<bool>,
}

/// The rows of a tree, top to bottom.
#[must_use]
pub fn rows(state: &State, books: &Books, view: &TreeView) -> Vec<TreeRow> {
    let mut children: BTreeMap<Option<QuotaNo>, Vec<QuotaNo>> = BTreeMap::new();
    let found = found(state, &view.search);
    for (no, quota) in state.live_quotas() {
        if found.as_ref().is_none_or(|found| found.contains(&no)) {
            children.entry(quota.parent).or_default().push(no);
        }
    }
    for siblings in children.values_mut() {
        sort::by_cached_key(siblings, |no| sort_key(state, books, view.sort, *no));
    }
    let mut rows = Vec::new();
    add(state, view, &children, None, 1, &mut rows);
    rows
}

fn add(
    state: &State,
    view: &TreeView,
    children: &BTreeMap<Option<QuotaNo>, Vec<QuotaNo>>,
    parent: Option<QuotaNo>,
    level: usize,
    rows: &mut Vec<TreeRow>,
) {
    let Some(siblings) = children.get(&parent) else { return };
    for (at, &no) in siblings.iter().enumerate() {
        let name = state.quotas[no.at()].id.as_str();
        let is_open = children.contains_key(&Some(no)).then(|| !view.closed.contains(name));
        rows.push(TreeRow { no, name: name.to_owned(), level, position: at + 1, n_siblings: siblings.len(), is_open });
        if is_open == Some(true) {
            add(state, view, children, Some(no), level + 1, rows);
        }
    }
}

/// Quotas whose name matches, with their ancestors; nothing if everything matches.
fn found(state: &State, search: &str) -> Option<Set<QuotaNo>> {
    let search = search.trim().to_lowercase();
    if search.is_empty() {
        return None;
    }
    let matching = state.live_quotas().filter(|(_, quota)| quota.id.as_str().to_lowercase().contains(&search));
    Some(matching.flat_map(|(no, _)| crate::books::chain(state, no)).collect())
}

fn sort_key(state: &State, books: &Books, sort: TreeSort, no: QuotaNo) -> (Reverse<i64>, Vec<NamePart>) {
    let book = books.get(no);
    let value = match sort {
        TreeSort::Name => 0,
        TreeSort::Guaranteed => book.guaranteed,
        TreeSort::Own => book.own,
        TreeSort::Children => book.children,
        TreeSort::Borrowed => book.borrowed,
        TreeSort::Lent => book.lent,
        TreeSort::Idle => book.idle,
        TreeSort::Waiting => book.waiting,
    };
    (Reverse(value), natural(state.quotas[no.at()].id.as_str()))
}

/// A part of a name: people expect `Quota2` before `Quota10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamePart {
    /// Digits, by value.
    Number(u64),
    /// Anything else.
    Text(String),
}

/// A name in parts that sort as people expect.
#[must_use]
pub fn natural(name: &str) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|letter: char| letter.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        parts.push(match part.parse() {
            Ok(number) if is_digit => NamePart::Number(number),
            _ => NamePart::Text(part.to_lowercase()),
        });
    }
    parts
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Nothing to do here.
    None,
    /// Another row becomes the active one.
    To(usize),
    /// Show the row's children.
    Open(usize),
    /// Hide them.
    Close(usize),
    /// Go to the row's page.
    Enter(usize),
}

/// Where a key leads from row `at`, as the treegrid pattern of WAI-ARIA has it.
pub fn on_key(rows: &[TreeRow], at: usize, key: &str, page: usize) -> Move {
    let Some(row) = rows.get(at) else { return Move::None };
    let last = rows.len() - 1;
    match key {
        "ArrowDown" if at < last => Move::To(at + 1),
        "ArrowUp" if at > 0 => Move::To(at - 1),
        "PageDown" => Move::To((at + page).min(last)),
        "PageUp" => Move::To(at.saturating_sub(page)),
        "Home" => Move::To(0),
        "End" => Move::To(last),
        "ArrowRight" => match row.is_open {
            Some(false) => Move::Open(at),
            Some(true) => Move::To(at + 1),
            None => Move::None,
        },
        "ArrowLeft" if row.is_open == Some(true) => Move::Close(at),
        "ArrowLeft" => rows[..at].iter().rposition(|other| other.level < row.level).map_or(Move::None, Move::To),
        "Enter" => Move::Enter(at),
        _ => Move::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(level: usize, is_open: Option<bool>) -> TreeRow {
        TreeRow { no: QuotaNo(0), name: String::new(), level, position: 1, n_siblings: 1, is_open }
    }

    fn three() -> Vec<TreeRow> {
        vec![row(1, Some(true)), row(2, None), row(2, None)]
    }

    #[test]
    fn arrows_move_by_one_and_stop_at_the_ends() {
        assert_eq!(on_key(&three(), 0, "ArrowDown", 10), Move::To(1));
        assert_eq!(on_key(&three(), 2, "ArrowDown", 10), Move::None);
        assert_eq!(on_key(&three(), 0, "ArrowUp", 10), Move::None);
    }

    #[test]
    fn left_closes_an_open_row_and_otherwise_leads_to_the_parent() {
        assert_eq!(on_key(&three(), 0, "ArrowLeft", 10), Move::Close(0));
        assert_eq!(on_key(&three(), 2, "ArrowLeft", 10), Move::To(0));
    }

    #[test]
    fn right_opens_a_closed_row_and_otherwise_leads_to_its_first_child() {
        assert_eq!(on_key(&[row(1, Some(false))], 0, "ArrowRight", 10), Move::Open(0));
        assert_eq!(on_key(&three(), 0, "ArrowRight", 10), Move::To(1));
        assert_eq!(on_key(&three(), 1, "ArrowRight", 10), Move::None);
    }

    #[test]
    fn home_end_and_pages_stay_inside() {
        assert_eq!(on_key(&three(), 1, "Home", 10), Move::To(0));
        assert_eq!(on_key(&three(), 1, "End", 10), Move::To(2));
        assert_eq!(on_key(&three(), 1, "PageDown", 10), Move::To(2));
    }

    #[test]
    fn an_empty_tree_has_no_moves() {
        assert_eq!(on_key(&[], 0, "ArrowDown", 10), Move::None);
    }

    #[test]
    fn numbers_in_names_sort_by_value() {
        assert!(natural("Quota2") < natural("quota10"));
        assert!(natural("Quota1.2") < natural("Quota1.10"));
    }
}
