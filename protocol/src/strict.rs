//! Values of records, which are refused where they have a field too much. On the wire the same types pass such a field over,
//! for a newer server may say more.

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use std::borrow::Cow;
use std::fmt;

/// Reads a flat object: `#[serde(deserialize_with = "strict::object")]`.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(Strict(deserializer))
}

/// Reads a flat object that may be absent.
pub(crate) fn option<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent, bound = "T: Deserialize<'de>")]
    struct Object<T>(#[serde(deserialize_with = "object")] T);

    Ok(Option::<Object<T>>::deserialize(deserializer)?.map(|object| object.0))
}

/// Whatever is behind it is asked for an object of certain fields, and has no others.
struct Strict<T>(T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Within { fields, inner: visitor })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A visitor, or what it visits, and the fields that there are.
struct Within<T> {
    fields: &'static [&'static str],
    inner: T,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Within { fields: self.fields, inner: map })
    }

    /// A list in an object's place has no names; whether it may stand there is asked elsewhere.
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(seq)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.inner.next_key::<Cow<'de, str>>()? else { return Ok(None) };
        if !self.fields.contains(&&*key) {
            return Err(Error::unknown_field(&key, self.fields));
        }
        seed.deserialize(CowStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Detail, Sides, TimeControl};
    use serde::Deserialize;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Holder {
        #[serde(deserialize_with = "super::object")]
        sides: Sides<u8>,
        #[serde(deserialize_with = "super::option", default)]
        detail: Option<Detail>,
    }

    #[test]
    fn a_field_too_much_is_refused_here_and_passed_over_elsewhere() {
        let holder = |text: &str| serde_json::from_str::<Holder>(text);
        assert!(holder(r#"{"sides":{"south":1,"north":2}}"#).is_ok());
        assert!(holder(r#"{"sides":{"south":1,"north":2},"detail":null}"#).is_ok());
        let detail = r#"{"pit":4,"clause":"rules.move.own-row","legal":[0]"#;
        assert!(holder(&format!(r#"{{"sides":{{"south":1,"north":2}},"detail":{detail}}}}}"#)).is_ok());
        for wrong in [
            r#"{"sides":{"south":1,"north":2,"east":3}}"#.to_owned(),
            format!(r#"{{"sides":{{"south":1,"north":2}},"detail":{detail},"x":1}}}}"#),
        ] {
            let error = holder(&wrong).unwrap_err().to_string();
            assert!(error.starts_with("unknown field"), "{error}");
        }
        let time = r#"{"base_ms":1,"increment_ms":2,"grace_ms":3,"new_ms":4}"#;
        assert!(serde_json::from_str::<TimeControl>(time).is_ok());
    }
}
