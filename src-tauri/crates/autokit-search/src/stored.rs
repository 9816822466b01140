//! How the parts of an index are serialized: long lists of numbers as bytes, so that reading them back costs no more
//! than copying.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// A value that is stored as `WIDTH` bytes, little-endian.
pub(crate) trait Plain: Sized {
    const WIDTH: usize;

    /// Appends its bytes.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads it from `WIDTH` bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl Plain for u32 {
    const WIDTH: usize = 4;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> u32 {
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }
}

impl<const N: usize> Plain for [u16; N] {
    const WIDTH: usize = 2 * N;

    fn write(&self, out: &mut Vec<u8>) {
        for number in self {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> [u16; N] {
        std::array::from_fn(|at| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]))
    }
}

impl<const N: usize> Plain for [f32; N] {
    const WIDTH: usize = 4 * N;

    fn write(&self, out: &mut Vec<u8>) {
        for number in self {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> [f32; N] {
        std::array::from_fn(|at| {
            f32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"))
        })
    }
}

/// For `#[serde(with = "packed")]`.
pub(crate) mod packed {
    use super::{Bytes, Deserializer, PhantomData, Plain, Serializer};

    pub(crate) fn serialize<T: Plain, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(values.len() * T::WIDTH);
        for value in values {
            value.write(&mut bytes);
        }
        serializer.serialize_bytes(&bytes)
    }

    pub(crate) fn deserialize<'de, T: Plain, C: From<Vec<T>>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<C, D::Error> {
        deserializer.deserialize_bytes(Bytes(PhantomData)).map(C::from)
    }
}

struct Bytes<T>(PhantomData<T>);

impl<T: Plain> Visitor<'_> for Bytes<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values of {} bytes each", T::WIDTH)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        let values = bytes.chunks_exact(T::WIDTH);
        if values.remainder().is_empty() {
            Ok(values.map(T::read).collect())
        } else {
            Err(E::invalid_length(bytes.len(), &self))
        }
    }
}
