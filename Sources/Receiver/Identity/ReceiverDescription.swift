// SPDX-License-Identifier: Apache-2.0
import UBX

/// The identity of a receiver and its capabilities: of a u-blox one by MON-VER and SEC-UNIQID, of others by their family's reply.
public struct ReceiverDescription: Sendable, Equatable {
  /// The family of commands; nil for u-blox.
  public private(set) var family: ReceiverFamily?
  /// The module name of `MOD=`, such as NEO-M9N; nil if the firmware does not send it.
  public var model: String?
  /// The firmware of `FWVER=`, such as "SPG 5.10"; otherwise the first word group of the software version.
  public var firmware: String?
  public var generation: Generation?
  /// The protocol version as received, such as "34.10"; nil if the firmware does not send it.
  public private(set) var protocolVersionText: String?
  /// The same as numbers; nil also for a text that is not a version.
  public private(set) var protocolVersion: ProtocolVersion?
  /// The hardware version, such as 000A0000.
  public var hardware: String
  /// The chip's id by SEC-UNIQID; nil without one.
  public var uniqueID: [UInt8]?
  public var capabilities: [Capability] = []
  /// The logger of another maker's receiver with its interval, if it ran when the receiver was identified and Sextant did not start it;
  /// the interval is 0 if it was not read.
  public internal(set) var runningLog: LoggerState?
  /// The receiver's name of the port that the host is at, such as COM1; nil unless a family's commands need it and its reply shows it.
  private(set) var port: String?
  /// The strings of MON-VER, as received but for control characters, which are `?`; of another maker's receiver, its identity as strings.
  public var strings: [String]

  /// The vendor as in `sextant probe --json`.
  public var vendor: String { family?.vendor ?? "u-blox" }

  /// Whether bytes at a port wake it, whatever time of sleep was planned.
  ///
  /// - Parameter port: the receiver's port of the line; nil for a UART.
  public func isWoken(at port: ReceiverPortNumber?) -> Bool {
    family == nil ? can(.backup) && SleepRequest.isWoken(at: port) : can(.standby)
  }

  public func can(_ capability: Capability) -> Bool { capabilities.contains(capability) }

  /// Reads a MON-VER payload: software version of 30 characters, hardware version of 10, extensions of 30 each.
  /// Nil when it is too short.
  public init?(monVER payload: [UInt8]) {
    guard payload.count >= 40 else { return nil }
    var strings = [Self.text(payload[0..<30]), Self.text(payload[30..<40])]
    var at = 40
    while at + 30 <= payload.count {
      strings.append(Self.text(payload[at..<at + 30]))
      at += 30
    }
    self.init(strings: strings)
  }

  /// Makes the description of a receiver of another maker.
  init(
    family: ReceiverFamily, model: String?, firmware: String?, hardware: String, capabilities: [Capability]
  ) {
    self.family = family
    self.model = model
    self.firmware = firmware
    self.hardware = hardware
    self.capabilities = capabilities
    strings =
      [Self.familyMark + family.rawValue, hardware, model ?? "", firmware ?? ""] + capabilities.map(\.rawValue)
  }

  /// The same receiver with further capabilities.
  func adding(_ more: [Capability]) -> ReceiverDescription {
    var description = self
    let added = more.filter { !can($0) }
    description.capabilities += added
    description.strings += added.map(\.rawValue)
    return description
  }

  /// The same receiver with the name of the host's port.
  func adding(port name: String) -> ReceiverDescription {
    var description = self
    description.port = name
    description.strings.append(Self.portMark + name)
    return description
  }

  /// The same receiver with what an earlier identification showed, where a lost reply left it out: the chip's id; and of another maker's
  /// receiver with this firmware its name and its logger.
  func completed(by known: ReceiverDescription) -> ReceiverDescription {
    var found = self
    if found.uniqueID == nil { found.uniqueID = known.uniqueID }
    guard let family, model == nil || model == known.model, firmware == nil || firmware == known.firmware else {
      return found
    }
    let logger = known.capabilities.filter { $0 == .logger || $0 == .batching }
    found = ReceiverDescription(
      family: family, model: known.model, firmware: known.firmware, hardware: hardware, capabilities: capabilities
    ).adding(logger)
    found.runningLog = can(.logger) ? runningLog : known.runningLog
    return port.map { found.adding(port: $0) } ?? found
  }

  /// The beginning of the first string of another maker's description, and of the string of the port.
  private static let familyMark = "family="
  private static let portMark = "port="

  /// Makes the description of another maker's receiver from its strings; nil for others.
  private init?(familyStrings strings: [String]) {
    guard strings.count >= 4, strings[0].hasPrefix(Self.familyMark),
      let family = ReceiverFamily(rawValue: String(strings[0].dropFirst(Self.familyMark.count)))
    else { return nil }
    self.init(
      family: family, model: strings[2].isEmpty ? nil : strings[2], firmware: strings[3].isEmpty ? nil : strings[3],
      hardware: strings[1], capabilities: strings.dropFirst(4).compactMap { Capability(rawValue: $0) })
    if let port = strings.dropFirst(4).first(where: { $0.hasPrefix(Self.portMark) }) {
      self = adding(port: String(port.dropFirst(Self.portMark.count)))
    }
  }

  /// Makes the description of a receiver with these strings, as `strings` has them. Nil with fewer than two.
  public init?(strings: [String], uniqueID: [UInt8]? = nil) {
    guard strings.count >= 2 else { return nil }
    if let other = Self(familyStrings: strings) {
      self = other
      return
    }
    self.strings = strings
    self.uniqueID = uniqueID
    let (software, extensions) = (strings[0], strings[2...])
    hardware = strings[1]
    model = Self.value(of: "MOD", in: extensions)
    // Before protocol version 18 the key and the value stand apart by a space.
    protocolVersionText = Self.value(of: "PROTVER", in: extensions)
    protocolVersion = protocolVersionText.flatMap { ProtocolVersion($0) }
    firmware = Self.value(of: "FWVER", in: extensions) ?? Self.firstWords(software)
    generation = Generation.of(
      module: model, version: protocolVersion, firmware: firmware, hardware: hardware)
    let hasFlash = extensions.contains { $0.hasPrefix("FIS=") } || software.hasPrefix("EXT")
    if let generation {
      capabilities = Capability.of(
        generation, version: protocolVersion, firmware: firmware, hasFlash: hasFlash)
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    // Printable ASCII by the documents; anything else would be damage, and a line feed would forge a line of a backup file.
    String(decoding: bytes.prefix { $0 != 0 }.map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  private static func value(of key: String, in extensions: ArraySlice<String>) -> String? {
    for line in extensions where line.hasPrefix(key) {
      let rest = line.dropFirst(key.count)
      guard let separator = rest.first, separator == "=" || separator == " " else { continue }
      let value = trimmed(rest.dropFirst())
      if !value.isEmpty { return value }
    }
    return nil
  }

  /// "7.03 (45970)" is 7.03; "EXT CORE 3.01 (107900)" is EXT CORE 3.01.
  private static func firstWords(_ software: String) -> String? {
    let words = trimmed(software.prefix { $0 != "(" })
    return words.isEmpty ? nil : words
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
