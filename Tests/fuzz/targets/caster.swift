// SPDX-License-Identifier: Apache-2.0

// The reply of an NTRIP caster. The first two bytes of the input are the position where it is split in two: the stream
// in it, the refusal and the corrections must not depend on it. The queue stays within its limits, and returns complete
// frames.
import MonotonicTime
import RTCM3
import ReceiverRuntime
import ReceiverStream

func fuzzCaster(_ input: [UInt8]) {
  guard input.count >= 2 else { return }
  let bytes = Array(input[2...])
  let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
  let whole = Reply([bytes])
  let cutInTwo = Reply([Array(bytes[..<cut]), Array(bytes[cut...])])
  guard whole == cutInTwo else { fatalError("cut at \(cut): \(cutInTwo) and not \(whole)") }
}

private struct Reply: Equatable {
  var stream: [UInt8] = []
  var refusal: String?
  var frames: [UInt8] = []

  init(_ pieces: [[UInt8]]) {
    var response = NTRIPResponse()
    var queue = CorrectionQueue(lineRate: 115_200)
    do {
      for piece in pieces { stream += try response.receive(piece.raw) }
    } catch {
      refusal = error.text
      // The bytes before a refusal are discarded.
      stream = []
    }
    queue.acceptsSPARTN = true
    queue.receive(stream.raw, at: .zero)
    while let next = queue.next(at: .zero) { frames += next }
    var count = 0
    var check = FrameStream(protocols: .ofReceiversAndSPARTN)
    check.receive(frames.raw) { count += $0.bytes.byteCount }
    guard count == frames.count else { fatalError("\(frames.count - count) bytes to the receiver are not frames") }
  }
}
