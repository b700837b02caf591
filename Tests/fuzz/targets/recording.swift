// SPDX-License-Identifier: Apache-2.0

// Recordings. The first two bytes of the input are the position where the file is split in two: records, the end of the
// last valid one and the torn tail must not depend on it. The valid part is a recording with the same records.
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
}

private struct Found: Equatable {
  var kinds: [String] = []
  var wholeBytes: UInt64 = 0
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
    (self.kinds, wholeBytes) = (kinds, reader.wholeBytes)
  }
}
