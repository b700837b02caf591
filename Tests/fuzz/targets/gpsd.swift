// SPDX-License-Identifier: Apache-2.0

// The requests of a client of gpsd. The first byte of the input is the length of the pieces in which the rest arrives;
// in one piece it has the same replies. The replies stay within the limit of a client that does not read.
import GPSD
import ReceiverStream

/// The replies to bytes in pieces.
private func replies(_ bytes: [UInt8], pieces: Int) -> (output: [UInt8], watch: WatchPolicy) {
  let time = UTCTime(nanosecondsSince1970: 0)
  var state = GPSDState(release: "1.0")
  _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: time)
  var client = GPSDClient(.gpsd, state)
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
    _ = client.receive(piece.span, state, at: time)
  }
  let output = client.output
  return (output.indices.map { output[$0] }, client.watch)
}

func fuzzGPSD(_ input: [UInt8]) {
  guard input.count > 1 else { return }
  let bytes = Array(input.dropFirst())
  let whole = replies(bytes, pieces: bytes.count)
  let cut = replies(bytes, pieces: 1 + Int(input[0]))
  guard whole == cut else { fatalError("the replies depend on the pieces") }
  guard whole.output.count <= 65_536 else { fatalError("\(whole.output.count) bytes wait") }
}
