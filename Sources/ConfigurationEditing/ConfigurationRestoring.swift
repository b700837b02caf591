import Receiver

/// Brings a receiver to the state of a configuration file.
///
///     read all, with the firmware's values ─▶ set what differs: what the file lists, and what it does not list and is
///     (where the file holds differences)      not as the firmware has it
///
/// What the receiver does not have or refuses is left out and told; the rest is set.
public struct ConfigurationRestoring: ReceiverScript {
  private enum Step: Sendable {
    case reading(SettingsReading)
    case editing(SettingsEdit)
  }

  private let file: ConfigurationFile
  private let receiver: ReceiverDescription
  private let port: ReceiverPortNumber?
  private let hasRate: Bool
  private var step: Step
  /// Settings of the file that this receiver cannot have, by the reason.
  public private(set) var leftOut: [LeftOut] = []

  /// Settings that are left out for one reason: of a file for another generation they are all of them.
  public struct LeftOut: Sendable, Equatable {
    public var names: [String]
    public var reason: String
  }

  /// - Parameters:
  ///   - file: what is to be set.
  ///   - receiver: who it is.
  ///   - port: the port that is talked over, where known.
  ///   - hasRate: whether the line has a rate.
  ///   - raisedRate: the line's rate, where it is another for the time of the script.
  public init(
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

  /// The editing of the settings, once it is known what is to be set.
  public var edit: SettingsEdit? { if case .editing(let edit) = step { edit } else { nil } }

  public var progress: (done: Int, of: Int) {
    switch step {
    case .reading(let reading): reading.progress
    case .editing(let edit): edit.progress
    }
  }

  public func next() -> Command? {
    switch step {
    case .reading(let reading): reading.next()
    case .editing(let edit): edit.next()
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    switch step {
    case .reading(var reading):
      reading.receive(outcome)
      step = .reading(reading)
      if reading.next() == nil { startEditing(file.words + others(reading)) }
    case .editing(var edit):
      edit.receive(outcome)
      step = .editing(edit)
    }
  }

  /// What the file does not list goes back to the firmware's value.
  private func others(_ reading: SettingsReading) -> [SettingWord] {
    let listed = Set(
      file.words.compactMap { word in if case .item(let pair) = word.meaning { pair.id } else { nil } })
    return reading.values.compactMap { value in
      guard let key = value.key, !listed.contains(key), let standard = value.standard, standard != value.text else {
        return nil
      }
      return try? SettingWord(name: value.name, value: standard)
    }
  }

  private mutating func leaveOut(_ name: String, _ problem: SettingProblem) {
    // Most reasons begin with the name.
    var reason = problem.description
    if reason.hasPrefix(name + ": ") { reason.removeFirst(name.count + 2) }
    if let same = leftOut.firstIndex(where: { $0.reason == reason }) {
      leftOut[same].names.append(name)
    } else {
      leftOut.append(LeftOut(names: [name], reason: reason))
    }
  }

  /// Starts with the words that this receiver can have.
  private mutating func startEditing(_ words: [SettingWord]) {
    var possible: [SettingWord] = []
    for word in words {
      do {
        _ = try SettingsEdit([word], of: receiver, port: port, hasRate: hasRate)
        possible.append(word)
      } catch { leaveOut(word.name, error) }
    }
    // Each of them is possible for itself, and together they are no more than each.
    if let edit = try? SettingsEdit(possible, of: receiver, port: port, hasRate: hasRate, scope: .whatIsPossible) {
      step = .editing(edit)
    }
  }
}
