//! Any message as it stands in its text: in the order of its fields, which a map of JSON loses.

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Nothing.
    Nothing,
    /// Whether something is so.
    Is(bool),
    /// A whole number; messages have no others.
    Number(i64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// Parts with names.
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// A message.
    pub fn of(message: &impl Serialize) -> Result<Self, String> {
        let text = serde_json::to_string(message).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// The part with this name.
    fn part(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Table(parts) = self else { return None };
        parts.iter_mut().find(|(name, _)| name == key).map(|(_, part)| part)
    }

    /// Leaves out what is as usual, of the part `key` of each item of a list.
    pub fn leave_out(&mut self, list: &str, key: &str, usual: &Self) {
        let Some(Self::List(items)) = self.part(list) else { return };
        for item in items {
            if let (Some(Self::Table(parts)), Self::Table(usual)) = (item.part(key), usual) {
                parts.retain(|part| !usual.contains(part));
            }
            if let Self::Table(parts) = item {
                parts.retain(|(name, part)| name != key || (part != usual && *part != Self::Table(Vec::new())));
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a message")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nothing)
    }

    fn visit_bool<E>(self, is_so: bool) -> Result<Tree, E> {
        Ok(Tree::Is(is_so))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Tree, E> {
        i64::try_from(number).map(Tree::Number).map_err(E::custom)
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Tree::Table(table))
    }
}
