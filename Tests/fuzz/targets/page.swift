// SPDX-License-Identifier: Apache-2.0

// The requests of browsers, and of others, to the live page. The first byte of the input is the length of the pieces in which
// the rest arrives; in one piece it has the same reply. A reply, and the events of a page that does not read, are
// bounded.
import MonotonicTime
import sextant

/// The output of a server for bytes in pieces, and whether settings would be changed.
private func reply(_ bytes: [UInt8], pieces: Int) -> (output: [UInt8], requests: [ControlRequest]) {
  var server = PageServer(
    files: PageFiles(html: [], style: [], script: []),
    access: PageAccess(isLoopback: true, allowsControl: true, token: "0123"))
  guard let number = server.connect(at: .zero) else { fatalError("the first connection is refused") }
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
    server.receive(piece.span, from: number, at: .zero)
  }
  for kind in LiveEvent.Kind.allCases { server.publish(LiveEvent(kind, json: [0x31])) }
  return (Array(server.output(of: number)), server.takeRequests())
}

func fuzzPage(_ input: [UInt8]) {
  guard input.count > 1 else { return }
  let bytes = Array(input.dropFirst())
  let whole = reply(bytes, pieces: bytes.count)
  let cut = reply(bytes, pieces: 1 + Int(input[0]))
  guard whole == cut else { fatalError("the reply depends on the pieces") }
  guard whole.output.count <= 2048 else { fatalError("\(whole.output.count) bytes wait") }
  guard whole.requests.allSatisfy({ $0.body.count <= HTTPRequestReader.longestBody }) else { fatalError("a long body") }
}
