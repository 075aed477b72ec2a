//! `tidegate quotas`: the tree of quotas, and where each one's GPUs are.

use clap::Args;
use console_model::books::Book;
use console_model::books::Books;
use console_model::gpus;
use console_model::tree_rows;
use console_model::tree_rows::TreeRow;
use console_model::tree_rows::TreeSort;
use console_model::tree_rows::TreeView;
use engine::state::world::State;

use crate::shell::at::At;
use crate::shell::failure::Failure;
use crate::shell::named;
use crate::shell::person::Person;
use crate::shell::print;
use crate::shell::table::Cell;
use crate::shell::table::Column;
use crate::shell::table::Output;
use crate::shell::table::Table;
use crate::shell::table::thousandths;

/// What `tidegate quotas` is asked for.
#[derive(Debug, Args)]
pub struct Quotas {
    /// Part of the quota's name.
    pub search: Option<String>,
    /// By what siblings are ordered: name, guaranteed, own, children, borrowed, lent, idle, waiting.
    #[arg(long, default_value = "name", value_parser = sort)]
    pub sort: TreeSort,
    #[command(flatten)]
    pub at: At,
}

const COLUMNS: [Column; 12] = [
    Column::words("quota", "QUOTA"),
    Column::number("guaranteed", "GUARANTEED"),
    Column::number("own", "OWN"),
    Column::number("children", "CHILDREN"),
    Column::number("lent", "LENT"),
    Column::number("borrowed", "BORROWED"),
    Column::number("idle", "IDLE"),
    Column::number("waiting", "WAITING"),
    Column::number("jobs_running", "RUNNING JOBS").wide(),
    Column::number("jobs_waiting", "WAITING JOBS").wide(),
    Column::words("parent", "PARENT").wide(),
    Column::drawn(""),
];

/// How many letters the longest bar has.
const BAR_LETTERS: i64 = 24;
/// What the parts of a bar are drawn with.
const LEGEND: &str = "GPUs: # own jobs, = children, - lent out, + borrowed, . idle";

/// Prints them.
pub fn quotas(asked: &Quotas) -> Result<(), Failure> {
    let mut person = Person::of(asked.at.context.as_deref())?;
    let state = person.state()?;
    let table = table(&state, asked);
    print::table(&table, asked.at.output)?;
    let is_drawn = matches!(asked.at.output, Output::Table | Output::Wide) && !table.rows.is_empty();
    if is_drawn { print::line(LEGEND) } else { Ok(()) }
}

fn table(state: &State, asked: &Quotas) -> Table {
    let books = Books::of(state);
    let search = asked.search.clone().unwrap_or_default();
    let view = TreeView { search, sort: asked.sort, ..TreeView::default() };
    let rows = tree_rows::rows(state, &books, &view);
    let rows = rows.iter().map(|line| row(state, line, &books)).collect();
    Table { columns: &COLUMNS, rows, empty: "No matches." }
}

fn row(state: &State, line: &TreeRow, books: &Books) -> Vec<Cell> {
    let book = books.get(line.no);
    let parent = state.quotas[line.no.at()].parent.map(|parent| state.quotas[parent.at()].id.as_str());
    let amount = |value: i64| Cell::with(gpus::bare(value), thousandths(value));
    let indented = format!("{}{}", "  ".repeat(line.level.saturating_sub(1)), line.name);
    vec![
        Cell::with(indented, line.name.as_str()),
        amount(book.guaranteed),
        amount(book.own),
        amount(book.children + book.above),
        amount(book.lent),
        amount(book.borrowed),
        amount(book.idle),
        amount(book.waiting),
        Cell::with(book.n_running.to_string(), book.n_running),
        Cell::with(book.n_waiting.to_string(), book.n_waiting),
        Cell::maybe(parent),
        Cell::of(&bar(&book, books.longest)),
    ]
}

/// The parts beside each other, all quotas on one scale.
fn bar(book: &Book, longest: i64) -> String {
    let parts =
        [('#', book.own), ('=', book.children + book.above), ('-', book.lent), ('.', book.idle), ('+', book.borrowed)];
    let scale = longest.max(1);
    let (mut sum, mut drawn, mut text) = (0, 0, String::new());
    for (letter, value) in parts {
        // Each part ends where the sum ends, so that no part's rounding moves those after it.
        sum += value;
        let end = (sum * BAR_LETTERS + scale / 2) / scale;
        text.extend(std::iter::repeat_n(letter, usize::try_from(end - drawn).unwrap_or(0)));
        drawn = end.max(drawn);
    }
    text
}

fn sort(text: &str) -> Result<TreeSort, String> {
    named::one_of(TreeSort::ALL, TreeSort::as_str, text)
}

#[cfg(test)]
mod tests {
    use console_model::books::Book;

    use super::bar;

    #[test]
    fn bars_have_one_scale_and_their_parts_add_up() {
        let book = Book { guaranteed: 48_000, own: 16_000, lent: 16_000, idle: 16_000, ..Book::default() };
        assert_eq!(bar(&book, 96_000), "####----....");
        let book = Book { guaranteed: 48_000, own: 48_000, borrowed: 48_000, ..Book::default() };
        assert_eq!(bar(&book, 96_000), "############++++++++++++");
        assert_eq!(bar(&Book::default(), 0), "");
    }
}
