// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Receiver

/// A measurement of `sextant check`, and the assumption of Sextant.
struct CheckFinding: Equatable {
  /// The measured quantity, such as "replies".
  var name: String
  var measured: JSON
  var assumed: JSON
  /// How it differs from the assumption, in words; nil if it is within.
  var deviation: String?
  /// Why nothing was measured; nil for a measurement.
  var skipped: String?

  /// One line for the user, such as `sleep: ok, asleep yes`.
  var text: String {
    if let deviation { return "\(name): \(deviation)" }
    if let skipped { return "\(name): skipped, \(skipped)" }
    guard case .object(let members) = measured else { return "\(name): ok" }
    return "\(name): ok, " + members.map { "\($0.name) \(Self.word($0.value))" }.joined(separator: ", ")
  }

  private static func word(_ json: JSON) -> String {
    switch json {
    case .string(let text): text
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .bool(let value): value ? "yes" : "no"
    case .array(let values): values.map { word($0) }.joined(separator: " ")
    case .null, .object: "–"
    }
  }

  var json: JSON {
    if let skipped { return ["name": .string(name), "skipped": .string(skipped)] }
    return JSON(omittingNil: [
      "name": name, "measured": measured, "assumed": assumed, "isWithin": deviation == nil, "deviation": deviation,
    ])
  }
}

/// The findings about one receiver.
struct CheckReport: Equatable {
  /// Vendor, model and firmware; empty before the identification. The chip's id is not in it.
  private(set) var receiver: [JSON.Member] = []
  private(set) var findings: [CheckFinding] = []

  var deviations: [CheckFinding] { findings.filter { $0.deviation != nil } }

  mutating func identify(_ receiver: ReceiverDescription) {
    self.receiver = [JSON.Member](omittingNil: [
      "vendor": receiver.vendor, "model": receiver.model ?? JSON.null, "firmware": receiver.firmware ?? JSON.null,
      "capabilities": receiver.capabilities.map(\.rawValue),
    ])
  }

  mutating func add(_ name: String, _ measured: JSON, assumed: JSON, deviation: String? = nil) {
    findings.append(CheckFinding(name: name, measured: measured, assumed: assumed, deviation: deviation))
  }

  mutating func skip(_ name: String, because reason: String) {
    findings.append(CheckFinding(name: name, measured: .null, assumed: .null, skipped: reason))
  }

  func has(_ name: String) -> Bool { findings.contains { $0.name == name } }

  /// The last line of the file.
  ///
  /// - Parameter isComplete: whether all steps were made.
  func json(isComplete: Bool) -> JSON {
    [
      "check": .object(
        receiver
          + [JSON.Member](omittingNil: [
            "version": SextantVersion.text, "isComplete": isComplete, "findings": findings.map(\.json),
            "deviations": deviations.map(\.name),
          ]))
    ]
  }
}
