// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport

/// The content of a recording in the tests, with times in milliseconds.
enum Written {
  case data([UInt8], UInt64)
  case rate(UInt32, UInt64)
  case lost(UInt64)
}

func time(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

func at(_ milliseconds: UInt64) -> Arrival { Arrival(time(milliseconds), utcNanoseconds: 1_780_000_000_000_000_000) }

/// Returns the file of a recording.
func recording(_ parts: [Written], startingAt start: UInt64 = 0) -> [UInt8] {
  var writer = RecordingWriter(capacity: 1_000_000)
  _ = writer.add(.header, text: RecordingHeader(device: "/dev/ttyACM0", baud: 9600).text, at(start))
  for part in parts {
    switch part {
    case .data(let bytes, let when): _ = writer.add(.data, bytes.raw, at(when))
    case .rate(let rate, let when): _ = writer.add(rate: rate, at(when))
    case .lost(let when): _ = writer.add(.lost, text: "", at(when))
    }
  }
  return array(writer.pending)
}

/// Reads a file in pieces.
func records(
  of file: [UInt8], piece: Int
) throws -> (events: [String], whole: UInt64, torn: UInt64, damaged: UInt64) {
  var reader = RecordingReader()
  var events: [String] = []
  func take(_ record: borrowing Record) {
    let kind = record.kind.map { String(Unicode.Scalar($0.rawValue)) } ?? "?"
    var text = "\(kind)\(record.arrival.instant.nanoseconds / 1_000_000)"
    if record.kind == .data { text += " \(array(record.payload))" }
    if let rate = record.baudRate { text += " \(rate)" }
    events.append(text)
  }
  for start in stride(from: 0, to: file.count, by: piece) {
    try reader.receive(file[start..<min(start + piece, file.count)].array.raw, take)
  }
  let torn = try reader.finish(take)
  return (events, reader.wholeBytes, torn, reader.damagedBytes)
}

extension ArraySlice {
  var array: [Element] { Array(self) }
}
