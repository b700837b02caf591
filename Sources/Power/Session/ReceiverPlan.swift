// SPDX-License-Identifier: Apache-2.0
import Receiver

/// A wanted state as a session's configuration, apart from sleep.
struct ReceiverPlan: Hashable, Sendable {
  /// Seconds from fix to fix.
  var everySeconds = 1
  var powerSave = PowerSave.continuous
  /// Constellations that are not needed.
  var without: [DesiredConfiguration.Constellation] = []
  var batch: WantedState.Batch?
  /// The receiver sends its messages; while collecting, only as collecting ends.
  var hasOutput = true

  /// The plan of a state in which the receiver is awake, or with which it wakes.
  ///
  /// - Parameter spare: constellations that this receiver switches off where fewer will do.
  init(_ wanted: WantedState, spare: [DesiredConfiguration.Constellation] = []) {
    if wanted.reducedConstellations { without = spare }
    batch = wanted.batching
    hasOutput = batch == nil
    switch wanted.mode {
    case .continuous(let seconds): everySeconds = seconds
    case .cyclicTracking(let seconds):
      everySeconds = seconds
      powerSave = .cyclic(everySeconds: min(max(seconds, 1), 10))
    case .onOff(let seconds): powerSave = .onOff(periodSeconds: seconds)
    case .unread, .backup, .off: break
    }
  }

  /// Full power, a fix a second: the state in which a receiver wakes.
  static let fullPower = ReceiverPlan(WantedState(mode: .continuous(everySeconds: 1)))
}

/// The plan that the session was given, and the settings that were ever changed from those that were found.
struct AppliedPlan: Sendable {
  /// Nil when it has to be given again.
  private(set) var plan: ReceiverPlan? = .fullPower
  private var touched: Set<Setting> = []

  private enum Setting { case period, powerSave, batch, constellations }

  /// The configuration for a plan on top of a session's own; nil where the session has it already. Settings that were never
  /// changed stay as they were found.
  mutating func apply(_ new: ReceiverPlan, to base: DesiredConfiguration) -> DesiredConfiguration? {
    guard new != plan else { return nil }
    plan = new
    if new.everySeconds != 1 { touched.insert(.period) }
    if new.powerSave != .continuous { touched.insert(.powerSave) }
    if new.batch != nil { touched.insert(.batch) }
    if !new.without.isEmpty { touched.insert(.constellations) }
    var desired = base
    if touched.contains(.period) { desired.measurementPeriodMilliseconds = UInt16(clamping: new.everySeconds * 1000) }
    if touched.contains(.powerSave) { desired.powerSave = new.powerSave }
    if touched.contains(.batch) {
      desired.batch = new.batch.map { BatchConfiguration(epochs: $0.epochs, isExtended: $0.extended) } ?? .off
    }
    if touched.contains(.constellations) { desired.withoutConstellations = new.without }
    guard !new.hasOutput else { return desired }
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.isSilent = true
    return desired
  }

  /// The session's own configuration is in force.
  mutating func isBase() { plan = .fullPower }

  /// The same after the line was lost: constellations that were off may still be off.
  mutating func isFound() { plan = touched.contains(.constellations) ? nil : .fullPower }

  /// An earlier process left the receiver collecting; its other changes are not known.
  mutating func isLeftover(canSavePower: Bool) {
    touched = [.period, .batch]
    if canSavePower { touched.insert(.powerSave) }
  }

  mutating func invalidate() { plan = nil }
}
