// SPDX-License-Identifier: Apache-2.0

// The file with the keys of SPARTN, and a receiver's replies to polls of them. The first byte of the input chooses. Keys that are read
// are in order and do not overlap, a message has whole keys that have not expired, and a mistake names a line of the file.
import ReceiverRuntime
import ReceiverStream

func fuzzSPARTNKeys(_ input: [UInt8]) {
  guard let kind = input.first else { return }
  let bytes = Array(input[1...])
  if kind % 2 == 0 { requireKeys(String(decoding: bytes, as: UTF8.self)) } else { requireDelivery(bytes) }
}

private func requireKeys(_ text: String) {
  let keys: SPARTNKeys
  do throws(SPARTNKeys.Mistake) {
    keys = try SPARTNKeys(parsing: text)
  } catch {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count
    guard (0...lines).contains(error.line), !error.text.isEmpty else { fatalError("\(error)") }
    return
  }
  guard let first = keys.keys.first, let last = keys.keys.last else { fatalError("no key") }
  for (key, next) in zip(keys.keys, keys.keys.dropFirst()) where key.end > next.begin { fatalError("\(key) \(next)") }
  for key in keys.keys where key.begin >= key.end || ![16, 24, 32].contains(key.bytes.count) { fatalError("\(key)") }
  // Seconds of GPS since 1980 as UTC, a second before and after each boundary too.
  for time in keys.keys.flatMap({ [$0.begin, $0.end] }).flatMap({ [$0 - 1, $0, $0 + 1] }) {
    let utc = UTCTime(nanosecondsSince1970: (time + 315_964_800 - 18) * 1_000_000_000)
    let message = keys.message(at: utc)
    guard (message == nil) == (time >= last.end) else { fatalError("\(time): \(message ?? [])") }
    if let message { requireWhole(message) }
    switch keys.validity(at: utc) {
    case .valid(let until) where until > utc: continue
    case .early(let from) where time < first.begin && from > utc: continue
    case .expired(let since) where since <= utc: continue
    case let wrong: fatalError("\(time): \(wrong)")
    }
  }
}

private func requireWhole(_ message: [UInt8]) {
  let heads = Int(message[1])
  let length = (0..<heads).reduce(4 + 8 * heads) { $0 + Int(message[5 + 8 * $1]) }
  guard 1...2 ~= heads, length == message.count else { fatalError("\(message)") }
}

/// Whatever a receiver replies, it gets the keys three times at most, and its own reply ends the delivery.
private func requireDelivery(_ reply: [UInt8]) {
  let key = String(repeating: "5A", count: 16)
  var delivery = SPARTNKeyDelivery(path: "/keys")
  delivery.read("\(key) 2400 0\n\(key) 2404 0\n")
  guard case .send(let message)? = delivery.next(at: nil, accepts: true) else { fatalError("no keys are sent") }
  var sent = 1
  while delivery.next(at: nil, accepts: true) == .poll { if delivery.receive(reply) != nil { sent += 1 } }
  guard sent <= 3 else { fatalError("\(sent) times") }
  delivery.restart()
  guard delivery.next(at: nil, accepts: true) == .send(message), delivery.receive(message) == nil,
    delivery.next(at: nil, accepts: true) == nil
  else { fatalError("its own keys are not recognised") }
}
