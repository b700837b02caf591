// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator

/// The host of a receiver that is not a u-blox one, in virtual time. It reads lines and frames without the project's decoders.
struct FamilyHost {
  var line: VirtualLine
  var now = Instant.zero
  /// The received bytes since the last request.
  var received: [UInt8] = []

  static let start: Int64 = 1_780_000_000

  init(_ model: ReceiverModel, quirks: Set<Quirk> = [], scenario: Scenario? = nil, afterStart seconds: Double = 25) {
    var scenario = scenario ?? .hot
    scenario.quirks = quirks
    line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: Self.start)
    run(seconds: seconds)
    received = []
  }

  /// The received lines.
  var lines: [String] {
    String(decoding: received, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }

  mutating func run(seconds: Double) {
    let end = now + Milliseconds(seconds: seconds)
    while let due = line.deadline, due <= end { take(max(now, due)) }
    take(end)
  }

  private mutating func take(_ instant: Instant) {
    now = instant
    line.advance(to: now)
    received += line.takeReceived()
  }

  static func sentence(_ body: String) -> [UInt8] {
    let digits = String(body.utf8.reduce(UInt8(0)) { $0 ^ $1 }, radix: 16, uppercase: true)
    return Array("$\(body)*\(digits.count == 1 ? "0" : "")\(digits)\r\n".utf8)
  }

  mutating func send(_ bytes: [UInt8]) {
    received = []
    line.send(bytes, at: now)
  }

  mutating func send(_ body: String) { send(Self.sentence(body)) }

  /// Sends a sentence; returns the first line that begins so, without `$` and checksum. Nil after a timeout.
  mutating func ask(_ body: String, for start: String, within seconds: Double = 3) -> String? {
    send(body)
    return wait(for: start, within: seconds)
  }

  mutating func wait(for start: String, within seconds: Double = 3) -> String? {
    let end = now + Milliseconds(seconds: seconds)
    while let due = line.deadline, due <= end {
      take(max(now, due))
      // A line is complete with its end, the reply of a mosaic with its prompt.
      guard received.last == 10 || received.last == UInt8(ascii: ">"),
        let found = lines.first(where: { $0.dropFirst().hasPrefix(start) })
      else { continue }
      return String(found.dropFirst().prefix { $0 != "*" })
    }
    take(end)
    return nil
  }

  /// Sends a frame, and returns the frames that come within a time: class and id, payload.
  mutating func ask(frame: [UInt8], within seconds: Double = 1.5) -> [(UInt16, [UInt8])] {
    send(frame)
    run(seconds: seconds)
    return frames
  }

  /// The frames of both binary protocols among the received bytes.
  var frames: [(UInt16, [UInt8])] {
    var found: [(UInt16, [UInt8])] = []
    var at = 0
    while at + 6 <= received.count {
      let isCASIC = received[at] == 0xBA && received[at + 1] == 0xCE
      guard isCASIC || (received[at] == 0xF1 && received[at + 1] == 0xD9) else {
        at += 1
        continue
      }
      let (name, size) = isCASIC ? (at + 4, at + 2) : (at + 2, at + 4)
      let count = Int(received[size]) | Int(received[size + 1]) << 8
      guard at + 6 + count <= received.count else { break }
      found.append(
        (UInt16(received[name]) << 8 | UInt16(received[name + 1]), Array(received[at + 6..<at + 6 + count])))
      at += 6 + count + (isCASIC ? 4 : 2)
    }
    return found
  }

  /// The formatters of the sentences that come in a time.
  mutating func formatters(seconds: Double) -> Set<String> {
    received = []
    run(seconds: seconds)
    return Set(lines.map { String($0.dropFirst().prefix { $0 != "," && $0 != "*" }.suffix(3)) })
  }
}

/// Bytes of hexadecimal digits.
func hex(_ digits: String) -> [UInt8] {
  let digits = Array(digits.utf8).map { UInt8($0 > 57 ? $0 - 87 : $0 - 48) }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
