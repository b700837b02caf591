// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// Why a word of the user is not a valid setting, message or field, with the next step, in one line.
package struct SettingProblem: Error, Sendable, Equatable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// A setting in the user's words: `rate=5Hz`, `CFG-RATE-MEAS=0.2`, `CFG-NAV5.dynModel=4`. It is read without a
/// receiver, so that a misspelling is reported before a port is opened.
package struct SettingWord: Sendable, Equatable {
  enum Meaning: Sendable, Equatable {
    case measurementPeriod(UInt16)
    case model(DesiredConfiguration.DynamicModel)
    case constellations([DesiredConfiguration.Constellation])
    case messages([DesiredConfiguration.MessageRate])
    case writesNMEA(Bool)
    case portRate(UInt32)
    case item(ConfigurationPair)
    case field(ConfigurationRecord, Setting.FieldValue)
  }

  /// The name as the user wrote it, before the equals sign.
  package var name: String
  var meaning: Meaning

  /// The names that work on every family, and their values.
  static let families: [(name: String, takes: String)] = [
    ("rate", "a rate such as 5Hz, or a time such as 200ms"),
    ("model", DynamicModelNames.all.map(\.name).joined(separator: ", ")),
    ("constellations", ConstellationNames.all.map(\.name).joined(separator: ", ") + ", joined by +"),
    ("messages", "messages such as NAV-PVT,NAV-SAT@5,GGA@0: @n is with each n-th epoch, 0 never"),
    ("nmea", "on or off"),
    ("baud", "a rate such as 115200"),
  ]

  /// Whether the setting may change the time between epochs.
  package var changesEpochPeriod: Bool {
    switch meaning {
    case .measurementPeriod: true
    case .item(let pair): EpochPeriod.items.contains(pair.id)
    case .field(let record, _): record.identity == .cfgRATE
    case .model, .constellations, .messages, .writesNMEA, .portRate: false
    }
  }

  /// The baud rate of the line, if the setting is the family name for it.
  package var lineRate: UInt32? { if case .portRate(let rate) = meaning { rate } else { nil } }

  /// Reads `NAME=VALUE`.
  package init(_ text: String) throws(SettingProblem) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw SettingProblem("\(text): a setting is NAME=VALUE, such as rate=5Hz or CFG-NAVSPG-DYNMODEL=4")
    }
    let name = Self.trimmed(text[..<equals])
    try self.init(name: name, value: Self.trimmed(text[text.index(after: equals)...]))
  }

  init(name: String, value: String) throws(SettingProblem) {
    self.name = name
    if Self.families.contains(where: { $0.name == name.lowercased() }) {
      meaning = try Self.family(name.lowercased(), value)
      return
    }
    switch try SettingName(name) {
    case .item(let id, let item): meaning = .item(try Self.pair(id, item, name, value))
    case .field(let record, let path):
      guard let field = PayloadFields.declared(record.identity, path.path) else {
        throw SettingName.unknown(name)
      }
      if ApplicationMask.isMask(record.identity, field.name.description) {
        throw SettingProblem("\(name): this mask is set automatically; name the field to change")
      }
      do { try PayloadFields.check(value, field, element: path.element) } catch {
        throw Self.problem(error, name, value, field.unit.description, isArray: field.isArray && path.element == nil)
      }
      meaning = .field(record, Setting.FieldValue(field: path, text: value))
    case .record, .family:
      throw SettingProblem("\(name): name one of its fields, such as \(name).\(Self.example(name))")
    }
  }

  private static func example(_ name: String) -> String {
    ConfigurationRecord(named: name).flatMap { PayloadFields.names($0.identity).first } ?? "field"
  }

  private static func pair(
    _ id: UInt32, _ item: ConfigurationItem?, _ name: String, _ value: String
  ) throws(SettingProblem) -> ConfigurationPair {
    let type = item?.type ?? ConfigurationItem.plainType(id)
    let unit = item?.unit.description ?? ""
    do {
      let bits = try WireText.bits(value, type, item?.scale ?? .one, unit: unit)
      return ConfigurationPair(id: id, bits: bits)
    } catch { throw problem(error, name, value, unit, isArray: false) }
  }

  static func problem(
    _ problem: WireText.Problem, _ name: String, _ value: String, _ unit: String, isArray: Bool
  ) -> SettingProblem {
    let unit = unit.isEmpty ? "" : " " + unit
    return switch problem {
    case .notANumber:
      SettingProblem("\(name)=\(value): invalid value; it takes \(expected(unit, isArray: isArray))")
    case .outOfRange(let lowest, let highest):
      SettingProblem("\(name)=\(value): out of range; it takes \(lowest) to \(highest)\(unit)")
    case .tooFine(let step): SettingProblem("\(name)=\(value): too fine; it has steps of \(step)\(unit)")
    }
  }

  private static func expected(_ unit: String, isArray: Bool) -> String {
    if isArray { return "numbers in brackets, such as [1,2]" }
    return unit.isEmpty ? "a number" : "a number in\(unit)"
  }

  // MARK: Names of every family

  private static func family(_ name: String, _ value: String) throws(SettingProblem) -> Meaning {
    switch name {
    case "rate": if let period = period(value) { return .measurementPeriod(period) }
    case "model":
      if let model = DynamicModelNames.all.first(where: { $0.name == value.lowercased() }) {
        return .model(model.model)
      }
    case "constellations": if let those = constellations(value) { return .constellations(those) }
    case "messages": return .messages(try messages(value))
    case "nmea":
      if ["on", "1", "yes"].contains(value.lowercased()) { return .writesNMEA(true) }
      if ["off", "0", "no"].contains(value.lowercased()) { return .writesNMEA(false) }
    default:
      // The highest rate of most receivers is 921,600 baud, and 8,000,000 on X20 (data sheets).
      if let baud = UInt32(value), (4800...8_000_000).contains(baud) { return .portRate(baud) }
    }
    throw SettingProblem("\(name)=\(value): it takes \(families.first { $0.name == name }?.takes ?? "another value")")
  }

  /// Reads a rate in Hz or a time, and returns the time between two measurements, ms.
  private static func period(_ value: String) -> UInt16? {
    let value = value.lowercased()
    let milliseconds: Double?
    if value.hasSuffix("hz") {
      guard let rate = Double(value.dropLast(2)), rate > 0 else { return nil }
      milliseconds = 1000 / rate
    } else if value.hasSuffix("ms") {
      milliseconds = Double(value.dropLast(2))
    } else if value.hasSuffix("s") {
      milliseconds = Double(value.dropLast(1)).map { $0 * 1000 }
    } else {
      milliseconds = nil
    }
    // 25 ms is the shortest period of any receiver (interface descriptions, CFG-RATE).
    guard let milliseconds, milliseconds.rounded() >= 25, milliseconds.rounded() <= 65_535 else { return nil }
    return UInt16(clamping: milliseconds.rounded())
  }

  private static func constellations(_ value: String) -> [DesiredConfiguration.Constellation]? {
    var constellations: [DesiredConfiguration.Constellation] = []
    for part in value.split(whereSeparator: { $0 == "+" || $0 == "," }) {
      guard let one = ConstellationNames.constellation(part) else { return nil }
      if !constellations.contains(one) { constellations.append(one) }
    }
    // A receiver needs at least one constellation that gives positions by itself.
    guard constellations.contains(where: { $0 != .sbas && $0 != .qzss }) else { return nil }
    return constellations
  }

  private static func messages(_ value: String) throws(SettingProblem) -> [DesiredConfiguration.MessageRate] {
    var rates: [DesiredConfiguration.MessageRate] = []
    for part in value.split(separator: ",") {
      let pieces = part.split(separator: "@", omittingEmptySubsequences: false)
      guard let message = MessageNames.message(pieces[0]) else {
        let near = NameMatching.nearest(to: String(pieces[0]), among: MessageNames.all.map(\.name))
        throw SettingProblem("messages: no message \(pieces[0])" + SettingName.suggestion(near))
      }
      guard pieces.count <= 2, let rate = pieces.count == 2 ? UInt8(pieces[1]) : 1 else {
        throw SettingProblem("messages: \(part): the number after @ must be 0 to 255")
      }
      rates.append(DesiredConfiguration.MessageRate(message, rate))
    }
    if rates.isEmpty { throw SettingProblem("messages: it takes messages such as NAV-PVT,NAV-SAT@5") }
    return rates
  }

  static func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
    return String(text)
  }
}

/// The names of the platform models.
enum DynamicModelNames {
  static let all: [(name: String, model: DesiredConfiguration.DynamicModel)] = [
    ("portable", .portable), ("stationary", .stationary), ("pedestrian", .pedestrian), ("automotive", .automotive),
    ("sea", .sea), ("airborne1g", .airborne1g), ("airborne2g", .airborne2g), ("airborne4g", .airborne4g),
    ("wrist", .wrist), ("bike", .bike),
  ]
}

/// The names of the constellations.
enum ConstellationNames {
  static let all: [(name: String, long: String, constellation: DesiredConfiguration.Constellation)] = [
    ("GPS", "GPS", .gps), ("SBAS", "SBAS", .sbas), ("GAL", "GALILEO", .galileo), ("BDS", "BEIDOU", .beiDou),
    ("QZSS", "QZSS", .qzss), ("GLO", "GLONASS", .glonass), ("NAVIC", "NAVIC", .navIC),
  ]

  static func constellation(_ name: some StringProtocol) -> DesiredConfiguration.Constellation? {
    let name = name.uppercased()
    return all.first { $0.name == name || $0.long == name }?.constellation
  }
}
