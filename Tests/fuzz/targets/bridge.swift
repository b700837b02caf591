// SPDX-License-Identifier: Apache-2.0

// The bytes of a client of `sextant bridge`. The first two bytes of the input are the place where it is cut in two: what the line and
// the client get must not depend on it. A plain client's bytes are unchanged; the bytes of the line come back from what a client of
// telnet gets.
import MonotonicTime
import ReceiverRuntime

func fuzzBridge(_ input: [UInt8]) {
  guard input.count >= 2 else { return }
  let bytes = Array(input[2...])
  let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
  let whole = Bridged([bytes])
  let cutInTwo = Bridged([Array(bytes[..<cut]), Array(bytes[cut...])])
  guard whole == cutInTwo else { fatalError("cut at \(cut): \(cutInTwo) and not \(whole)") }
  guard whole.isTelnet || whole.line == bytes else { fatalError("plain bytes are changed") }
}

private struct Bridged: Equatable {
  var line: [UInt8] = []
  var client: [UInt8] = []
  var requests: [ComPortRequest] = []
  var isTelnet = false

  init(_ pieces: [[UInt8]]) {
    var connection = ComPortConnection(name: "fuzz", at: .zero)
    for piece in pieces { take(connection.receive(piece, at: .zero)) }
    take(connection.wake())
    isTelnet = connection.isTelnet
    let data = pieces.flatMap(\.self)
    let sent = connection.deliver(data)
    // A suspended client gets nothing.
    guard isTelnet, !sent.isEmpty else { return }
    guard unescaped(sent) == data else { fatalError("the bytes of the line are changed") }
  }

  private mutating func take(_ actions: [ComPortConnection.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes): line += bytes
      case .deliver(let bytes): client += bytes
      case .request(let request): requests.append(request)
      case .refuse: break
      }
    }
  }

  private func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      result.append(bytes[index])
      index += bytes[index] == 255 ? 2 : 1
    }
    return result
  }
}
