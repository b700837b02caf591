// SPDX-License-Identifier: Apache-2.0
import Receiver

/// The state that the session was given as its configuration, apart from sleep, and the settings that were ever changed from those
/// that were found.
struct AppliedState: Sendable {
  /// Nil when it has to be given again.
  private(set) var wanted: WantedState? = .fullPower
  /// The receiver sends its messages; while it collects, only as collecting ends.
  private var sendsMessages = true
  private var touched: Set<Part> = []

  private enum Part { case period, powerSave, batch, constellations }

  /// The configuration for a state on top of a session's own; nil where the session has it already. Settings that were never changed
  /// stay as they were found.
  ///
  /// - Parameters:
  ///   - new: a state in which the receiver is awake, or with which it wakes.
  ///   - spare: constellations that this receiver switches off where fewer will do.
  ///   - endsCollecting: the messages are switched on although the receiver collects still.
  mutating func apply(
    _ new: WantedState, spare: [DesiredConfiguration.Constellation], endsCollecting: Bool = false,
    to base: DesiredConfiguration
  ) -> DesiredConfiguration? {
    let sends = new.batching == nil || endsCollecting
    guard new != wanted || sends != sendsMessages else { return nil }
    wanted = new
    sendsMessages = sends
    let without = new.reducedConstellations ? spare : []
    if new.mode.periodSeconds != 1 { touched.insert(.period) }
    if new.mode.powerSave != .continuous { touched.insert(.powerSave) }
    if new.batching != nil { touched.insert(.batch) }
    if !without.isEmpty { touched.insert(.constellations) }
    var desired = base
    if touched.contains(.period) {
      desired.measurementPeriodMilliseconds = UInt16(clamping: new.mode.periodSeconds * 1000)
    }
    if touched.contains(.powerSave) { desired.powerSave = new.mode.powerSave }
    if touched.contains(.batch) {
      desired.batch = new.batching.map { BatchConfiguration(epochs: $0.epochs, isExtended: $0.extended) } ?? .off
    }
    if touched.contains(.constellations) { desired.withoutConstellations = without }
    guard !sends else { return desired }
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.isSilent = true
    return desired
  }

  /// Whether the session has the configuration for a state already.
  func has(_ state: WantedState) -> Bool { state == wanted && sendsMessages == (state.batching == nil) }

  /// The session's own configuration is in force.
  mutating func noteBase() {
    wanted = .fullPower
    sendsMessages = true
  }

  /// The same after the line was lost: constellations that were off may still be off.
  mutating func noteFound() {
    noteBase()
    if touched.contains(.constellations) { invalidate() }
  }

  /// An earlier process left the receiver collecting; its other changes are not known.
  mutating func noteLeftover(canSavePower: Bool) {
    touched = [.period, .batch]
    if canSavePower { touched.insert(.powerSave) }
  }

  mutating func invalidate() { wanted = nil }
}

extension PowerMode {
  /// Seconds from fix to fix; 1, as at full power, for a mode that sleeps.
  var periodSeconds: Int {
    switch self {
    case .continuous(let seconds), .cyclicTracking(let seconds): seconds
    case .onOff, .unread, .backup, .off: 1
    }
  }

  var powerSave: PowerSave {
    switch self {
    case .cyclicTracking(let seconds): .cyclic(everySeconds: min(max(seconds, 1), 10))
    case .onOff(let seconds): .onOff(periodSeconds: seconds)
    case .continuous, .unread, .backup, .off: .continuous
    }
  }
}
