//! Schemas of types that write themselves: each is described as its readers see it.

use std::borrow::Cow;

use schemars::JsonSchema;
use schemars::Schema;
use schemars::SchemaGenerator;
use schemars::json_schema;

use crate::unit::amount::Amount;
use crate::unit::amount::DIMENSIONS_MAX;
use crate::unit::few::Few;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Amount")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An amount in each dimension, in the order in which the cluster declares them; zeros at the end are left out.",
            "type": "array",
            "items": generator.subschema_for::<i64>(),
            "maxItems": DIMENSIONS_MAX,
        })
    }
}

/// Lists of their own kind are lists to their readers.
macro_rules! lists {
    ($($list:ident)*) => {$(
        impl<T: JsonSchema> JsonSchema for $list<T> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                Vec::<T>::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                Vec::<T>::json_schema(generator)
            }
        }
    )*};
}

lists! { Few Set }

impl<K: JsonSchema, V: JsonSchema> JsonSchema for Map<K, V> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("{}By{}", V::schema_name(), K::schema_name()))
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<V>() })
    }
}
