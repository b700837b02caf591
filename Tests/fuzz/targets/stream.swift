// SPDX-License-Identifier: Apache-2.0

// Frames of the mixed stream, including SPARTN, fed in two pieces: the position of the split must not change the
// frames.
import ReceiverStream

func fuzzStream(_ input: [UInt8]) {
  guard input.count >= 2 else { return }
  let bytes = Array(input[2...])
  let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
  let whole = StreamResult([bytes])
  let cutInTwo = StreamResult([Array(bytes[..<cut]), Array(bytes[cut...])])
  guard whole == cutInTwo else { fatalError("cut at \(cut): \(cutInTwo) and not \(whole)") }
  let accounted = whole.frameBytes + whole.counters.skippedBytes
  guard accounted == UInt64(bytes.count) else { fatalError("\(accounted) of \(bytes.count) bytes: \(whole)") }
}

/// The frames and counters of a stream.
private struct StreamResult: Equatable {
  var counters = StreamCounters()
  var frameBytes: UInt64 = 0
  /// Kind, position and length of each frame.
  var frames: [UInt64] = []

  init(_ pieces: [[UInt8]]) {
    var stream = FrameStream(protocols: .ofReceiversAndSPARTN)
    var found: [UInt64] = []
    var total: UInt64 = 0
    let receive: (borrowing Frame) -> Void = { frame in
      let length = UInt64(frame.bytes.byteCount)
      found.append(frame.offset << 24 | length << 4 | UInt64(frame.kind.rawValue))
      total += length
    }
    for piece in pieces { stream.receive(piece.raw, receive) }
    stream.finish(receive)
    (counters, frames, frameBytes) = (stream.counters, found, total)
  }
}
