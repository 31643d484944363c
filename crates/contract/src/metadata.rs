//! The merchant's own key-value pairs.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Deserializer, Serialize, de};

/// Text pairs; a repeated name is an error, as everywhere in our JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Metadata(pub BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Metadata;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of strings")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
                let mut pairs = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    if pairs.contains_key(&name) {
                        return Err(de::Error::custom(format_args!("duplicate field `{name}`")));
                    }
                    pairs.insert(name, value);
                }
                Ok(Metadata(pairs))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
