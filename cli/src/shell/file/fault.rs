//! What is wrong with a file, and where.

use std::fmt;
use std::ops::Range;

use serde::de;
use serde::de::Expected;
use serde::de::Unexpected;

/// How like a word has to be, from 0 to 1, to have been meant.
const LIKENESS: f64 = 0.8;

/// What is wrong, and which bytes of the text are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    text: String,
    bytes: Option<Range<usize>>,
}

impl Fault {
    /// What is wrong; the place is added by the caller.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), bytes: None }
    }

    /// At these bytes, unless it has a closer place.
    #[must_use]
    pub fn at(self, bytes: &Range<usize>) -> Self {
        Self { bytes: self.bytes.or_else(|| Some(bytes.clone())), ..self }
    }

    /// For people: with line and column.
    #[must_use]
    pub fn told(&self, text: &str) -> String {
        let before = self.bytes.as_ref().and_then(|bytes| text.get(..bytes.start));
        let Some(before) = before else { return self.text.clone() };
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: {}", self.text)
    }
}

/// That a word is none of those that are known, and which of them was meant.
#[must_use]
pub fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let likeness = |other: &&str| strsim::jaro_winkler(word, other);
    let nearest = known.iter().copied().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    match nearest.filter(|other| likeness(other) >= LIKENESS) {
        Some(meant) => format!("there is no {what} “{word}”; did you mean “{meant}”?"),
        None if known.is_empty() => format!("there is no {what} “{word}”"),
        None => format!("there is no {what} “{word}”; write one of {}", known.join(", ")),
    }
}

/// A field's name as people write it: of a period without its unit, since that is written with the value.
#[must_use]
pub fn written(field: &str) -> &str {
    field.strip_suffix("_ms").unwrap_or(field)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::new(text.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let wanted = wanted.to_string();
        let wanted = match wanted.as_str() {
            "a map" => "a table, such as { name = value },",
            "a sequence" => "a list, such as [\"value\"],",
            wanted if wanted.starts_with("struct ") => "a table",
            wanted => wanted,
        };
        let found = if found == Unexpected::Seq {
            "a list".to_owned()
        } else if found == Unexpected::Map {
            "a table".to_owned()
        } else {
            found.to_string()
        };
        Self::new(format!("{found} stands where {wanted} is expected"))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown("field", field, &known.iter().copied().map(written).collect::<Vec<_>>()))
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown("value", variant, known))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("“{}” is missing here", written(field)))
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;
    use super::unknown;

    #[test]
    fn places_are_counted_in_lines_and_letters() {
        let text = "eins = 1\nzwölf = 12\n";
        let at = |word: &str| {
            let from = text.find(word).unwrap();
            Fault::new("no").at(&(from..from)).told(text)
        };
        assert_eq!(
            ["eins", "zwölf", "12"].map(at),
            ["line 1, column 1: no", "line 2, column 1: no", "line 2, column 9: no"]
        );
        assert_eq!(Fault::new("no").told(text), "no");
        assert_eq!(Fault::new("no").at(&(3..4)).at(&(0..1)), Fault::new("no").at(&(3..4)), "the closer place counts");
    }

    #[test]
    fn what_was_meant_is_asked_where_a_word_is_like_another() {
        let known = ["groups", "quotas", "offers"];
        assert_eq!(unknown("field", "qoutas", &known), "there is no field “qoutas”; did you mean “quotas”?");
        assert_eq!(unknown("field", "x", &known), "there is no field “x”; write one of groups, quotas, offers");
    }
}
