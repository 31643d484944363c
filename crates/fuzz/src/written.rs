//! What JSON says, read without the product's types.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

/// The object that JSON is, if it is one. [`Value`] is the stricter reader: it also looks into what the product passes over.
pub(crate) fn object(json: &[u8]) -> Option<Value> {
    serde_json::from_slice(json).ok().filter(Value::is_object)
}

/// The text at this path of names.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(value, |value, name| value.as_object()?.get(*name))?.as_str()
}

/// Whether JSON is made of objects, texts, numbers and nulls alone, and none of the objects names a field twice.
pub(crate) fn is_plain(json: &[u8]) -> bool {
    serde_json::from_slice::<Plain>(json).is_ok()
}

struct Plain;

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Plain;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object, a text, a number or null")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plain, A::Error> {
                let mut names = BTreeSet::new();
                while let Some((name, Plain)) = map.next_entry::<String, Plain>()? {
                    if !names.insert(name) {
                        return Err(A::Error::custom("a field is here twice"));
                    }
                }
                Ok(Plain)
            }
            fn visit_str<E>(self, _: &str) -> Result<Plain, E> {
                Ok(Plain)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Plain, E> {
                Ok(Plain)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Plain, E> {
                Ok(Plain)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Plain, E> {
                Ok(Plain)
            }
            fn visit_unit<E>(self) -> Result<Plain, E> {
                Ok(Plain)
            }
        }
        deserializer.deserialize_any(Fields)
    }
}

/// Whether it is JSON at all.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
