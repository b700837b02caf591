// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import RTCM3
import WireBytes

/// A command from the host.
enum FamilyInput: Equatable {
  /// The text between `$` and `*` of a sentence with a correct checksum.
  case sentence(String)
  /// A line of text without `$`.
  case line(String)
  /// A frame of the binary protocol: class and id, payload.
  case frame(UInt16, [UInt8])
  /// The poll of u-blox's MON-VER.
  case versionPoll
}

extension FamilyState {
  private var layout: FrameLayout? {
    switch traits.language {
    case .casic: .casic
    case .allystar: .allystar
    default: nil
    }
  }

  private var readsLines: Bool { traits.language == .unicore || traits.language == .septentrio }

  private static let versionPoll: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]
  private var readsVersionPoll: Bool {
    !quirks.isDisjoint(with: [.shortVersion, .cutVersion, .acknowledgedVersion])
  }

  /// Removes and returns the first whole command. A sentence with a wrong checksum, or without one, is not a command.
  mutating func nextInput() -> FamilyInput? {
    while let first = input.first {
      switch layout?.scanFrame(input[...]) {
      case .incomplete?: return nil
      case .frame(_, let identity, let payload, let length)?:
        input.removeFirst(length)
        return .frame(identity, payload)
      case FrameLayout.Scan.none?, nil: break
      }
      if readsVersionPoll, traits.language == .casic, Self.versionPoll.starts(with: input.prefix(8)) {
        guard input.count >= 8 else { return nil }
        input.removeFirst(8)
        return .versionPoll
      }
      // A line begins with a letter.
      guard first == UInt8(ascii: "$") || (readsLines && (0x41...0x5A).contains(first & 0xDF)) else {
        input.removeFirst()
        continue
      }
      guard let end = input.firstIndex(where: { !(0x20...0x7E).contains($0) }) else {
        // No command is that long.
        guard input.count > 1000 else { return nil }
        input = []
        return nil
      }
      let line = String(decoding: input[..<end], as: UTF8.self)
      guard input[end] == 13 || input[end] == 10 else {
        input.removeFirst(end)
        continue
      }
      input.removeFirst(end)
      if first != UInt8(ascii: "$") { return .line(line) }
      if let body = Self.body(line) { return .sentence(body) }
    }
    return nil
  }

  private static func body(_ line: String) -> String? {
    let parts = line.dropFirst().split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count == 2, UInt8(parts[1], radix: 16) == parts[0].utf8.span.exclusiveOr else {
      return nil
    }
    return String(parts[0])
  }
}

extension VirtualReceiver {
  /// Receives bytes of the host.
  mutating func receiveFamily(_ bytes: [UInt8]) {
    // An incomplete frame does not swallow the commands of later.
    if let last = family?.inputAt, now.milliseconds(since: last) > 1000 { family?.input = [] }
    family?.inputAt = now
    family?.input += bytes
    while powerState.isAwake, let found = family?.nextInput() {
      switch (traits.family?.language, found) {
      case (.mediaTek, .sentence(let body)): receivePMTK(FamilyFields(body))
      case (.airoha, .sentence(let body)): receivePAIR(FamilyFields(body))
      case (.casic, .sentence(let body)): receivePCAS(FamilyFields(body))
      case (.casic, .frame(let identity, let payload)): receiveCASIC(identity, payload)
      case (.quectel, .sentence(let body)): receivePQTM(FamilyFields(body))
      case (.unicore, .line(let line)): receiveLine(line)
      case (.allystar, .frame(let identity, let payload)): receiveAllystar(identity, payload)
      case (.teseo, .sentence(let body)): receivePSTM(FamilyFields(body))
      case (.septentrio, .line(let line)): receiveSeptentrio(line)
      case (.casic, .versionPoll): sendPartOfVersion()
      default: break
      }
    }
  }

  /// Sends a sentence after a time, behind earlier replies.
  mutating func respond(_ body: String, after milliseconds: Milliseconds) {
    respond(sentenceBytes(body), after: milliseconds)
  }

  mutating func respond(_ bytes: [UInt8], after milliseconds: Milliseconds) {
    let at = max(now + milliseconds, family?.repliedAt ?? now)
    family?.reply(bytes, at: at)
  }

  /// Sends an acknowledgement, which a quirk may lose.
  mutating func acknowledge(_ body: String, after milliseconds: Milliseconds) {
    if family?.losesAcknowledgement() == true { return }
    respond(body, after: milliseconds)
  }

  /// Performs an action when the replies before it have left.
  mutating func act(_ action: FamilyState.Action, after milliseconds: Milliseconds) {
    let at = max(now + milliseconds, family?.answeredAt ?? now)
    family?.action = (at, action)
  }

  /// The next instant whose milliseconds are `offset` in each `step`, at least `least` from now and after `last`.
  func tick(_ step: Int64, offset: Int64, least: Int64 = 1, after last: Instant? = nil) -> Instant {
    let from = max(now, last ?? now)
    let utc = utcMilliseconds(at: from) + least
    let wait = (offset - utc % step + step) % step
    return from + Milliseconds(UInt64(least + wait))
  }
}

/// The fields of a command.
struct FamilyFields {
  let text: String
  private let parts: [String]

  init(_ text: String) {
    self.text = text
    parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  var address: String { parts.first ?? "" }
  /// The number of fields behind the address.
  var count: Int { parts.count - 1 }
  /// A field behind the address; empty for an absent one.
  subscript(_ index: Int) -> String { index + 1 < parts.count ? parts[index + 1] : "" }
  func number(_ index: Int) -> Int? { Int(self[index]) }
  /// All fields from one on as whole numbers; nil if one is not a number.
  func numbers(from first: Int = 0) -> [Int]? {
    var numbers: [Int] = []
    for index in first..<max(first, count) {
      guard let number = number(index) else { return nil }
      numbers.append(number)
    }
    return numbers
  }
  /// The fields from one on, with commas.
  func rest(from first: Int) -> String { parts.dropFirst(first + 1).joined(separator: ",") }
}

/// The systems of a command by their place, which is the place of a flag in a list or of a bit in a mask. A place without a simulated
/// system is empty.
struct SystemTable {
  let places: [SatelliteSystems]

  init(_ places: SatelliteSystems...) { self.places = places }

  func flags(of systems: SatelliteSystems) -> [Bool] { places.map { !systems.isDisjoint(with: $0) } }

  func systems(flags: [Bool]) -> SatelliteSystems {
    zip(flags, places).reduce(into: []) { if $1.0 { $0.formUnion($1.1) } }
  }

  func mask(of systems: SatelliteSystems) -> UInt32 {
    flags(of: systems).reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
  }

  func systems(mask: UInt32) -> SatelliteSystems { systems(flags: places.indices.map { mask >> $0 & 1 == 1 }) }
}
