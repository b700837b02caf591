// SPDX-License-Identifier: Apache-2.0

/// The output of a receiver in a row of epochs: the time between them, and the names of its messages.
struct CheckObservation: Equatable {
  /// The times of epochs by the receiver, which a busy computer does not delay, else by the computer; seconds.
  private(set) var epochs: [Double] = []
  /// The messages in whole epochs.
  private(set) var names: Set<String> = []
  /// The messages in each whole epoch.
  private(set) var steadyNames: Set<String> = []
  private var namesOfEpoch: Set<String> = []
  /// For each message, the number of the last epoch that had it, from 1 on.
  private var last: [String: Int] = [:]

  mutating func receive(_ name: String) { namesOfEpoch.insert(name) }

  mutating func endEpoch(at seconds: Double) {
    epochs.append(seconds)
    for name in namesOfEpoch { last[name] = epochs.count }
    // The first epoch began before the observation.
    if epochs.count > 1 {
      steadyNames = epochs.count == 2 ? namesOfEpoch : steadyNames.intersection(namesOfEpoch)
      names.formUnion(namesOfEpoch)
    }
    namesOfEpoch = []
  }

  /// The median time between two epochs, seconds; nil for less than three epochs.
  var periodSeconds: Double? {
    guard epochs.count >= 3 else { return nil }
    let steps = zip(epochs.dropFirst(), epochs).map { $0 - $1 }.sorted()
    return steps[steps.count / 2]
  }

  /// Whether a message came at all.
  func has(_ message: CheckedMessage) -> Bool {
    namesOfEpoch.contains { message.matches($0) } || last.keys.contains { message.matches($0) }
  }

  /// The number of epochs since the last one with a message.
  func epochsWithout(_ message: CheckedMessage) -> Int {
    if namesOfEpoch.contains(where: { message.matches($0) }) { return 0 }
    return epochs.count - (last.filter { message.matches($0.key) }.values.max() ?? 0)
  }
}

/// A message that is switched on or off for a moment.
enum CheckedMessage: Equatable {
  /// A sentence by its formatter, with any talker.
  case sentence(String)
  /// UBX-NAV-DOP, which every u-blox receiver has.
  case navDOP

  func matches(_ name: String) -> Bool {
    switch self {
    case .sentence(let formatter): name.utf8.count == 5 && name.first != "P" && name.hasSuffix(formatter)
    case .navDOP: name == "NAV-DOP"
    }
  }

  var name: String {
    switch self {
    case .sentence(let formatter): formatter
    case .navDOP: "NAV-DOP"
    }
  }
}
