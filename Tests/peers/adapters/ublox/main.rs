// SPDX-License-Identifier: Apache-2.0

// The crate ublox, with the arguments of adapter.h. Its accessors are called by its own serialization, into a sum.
use serde::ser::{self, Serialize};
use std::hint::black_box;
use ublox::UbxPacket;

/// A sum of all values, and their number.
#[derive(Default)]
struct Sum {
    sum: u64,
    values: i64,
}

#[derive(Debug)]
struct Never;
impl std::fmt::Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter) -> std::fmt::Result { Ok(()) }
}
impl std::error::Error for Never {}
impl ser::Error for Never {
    fn custom<T: std::fmt::Display>(_: T) -> Self { Never }
}

macro_rules! numbers {
    ($($name:ident $type:ty),*) => { $(fn $name(self, value: $type) -> Result<(), Never> {
        self.sum = self.sum.wrapping_add(value as u64);
        self.values += 1;
        Ok(())
    })* };
}

impl<'a> ser::Serializer for &'a mut Sum {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;
    numbers!(serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_u8 u8,
        serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_f32 f32, serialize_f64 f64, serialize_char char);
    fn serialize_str(self, value: &str) -> Result<(), Never> { self.serialize_u64(value.len() as u64) }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> { self.serialize_u64(value.len() as u64) }
    fn serialize_none(self) -> Result<(), Never> { Ok(()) }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Never> { value.serialize(self) }
    fn serialize_unit(self) -> Result<(), Never> { Ok(()) }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> { Ok(()) }
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Never> { self.serialize_u32(index) }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Never> { value.serialize(self) }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(self, _: &'static str, _: u32, _: &'static str, value: &T) -> Result<(), Never> {
        value.serialize(self)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Never> { Ok(self) }
    fn serialize_tuple(self, _: usize) -> Result<Self, Never> { Ok(self) }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> { Ok(self) }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Never> { Ok(self) }
    fn serialize_map(self, _: Option<usize>) -> Result<Self, Never> { Ok(self) }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> { Ok(self) }
    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Never> { Ok(self) }
    fn collect_str<T: ?Sized + std::fmt::Display>(self, _: &T) -> Result<(), Never> { self.serialize_u64(0) }
}

macro_rules! elements {
    ($($trait:ident $name:ident),*) => { $(impl<'a> ser::$trait for &'a mut Sum {
        type Ok = ();
        type Error = Never;
        fn $name<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Never> { value.serialize(&mut **self) }
        fn end(self) -> Result<(), Never> { Ok(()) }
    })* };
}
elements!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field);

macro_rules! fields {
    ($($trait:ident),*) => { $(impl<'a> ser::$trait for &'a mut Sum {
        type Ok = ();
        type Error = Never;
        fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, value: &T) -> Result<(), Never> {
            value.serialize(&mut **self)
        }
        fn end(self) -> Result<(), Never> { Ok(()) }
    })* };
}
fields!(SerializeStruct, SerializeStructVariant);

impl<'a> ser::SerializeMap for &'a mut Sum {
    type Ok = ();
    type Error = Never;
    fn serialize_key<T: ?Sized + Serialize>(&mut self, _: &T) -> Result<(), Never> { Ok(()) }
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Never> { value.serialize(&mut **self) }
    fn end(self) -> Result<(), Never> { Ok(()) }
}

type Proto = ublox::proto31::Proto31;
type Packet<'a> = ublox::proto31::PacketRef<'a>;

/// The number of values; -1 for a packet that the crate does not know.
fn read(packet: &UbxPacket, sum: &mut Sum) -> i64 {
    let UbxPacket::Proto31(packet) = packet;
    if let Packet::Unknown(_) = packet { return -1; }
    let before = sum.values;
    let _ = packet.serialize(&mut *sum);
    sum.values - before
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&arguments[2]).unwrap();
    let mut parser = ublox::Parser::<Vec<u8>, Proto>::default();
    let mut sum = Sum::default();
    if arguments[3] == "count" {
        let mut at = 0;
        while at < bytes.len() {
            let length = 8 + bytes[at + 4] as usize + 256 * bytes[at + 5] as usize;
            let mut values = -1;
            let mut packets = parser.consume_ubx(&bytes[at..at + length]);
            while let Some(packet) = packets.next() {
                if let Ok(packet) = packet { values = read(&packet, &mut sum); }
            }
            println!("{:02X}-{:02X} {}", bytes[at + 2], bytes[at + 3], values);
            at += length;
        }
        return;
    }
    for _ in 0..arguments[3].parse::<u64>().unwrap() {
        let mut packets = parser.consume_ubx(black_box(&bytes));
        while let Some(packet) = packets.next() {
            if let Ok(packet) = packet { black_box(read(&packet, &mut sum)); }
        }
    }
    black_box(sum.sum);
}
