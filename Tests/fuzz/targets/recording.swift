// SPDX-License-Identifier: Apache-2.0

// Recordings. The first two bytes of the input are the position where the file is split in two: records, the end of the
// last valid one and the torn tail must not depend on it. The valid part is a recording with the same records. A replay delivers the
// same bytes, in the order of their times.
import MonotonicTime
import Receiver
import ReceiverStream

func fuzzRecording(_ input: [UInt8]) {
  guard input.count >= 2 else { return }
  let bytes = Array(input[2...])
  let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
  let whole = Found([bytes])
  let cutInTwo = Found([Array(bytes[..<cut]), Array(bytes[cut...])])
  guard whole == cutInTwo else { fatalError("cut at \(cut): \(cutInTwo) and not \(whole)") }
  guard whole.wholeBytes <= UInt64(bytes.count) else { fatalError("\(whole.wholeBytes) of \(bytes.count) bytes") }
  guard whole.error == nil else { return }
  let valid = Found([Array(bytes[..<Int(whole.wholeBytes)])])
  guard valid.wholeBytes == whole.wholeBytes, valid.kinds == whole.kinds else {
    fatalError("\(valid) and not \(whole)")
  }
  // Fewer bytes than a header has are played as they are.
  if whole.kinds.isEmpty { return }
  replay(bytes, at: .times(1), expecting: whole.streamBytes)
  replay(bytes, at: .maximum, expecting: whole.streamBytes)
}

private func replay(_ bytes: [UInt8], at speed: Replay.Speed, expecting expected: UInt64) {
  let start = Instant(nanoseconds: 1_000_000_000)
  var replay = Replay(speed: speed, at: start)
  var now = start
  var played: UInt64 = 0
  do {
    try replay.receive(bytes.raw)
    try replay.finish()
  } catch { fatalError("a replay of a valid recording: \(error)") }
  while let due = replay.deadline {
    guard due >= now else { fatalError("an event of the replay is due before the one before it") }
    now = due
    while let event = replay.play(at: now) { if case .bytes(let some) = event { played += UInt64(some.count) } }
  }
  guard played == expected, replay.isEnded else { fatalError("\(played) of \(expected) bytes are played") }
}

private struct Found: Equatable {
  var kinds: [String] = []
  var wholeBytes: UInt64 = 0
  var streamBytes: UInt64 = 0
  var torn: UInt64 = 0
  var error: String?

  init(_ pieces: [[UInt8]]) {
    var reader = RecordingReader()
    var kinds: [String] = []
    let note: (borrowing Record) -> Void = { kinds.append("\($0.kind?.rawValue ?? 0) \($0.payload.byteCount)") }
    do throws(RecordingError) {
      for piece in pieces { try reader.receive(piece.raw, note) }
      torn = try reader.finish(note)
    } catch {
      self.error = "\(error)"
    }
    (self.kinds, wholeBytes, streamBytes) = (kinds, reader.wholeBytes, reader.streamBytes)
  }
}
