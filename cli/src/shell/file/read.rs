//! Reads what people write as TOML into the types of the engine's commands.
//!
//! A period is a text such as "2h 30m", and its field goes without `_ms`; an amount and a price are in the units of the
//! console's forms. Everything else stands as in the commands.

use std::cmp::Reverse;
use std::ops::Range;

use console_model::amount;
use console_model::duration;
use console_model::spot_draft;
use engine::state::cluster::Cluster;
use engine::unit::amount::Dimension;
use engine::unit::time::Millis;
use serde::Deserializer;
use serde::de::DeserializeSeed;
use serde::de::EnumAccess;
use serde::de::IntoDeserializer;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::VariantAccess;
use serde::de::Visitor;
use serde::de::value::StrDeserializer;
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::DeString;
use toml::de::DeTable;
use toml::de::DeValue;

use crate::shell::file::fault;
use crate::shell::file::fault::Fault;

/// Fields that hold a price: micro-units in commands.
pub const PRICES: [&str; 2] = ["price", "original_price"];

/// How a file says what its cluster counts.
pub const DECLARE: &str = "to create a cluster, write [cluster] with dimensions = [{ name = \"gpu\", kind = \"gpu\" }] \
                           and execution = \"reported\"";

/// The table that a text is; nothing of it has a meaning yet.
pub fn table(text: &str) -> Result<DeTable<'_>, String> {
    let place = |error: &toml::de::Error| error.span().unwrap_or_default();
    let wrong = |error: toml::de::Error| Fault::new(error.message()).at(&place(&error)).told(text);
    DeTable::parse(text).map(Spanned::into_inner).map_err(wrong)
}

/// What a text says, with the amounts of this cluster.
pub fn read<T: serde::de::DeserializeOwned>(text: &str, cluster: &Cluster) -> Result<T, String> {
    let value = DeValue::Table(table(text)?);
    let root = Node { value: &value, bytes: 0..0, holds: Holds::AsItIs, cluster };
    T::deserialize(root).map_err(|fault| fault.told(text))
}

/// Where the key of a table stands, the last one of these that there is, as a fault begins with it.
#[must_use]
pub fn place(text: &str, keys: &[&str]) -> String {
    let Ok(root) = table(text) else { return String::new() };
    let (mut inner, mut bytes) = (Some(&root), 0..0);
    for key in keys {
        let Some((key, value)) = inner.and_then(|table| table.iter().find(|(known, _)| known.get_ref() == key)) else {
            break;
        };
        (inner, bytes) = (value.get_ref().as_table(), key.span());
    }
    Fault::new("").at(&bytes).told(text)
}

/// What a number is.
#[derive(Clone, Copy)]
enum Holds<'a> {
    AsItIs,
    Period,
    Price,
    /// Of the dimension of this name, if there is one.
    Amount(&'a Spanned<DeString<'a>>),
}

/// A value and its place.
struct Node<'a> {
    value: &'a DeValue<'a>,
    bytes: Range<usize>,
    holds: Holds<'a>,
    cluster: &'a Cluster,
}

impl<'a> Node<'a> {
    fn of(&self, value: &'a Spanned<DeValue<'a>>, holds: Holds<'a>) -> Self {
        Self { value: value.get_ref(), bytes: value.span(), holds, cluster: self.cluster }
    }

    /// The number, in the unit of commands.
    fn number(&self) -> Result<i64, Fault> {
        let text = match self.value {
            DeValue::Integer(number) if number.radix() != 10 => {
                let read = i64::from_str_radix(number.as_str(), number.radix());
                return read.map_err(|error| Fault::new(error.to_string()));
            }
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            DeValue::String(text) => text,
            DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                return Err(Fault::new(format!("{} stands where a number is expected", self.value.type_str())));
            }
        };
        let read = match self.holds {
            Holds::AsItIs => text.parse().map_err(|_| format!("“{text}” is not a whole number")),
            Holds::Price => spot_draft::micros(text),
            Holds::Amount(name) => amount::value(self.dimension(name)?, text, |unit| format!("write the {unit}")),
            Holds::Period if matches!(self.value, DeValue::String(_)) => duration::total(text).map(|Millis(ms)| ms),
            Holds::Period => Err(format!("write a period with its unit, such as \"{text}s\" or \"2h 30m\"")),
        };
        read.map_err(Fault::new)
    }

    fn dimension(&self, name: &Spanned<DeString<'_>>) -> Result<&Dimension, Fault> {
        let known = &self.cluster.dimensions;
        known.iter().find(|known| known.name == **name.get_ref()).ok_or_else(|| {
            if known.is_empty() {
                return Fault::new(format!("nothing says what the cluster counts; {DECLARE}")).at(&name.span());
            }
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            Fault::new(fault::unknown("dimension", name.get_ref(), &names)).at(&name.span())
        })
    }

    /// The entries of a table; `fields` are those of a struct.
    fn entries<'de, V: Visitor<'de>>(
        &self,
        table: &'a DeTable<'a>,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let mut left: Vec<_> = table.iter().collect();
        left.sort_by_key(|(key, _)| Reverse(key.span().start));
        let entries = Entries { of: self, left, fields, value: None };
        visitor.visit_map(entries).map_err(|fault| fault.at(&self.bytes))
    }
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let visited = match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(_) => self.number().and_then(|number| visitor.visit_i64(number)),
            DeValue::Float(number) => visitor.visit_str(number.as_str()),
            DeValue::Boolean(is_so) => visitor.visit_bool(*is_so),
            DeValue::Datetime(time) => visitor.visit_string(time.to_string()),
            DeValue::Array(list) => visitor.visit_seq(Items { of: &self, left: list.iter() }),
            DeValue::Table(table) => self.entries(table, None, visitor),
        };
        visited.map_err(|fault| fault.at(&self.bytes))
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.number().and_then(|number| visitor.visit_i64(number)).map_err(|fault| fault.at(&self.bytes))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    /// What nobody asks for may be anything.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.value.as_table() {
            Some(table) => self.entries(table, Some(fields), visitor),
            None => self.deserialize_any(visitor),
        }
    }

    /// A text, or a table of one entry: the variant's name, and what it holds.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let only = self.value.as_table().filter(|table| table.len() == 1).and_then(|table| table.iter().next());
        let tagged = match (self.value.as_str(), only) {
            (Some(text), _) => Tagged { name: text, bytes: self.bytes.clone(), value: None },
            (None, Some((key, value))) => {
                Tagged { name: key.get_ref(), bytes: key.span(), value: Some(self.of(value, Holds::Period)) }
            }
            (None, None) => {
                let found = self.value.type_str();
                let text = format!("{found} stands where one of {} is expected", known.join(", "));
                return Err(Fault::new(text).at(&self.bytes));
            }
        };
        visitor.visit_enum(tagged)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

/// The items of a list.
struct Items<'n, 'a, I> {
    of: &'n Node<'a>,
    left: I,
}

impl<'de, 'a, I: Iterator<Item = &'a Spanned<DeValue<'a>>>> SeqAccess<'de> for Items<'_, 'a, I> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(item) = self.left.next() else { return Ok(None) };
        seed.deserialize(self.of.of(item, Holds::AsItIs)).map(Some).map_err(|fault| fault.at(&item.span()))
    }
}

/// The entries of a table that are left, the next one last.
struct Entries<'n, 'a> {
    of: &'n Node<'a>,
    left: Vec<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)>,
    fields: Option<&'static [&'static str]>,
    value: Option<Node<'a>>,
}

impl<'a> Entries<'_, 'a> {
    /// The field that is meant, and what its number is.
    fn field(&self, key: &'a Spanned<DeString<'a>>) -> (&'a str, Holds<'a>) {
        let Some(fields) = self.fields else { return (key.get_ref(), Holds::Amount(key)) };
        let key: &'a str = key.get_ref();
        if fields.contains(&key) {
            return (key, if PRICES.contains(&key) { Holds::Price } else { Holds::AsItIs });
        }
        let period = fields.iter().find(|field| field.strip_suffix("_ms") == Some(key));
        period.map_or((key, Holds::AsItIs), |field| (field, Holds::Period))
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some((key, value)) = self.left.pop() else { return Ok(None) };
        let (field, holds) = self.field(key);
        self.value = Some(self.of.of(value, holds));
        let name: StrDeserializer<'_, Fault> = field.into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.at(&key.span()))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let node = self.value.take().ok_or_else(|| Fault::new("there is a value without a name"))?;
        let bytes = node.bytes.clone();
        seed.deserialize(node).map_err(|fault| fault.at(&bytes))
    }
}

/// A variant and what it holds.
struct Tagged<'a> {
    name: &'a str,
    bytes: Range<usize>,
    value: Option<Node<'a>>,
}

impl<'de, 'a> EnumAccess<'de> for Tagged<'a> {
    type Error = Fault;
    type Variant = Content<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content<'a>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|fault| fault.at(&self.bytes))?;
        Ok((variant, Content { name: self.name, bytes: self.bytes, value: self.value }))
    }
}

/// What a variant holds.
struct Content<'a> {
    name: &'a str,
    bytes: Range<usize>,
    value: Option<Node<'a>>,
}

impl<'a> Content<'a> {
    fn value(self) -> Result<Node<'a>, Fault> {
        let text = format!("“{0}” needs a value: write {{ {0} = \"30m\" }}", self.name);
        self.value.ok_or_else(|| Fault::new(text).at(&self.bytes))
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let text = format!("“{0}” has no value: write \"{0}\"", self.name);
        self.value.map_or(Ok(()), |_| Err(Fault::new(text).at(&self.bytes)))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.value()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        self.value()?.deserialize_struct("", fields, visitor)
    }
}
