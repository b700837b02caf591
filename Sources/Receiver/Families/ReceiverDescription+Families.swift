// SPDX-License-Identifier: Apache-2.0

/// The values and actions of receivers of other makers, before they are asked.
extension ReceiverDescription {
  /// Whether the family has a command for the value.
  public func takes(_ value: ReceiverValue) -> Bool {
    if case .output(let isOn) = value { return takes(.messages([SentenceRate("GGA", isOn ? 1 : 0)])) }
    return family?.language?.commands(setting: value, from: nil, on: self) != nil
  }

  /// Whether the baud rate of the port can be set to `rate`.
  public func takesRate(_ rate: UInt32) -> Bool { family?.language?.rateChange(to: rate) != nil }

  public func takes(_ action: ReceiverAction) -> Bool { family?.language?.commands(for: action, on: self) != nil }

  /// The sentence of the restart after which a saved value is in force; nil for one that is in force at once.
  public func restart(for kind: ReceiverValue.Kind) -> String? { family?.language?.restart(for: kind) }

  /// Whether a session can set the value and restore it exactly.
  public func takesForATime(_ value: ReceiverValue) -> Bool {
    takes(value) && family?.language?.canTakeBack(value.kind) == true
  }

  /// Whether the receiver reports the value.
  public func reports(_ kind: ReceiverValue.Kind) -> Bool { family?.language?.polls(of: kind).isEmpty == false }

  /// Whether the output alone shows a value that commands set.
  public func isObserved(_ kind: ReceiverValue.Kind) -> Bool {
    switch kind {
    case .period: family != nil && !reports(kind) && takes(.period(1000))
    case .messages: family != nil && !reports(kind) && takes(.output(true))
    case .constellations, .output, .logger, .mode, .measurements: false
    }
  }

  /// Whether the commands of its sentences have the seconds between two of them, not the fixes.
  public var countsSeconds: Bool { family?.language?.countsSeconds ?? false }

  /// The command that lists all that a receiver of another maker sends, at each of its ports, a line for each message that begins with its
  /// name; nil without one.
  public var outputList: Command? { family?.language?.outputList }

  /// Whether it is a receiver of another maker that no command puts to sleep.
  public var cannotSleep: Bool { family != nil && !can(.standby) && !can(.timedSleep) }

  /// Whether a change of the baud rate restarts a receiver with a logger.
  public var restartsForRate: Bool { family?.language?.logger?.resumption != nil }

  /// Whether the memory of its logger keeps its records over a restart.
  public var keepsLogOverRestart: Bool { family?.language?.keepsLogOverRestart ?? false }

  /// The reason why raw measurements of the receiver are not recorded, for people; nil where they are.
  public var lackOfMeasurements: String? {
    guard !can(.rawMeasurements) else { return nil }
    let unknown = "sextant knows no raw measurements of this receiver"
    return family?.language?.lackOfMeasurements ?? unknown
  }

  /// A poll that every receiver of the family replies to; nil for a u-blox one.
  public var familyPoll: Command? { family?.language?.poll }
}
