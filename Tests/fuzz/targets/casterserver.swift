// SPDX-License-Identifier: Apache-2.0

// The request of a client to the caster of `sextant base`, and the reply of another caster to its stream. The first two bytes of the
// input are the place where it is cut in two: the replies must not depend on it. A client gets each byte of the stream or none.
import MonotonicTime
import ReceiverRuntime

func fuzzCasterServer(_ input: [UInt8]) {
  guard input.count >= 2 else { return }
  let bytes = Array(input[2...])
  let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
  for password in [nil, "secret"] {
    let whole = Served([bytes], password: password)
    let cutInTwo = Served([Array(bytes[..<cut]), Array(bytes[cut...])], password: password)
    guard whole == cutInTwo else { fatalError("cut at \(cut): \(cutInTwo) and not \(whole)") }
    if whole.isStreaming, whole.isClosed { fatalError("a closed connection streams") }
    if !whole.isStreaming, !whole.stream.isEmpty { fatalError("a stream without a grant") }
  }
  for form in [PushConnection.Form.post, .source] {
    let whole = Pushed([bytes], form)
    guard whole == Pushed([Array(bytes[..<cut]), Array(bytes[cut...])], form) else { fatalError("cut at \(cut)") }
  }
  var table = SourceTable()
  table.receive(bytes)
  table.end()
  if let nearest = table.nearest(latitude: 48, longitude: 11), !(0...13_000_000 ~= nearest.metres) {
    fatalError("\(nearest) is not on the earth")
  }
}

private struct Served: Equatable {
  var sent: [UInt8] = []
  var agents: [String] = []
  var isClosed = false
  var isStreaming = false
  var stream: [UInt8] = []

  init(_ pieces: [[UInt8]], password: String?) {
    var connection = CasterConnection(
      to: CasterConnection.Caster(mount: "BASE", password: password, version: "1"), at: .zero)
    for piece in pieces {
      for action in connection.receive(piece.raw, CasterStation()) {
        switch action {
        case .send(let bytes): sent += bytes
        case .started(let agent): agents.append(agent)
        case .close: isClosed = true
        }
      }
    }
    isStreaming = connection.isStreaming
    stream = connection.deliver([0xD3, 0, 0])
  }
}

private struct Pushed: Equatable {
  var refusal: PushConnection.Refusal?
  var isGranted = false

  init(_ pieces: [[UInt8]], _ form: PushConnection.Form) {
    guard let target = PushTarget("ntrip+post://me:p@c/M") else { fatalError("the target") }
    var connection = PushConnection(to: target, form, version: "1")
    do throws(PushConnection.Refusal) {
      for piece in pieces { try connection.receive(piece.raw) }
    } catch { refusal = error }
    isGranted = connection.isGranted
  }
}
