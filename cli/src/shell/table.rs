//! What is listed, for people and for scripts: rows of cells under columns, each of which is described once.

use clap::ValueEnum;
use serde_json::Map;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// As a table.
    #[default]
    Table,
    /// As a table with all columns.
    Wide,
    /// As JSON, for scripts.
    Json,
    /// As names alone, one on a line.
    Name,
}

/// On which side a column's cells line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in JSON; empty for what is drawn for people alone.
    pub key: &'static str,
    /// Its head; empty for what is for scripts alone.
    pub title: &'static str,
    /// Where its cells line up.
    pub side: Side,
    /// Whether only a wide table has it.
    pub is_wide: bool,
}

impl Column {
    /// A column of words.
    #[must_use]
    pub const fn words(key: &'static str, title: &'static str) -> Self {
        Self { key, title, side: Side::Left, is_wide: false }
    }

    /// A column of numbers.
    #[must_use]
    pub const fn number(key: &'static str, title: &'static str) -> Self {
        Self { key, title, side: Side::Right, is_wide: false }
    }

    /// A column of what is drawn for people alone.
    #[must_use]
    pub const fn drawn(title: &'static str) -> Self {
        Self::words("", title)
    }

    /// A column for scripts alone.
    #[must_use]
    pub const fn script(key: &'static str) -> Self {
        Self::words(key, "")
    }

    /// The same in wide tables only.
    #[must_use]
    pub const fn wide(self) -> Self {
        Self { is_wide: true, ..self }
    }
}

/// How a cell looks on a terminal. What it says never depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As the rest.
    Plain,
    /// It goes well.
    Good,
    /// It waits, or changes.
    Waits,
    /// It went wrong.
    Bad,
    /// It is over.
    Past,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\u{1b}[32m",
            Self::Waits => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
            Self::Past => "\u{1b}[2m",
        }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    text: String,
    value: Value,
    tone: Tone,
}

impl Cell {
    /// One that says to people and to scripts the same.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::with(text, Value::from(text))
    }

    /// One that may say nothing.
    #[must_use]
    pub fn maybe(text: Option<&str>) -> Self {
        text.map_or_else(|| Self::with("", Value::Null), Self::of)
    }

    /// One that says it to scripts in another way.
    #[must_use]
    pub fn with(text: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { text: shown(&text.into()), value: value.into(), tone: Tone::Plain }
    }

    /// The same in a tone.
    #[must_use]
    pub fn in_tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// A text that cannot move the cursor or change what else a terminal shows: it may be anybody's.
#[must_use]
pub fn shown(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// A number of thousandths for scripts: whole where it is whole.
#[must_use]
pub fn thousandths(value: i64) -> Value {
    if value % 1_000 == 0 {
        return Value::from(value / 1_000);
    }
    let text = format!("{}{}.{:03}", if value < 0 { "-" } else { "" }, value.abs() / 1_000, value.abs() % 1_000);
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// A list.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its columns.
    pub columns: &'static [Column],
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// What stands there instead of no rows.
    pub empty: &'static str,
}

impl Table {
    /// All of it as text, with its last line ended.
    #[must_use]
    pub fn text(&self, output: Output, is_coloured: bool) -> String {
        match output {
            Output::Json => format!("{}\n", self.json()),
            Output::Table => self.lines(false, is_coloured),
            Output::Wide => self.lines(true, is_coloured),
            Output::Name => self.names(),
        }
    }

    /// For scripts: a list of objects.
    #[must_use]
    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let told = self.columns.iter().zip(row).filter(|(column, _)| !column.key.is_empty());
            let named = told.map(|(column, cell)| (column.key.to_owned(), cell.value.clone()));
            Value::Object(named.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }

    fn names(&self) -> String {
        let names = self.rows.iter().filter_map(|row| row.first()?.value.as_str());
        names.flat_map(|name| [shown(name), "\n".to_owned()]).collect()
    }

    fn lines(&self, is_wide: bool, is_coloured: bool) -> String {
        if self.rows.is_empty() {
            return format!("{}\n", self.empty);
        }
        let is_for_people = |column: &Column| !column.title.is_empty() || column.key.is_empty();
        let is_kept = |column: &Column| is_for_people(column) && (is_wide || !column.is_wide);
        let kept: Vec<usize> = (0..self.columns.len()).filter(|at| is_kept(&self.columns[*at])).collect();
        let sides: Vec<Side> = kept.iter().map(|at| self.columns[*at].side).collect();
        let toned = |tone: Tone| if is_coloured { tone } else { Tone::Plain };
        let head = kept.iter().map(|at| (self.columns[*at].title, toned(Tone::Past))).collect();
        let mut rows: Vec<Vec<(&str, Tone)>> = vec![head];
        rows.extend(
            self.rows.iter().map(|row| kept.iter().map(|at| (row[*at].text.as_str(), toned(row[*at].tone))).collect()),
        );
        lined_up(&rows, &sides)
    }
}

/// Lines whose cells stand below each other, on these sides. Every row has a cell for each of them.
#[must_use]
pub fn lined_up(rows: &[Vec<(&str, Tone)>], sides: &[Side]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].0.width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..sides.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let parts = row.iter().zip(&widths).zip(sides);
        let parts = parts.map(|(((cell, tone), width), side)| padded(cell, *width, *side, *tone));
        text.push_str(parts.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn padded(text: &str, width: usize, side: Side, tone: Tone) -> String {
    let room = " ".repeat(width.saturating_sub(text.width()));
    let text = if tone == Tone::Plain { text.to_owned() } else { format!("{}{text}\u{1b}[0m", tone.code()) };
    match side {
        Side::Left => text + &room,
        Side::Right => room + &text,
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;
    use super::Column;
    use super::Output;
    use super::Table;
    use super::Tone;
    use super::thousandths;

    const COLUMNS: [Column; 3] =
        [Column::words("job", "JOB"), Column::number("gpus", "GPUS"), Column::words("user", "USER").wide()];

    fn table() -> Table {
        let row = |job: &str, gpus: i64| {
            let cells = [Cell::of(job), Cell::with(gpus.to_string(), gpus), Cell::maybe(None)];
            cells.into()
        };
        Table { columns: &COLUMNS, rows: vec![row("训练", 8), row("train-long", 16)], empty: "No jobs." }
    }

    #[test]
    fn columns_line_up_whatever_the_letters() {
        assert_eq!(table().text(Output::Table, false), "JOB         GPUS\n训练           8\ntrain-long    16\n");
        assert_eq!(Table { rows: Vec::new(), ..table() }.text(Output::Wide, false), "No jobs.\n");
    }

    #[test]
    fn names_stand_alone() {
        assert_eq!(table().text(Output::Name, true), "训练\ntrain-long\n");
    }

    #[test]
    fn scripts_get_every_column_as_values() {
        let told = r#"[{"gpus":8,"job":"训练","user":null},{"gpus":16,"job":"train-long","user":null}]"#;
        assert_eq!(table().text(Output::Json, true), format!("{told}\n"));
        assert_eq!([1_500, 2_000, -500].map(|value| thousandths(value).to_string()), ["1.5", "2", "-0.5"]);
    }

    #[test]
    fn colours_are_asked_for_and_names_cannot_bring_their_own() {
        let cell = Cell::of("a\u{1b}[31mb\n").in_tone(Tone::Good);
        let table = Table { columns: &COLUMNS[..1], rows: vec![vec![cell]], empty: "" };
        assert_eq!(table.text(Output::Table, false), "JOB\na\u{fffd}[31mb\u{fffd}\n");
        assert!(table.text(Output::Table, true).contains("\u{1b}[32ma\u{fffd}[31mb\u{fffd}\u{1b}[0m"));
    }
}
