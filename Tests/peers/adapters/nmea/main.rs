// SPDX-License-Identifier: Apache-2.0

// The crate nmea, with the arguments of adapter.h.
use std::hint::black_box;

/// The values of a structure, by its debugging text: fields that are not None.
fn values(result: &nmea::ParseResult) -> i64 {
    let text = format!("{:?}", result);
    (text.matches(": ").count() - text.matches(": None").count()) as i64
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&arguments[2]).unwrap();
    let lines = || bytes.split_inclusive(|byte| *byte == b'\n').map(|line| line.trim_ascii_end());
    if arguments[3] == "count" {
        for line in lines() {
            let address = String::from_utf8_lossy(line.split(|byte| *byte == b',' || *byte == b'*').next().unwrap());
            let skipped = if address[1..].starts_with('P') || address.len() < 6 { 1 } else { 3 };
            let counted = match nmea::parse_bytes(line) {
                Ok(nmea::ParseResult::Unsupported(_)) | Err(_) => -1,
                Ok(result) => values(&result),
            };
            println!("{} {}", &address[skipped..], counted);
        }
        return;
    }
    for _ in 0..arguments[3].parse::<u64>().unwrap() {
        for line in lines() {
            let _ = black_box(nmea::parse_bytes(black_box(line)));
        }
    }
}
