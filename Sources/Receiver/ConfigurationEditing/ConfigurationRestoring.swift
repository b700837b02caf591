// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// Sets a receiver to the configuration of a file.
///
///     read all with the defaults ─▶ set the differences: settings of the file, and settings that are neither in the
///     (if the file has differences)  file nor at their default
///
/// Settings that the receiver lacks or refuses are skipped and reported; the others are set.
package struct ConfigurationRestoring: ReceiverScript {
  private enum Step: Sendable {
    case reading(SettingsReading)
    case editing(SettingsEdit)
  }

  private let file: ConfigurationFile
  private let receiver: ReceiverDescription
  private let port: ReceiverPortNumber?
  private let hasRate: Bool
  private var step: Step
  /// Settings of the file that this receiver cannot have, grouped by reason.
  package private(set) var skipped: [Skipped] = []

  /// Settings that are skipped for one reason. With a file of another generation these are all settings.
  package struct Skipped: Sendable, Equatable {
    package var names: [String]
    package var reason: String
  }

  /// - Parameters:
  ///   - file: the settings.
  ///   - receiver: the receiver to set.
  ///   - port: the receiver's port at this line, if known.
  ///   - hasRate: whether the line has a baud rate.
  ///   - raisedRate: the rate of the line while the script runs, if it differs from the configured one.
  package init(
    _ file: ConfigurationFile, to receiver: ReceiverDescription, port: ReceiverPortNumber?, hasRate: Bool,
    raisedRate: RaisedRate? = nil
  ) throws(SettingProblem) {
    self.file = file
    self.receiver = receiver
    self.port = port
    self.hasRate = hasRate
    let readsAll = file.extent == .differences && receiver.can(.valset)
    if readsAll {
      var reading = SettingsReading(pattern: nil, of: receiver, readsStandards: true)
      reading.raisedRate = raisedRate
      step = .reading(reading)
    } else {
      let edit = try SettingsEdit([], of: receiver, port: port, hasRate: hasRate)
      step = .editing(edit)
      startEditing(file.words)
    }
  }

  /// The edit of the settings; nil while the receiver's settings are read.
  package var edit: SettingsEdit? { if case .editing(let edit) = step { edit } else { nil } }

  package var progress: (done: Int, of: Int) {
    switch step {
    case .reading(let reading): reading.progress
    case .editing(let edit): edit.progress
    }
  }

  package func next() -> Command? {
    switch step {
    case .reading(let reading): reading.next()
    case .editing(let edit): edit.next()
    }
  }

  package mutating func receive(_ outcome: Outcome) {
    switch step {
    case .reading(var reading):
      reading.receive(outcome)
      step = .reading(reading)
      if reading.next() == nil { startEditing(file.words + unlistedSettings(reading)) }
    case .editing(var edit):
      edit.receive(outcome)
      step = .editing(edit)
    }
  }

  package mutating func abandonPortRate() {
    guard case .editing(var edit) = step else { return }
    edit.abandonPortRate()
    step = .editing(edit)
  }

  /// Returns the settings that are not in the file and not at their default, with the default as value.
  private func unlistedSettings(_ reading: SettingsReading) -> [SettingWord] {
    let listed = Set(
      file.words.compactMap { word in if case .item(let pair) = word.meaning { pair.id } else { nil } })
    return reading.values.compactMap { value in
      guard let key = value.key, !listed.contains(key), let standard = value.standard, standard != value.text else {
        return nil
      }
      return try? SettingWord(name: value.name, value: standard)
    }
  }

  private mutating func skip(_ name: String, _ problem: SettingProblem) {
    // Most reasons begin with the name.
    var reason = problem.description
    if reason.hasPrefix(name + ": ") { reason.removeFirst(name.count + 2) }
    if let same = skipped.firstIndex(where: { $0.reason == reason }) {
      skipped[same].names.append(name)
    } else {
      skipped.append(Skipped(names: [name], reason: reason))
    }
  }

  /// Starts the edit with the settings that this receiver can have.
  private mutating func startEditing(_ words: [SettingWord]) {
    var possible: [SettingWord] = []
    for word in words {
      do {
        _ = try SettingsEdit([word], of: receiver, port: port, hasRate: hasRate)
        possible.append(word)
      } catch { skip(word.name, error) }
    }
    // Each of these settings was accepted above, and together they add no conflict.
    if let edit = try? SettingsEdit(possible, of: receiver, port: port, hasRate: hasRate, scope: .bestEffort) {
      step = .editing(edit)
    }
  }
}
