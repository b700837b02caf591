// SPDX-License-Identifier: Apache-2.0
import Receiver
import WireBytes

/// What the parts of `sextant check` share: the findings, and the receiver as it was found.
struct CheckState {
  /// The receiver's settings, as far as they are reported or seen.
  struct Found {
    /// The rate of the line, in baud; nil without one.
    var rate: UInt32?
    /// Measured; nil for a receiver that sends no epochs.
    var periodSeconds: Double?
    /// The messages of its epochs, and those of each epoch.
    var names: Set<String> = []
    var steadyNames: Set<String> = []
  }

  var report = CheckReport()
  /// The number of findings that were printed.
  private var printed = 0
  var description: ReceiverDescription?
  var assumed: CheckAssumptions?
  var found: Found?
  /// The reported values of another maker's receiver.
  var values: [ReceiverValue] = []
  /// The reported time between two measurements of a u-blox receiver, in milliseconds.
  var measurementMilliseconds: UInt16?
  var hasFix = false
  /// The longest end of a session that restored something, seconds.
  var restoringSeconds = 0.0
  /// What could not be restored, in words.
  var lost: [String] = []

  var periodSeconds: Double { found?.periodSeconds ?? 1 }

  /// Prints new findings: a difference on standard output, others on standard error.
  mutating func printFindings() throws {
    while printed < report.findings.count {
      let finding = report.findings[printed]
      printed += 1
      if finding.deviation == nil { printNotice(finding.text) } else { try Output.write(finding.text + "\n") }
    }
  }

  /// The found settings that a sleep or a restart may lose: the session writes them again.
  var foundConfiguration: DesiredConfiguration {
    var desired = DesiredConfiguration()
    guard let description, let found else { return desired }
    if description.family == nil {
      desired.measurementPeriodMilliseconds = measurementMilliseconds
      desired.messages = found.steadyNames.sorted().filter { $0.contains("-") }
        .compactMap { MessageNames.message($0) }.map { DesiredConfiguration.MessageRate($0, 1) }
    }
    for value in values where description.takesForATime(value) {
      switch value {
      case .period(let milliseconds): desired.measurementPeriodMilliseconds = milliseconds
      case .messages(let list): desired.sentences = list
      // They outlive a sleep; the last part compares them.
      case .constellations, .output, .logger: break
      }
    }
    if let rate = found.rate {
      desired.portRate = rate
      desired.keepsPortRate = true
    }
    return desired
  }

  /// The found rate of the line alone, for the last part.
  var foundRate: DesiredConfiguration {
    var desired = DesiredConfiguration()
    desired.portRate = found?.rate
    desired.keepsPortRate = desired.portRate != nil
    return desired
  }

  /// What differs from the receiver as it was found, in words.
  func differences(now: Found, values: [ReceiverValue]) -> [String] {
    guard let found else { return [] }
    var lost: [String] = []
    if let before = found.rate, let after = now.rate, before != after {
      lost.append("the line has \(after) baud, before \(before)")
    }
    if let before = found.periodSeconds, let after = now.periodSeconds,
      abs(before - after) > before * CheckAssumptions.Tolerance.period
    {
      lost.append("a fix every \(Self.text(after)) s, before every \(Self.text(before)) s")
    } else if found.periodSeconds != nil, now.periodSeconds == nil {
      lost.append("no fixes are sent any more")
    }
    // Sentences of rare epochs are not seen in each observation.
    for value in values {
      guard let before = self.values.first(where: { $0.kind == value.kind }), before != value else { continue }
      lost.append("\(value.kind.rawValue) is not the same")
    }
    return lost
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
}
