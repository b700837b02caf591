// SPDX-License-Identifier: Apache-2.0

// The commands of gpsd's control socket. The first byte of the input is the length of the pieces in which the rest
// arrives; in one piece it has the same replies and events. A path has neither spaces nor control characters.
import GPSD
import ReceiverStream

private func served(_ bytes: [UInt8], pieces: Int) -> (output: [UInt8], events: [GPSDClient.Event]) {
  let time = UTCTime(nanosecondsSince1970: 0)
  var state = GPSDState(release: "1.0")
  _ = state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: true)], at: time)
  var client = GPSDClient(.control, state)
  var events: [GPSDClient.Event] = []
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
    events += client.receive(piece.span, state, at: time)
  }
  let output = client.output
  return (output.indices.map { output[$0] }, events)
}

func fuzzControl(_ input: [UInt8]) {
  guard input.count > 1 else { return }
  let bytes = Array(input.dropFirst())
  let whole = served(bytes, pieces: bytes.count)
  let cut = served(bytes, pieces: 1 + Int(input[0]))
  guard whole == cut else { fatalError("the replies depend on the pieces") }
  guard whole.output.count <= 65_536 else { fatalError("\(whole.output.count) bytes wait") }
  for case .command(let command) in whole.events {
    switch command {
    case .add(let path), .remove(let path), .sendText(_, let path), .sendBytes(_, let path):
      guard !path.isEmpty, path.utf8.allSatisfy({ $0 > 0x20 }) else { fatalError("\(command) has no path") }
    case .devices, .invalid: fatalError("\(command) is not an event")
    }
  }
}
