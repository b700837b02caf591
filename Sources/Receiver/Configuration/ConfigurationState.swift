// SPDX-License-Identifier: Apache-2.0
import UBX

/// The desired configuration of a session, and how far the receiver has it.
///
///     set ─▶ begin (sent) ─▶ apply, or fail; fall back and begin again where the receiver refuses messages or a batch
package struct ConfigurationState {
  private enum Result {
    case none
    case applied(DesiredConfiguration)
    /// The receiver refused or ignored all of it, which is reported once.
    case failed(lastApplied: DesiredConfiguration?)
  }

  private(set) var desired: DesiredConfiguration? { didSet { compare() } }
  /// The configuration that was sent last, or is being sent.
  private var sent: DesiredConfiguration? { didSet { compare() } }
  /// Whether the desired configuration was changed since it was sent. Stored, because it is read at each wake-up.
  package private(set) var hasChanged = false
  private var result = Result.none
  /// The settings of a u-blox receiver that were refused last.
  private(set) var refused: [Setting] = []
  /// The number of settings that were refused last.
  private(set) var refusedCount = 0
  /// The frames showed that the receiver lost its configuration.
  private(set) var isCheck = false

  package var isApplied: Bool {
    switch result {
    case .none: desired == nil
    case .applied(let applied): desired == applied
    case .failed(let applied): desired == applied
    }
  }

  package mutating func set(_ desired: DesiredConfiguration?) { self.desired = desired }

  private mutating func compare() { hasChanged = sent != nil && desired != nil && desired != sent }

  package mutating func startCheck() { isCheck = true }

  package mutating func begin() { sent = desired }

  /// Returns whether it was a check.
  package mutating func endCheck() -> Bool {
    defer { isCheck = false }
    return isCheck
  }

  package mutating func apply() { if let desired { result = .applied(desired) } }

  package mutating func keep(refused: [Setting]) { (self.refused, refusedCount) = (refused, refused.count) }

  package mutating func count(refused: Int) { (self.refused, refusedCount) = ([], refused) }

  /// Returns whether the last configuration had not failed.
  package mutating func fail() -> Bool {
    switch result {
    case .none: result = .failed(lastApplied: nil)
    case .applied(let applied): result = .failed(lastApplied: applied)
    case .failed: return false
    }
    return true
  }

  // MARK: Fallbacks

  /// The receiver does not use the port rate.
  package mutating func abandonPortRate() {
    desired?.portRate = nil
    sent?.portRate = nil
  }

  /// The receiver refused the power save mode.
  package mutating func abandonPowerSave() {
    desired?.powerSave = nil
    sent = desired
    apply()
    refusedCount += 1
  }

  /// All constellations of a killed program's receiver are used again.
  package mutating func useAllConstellations() {
    // A mutation through the optional crashes the optimizer of Swift 6.2.
    guard var desired else { return }
    desired.withoutConstellations = []
    self.desired = desired
  }

  /// Firmware without NAV-PVT refuses it: position, velocity and time then have messages of their own; firmware that
  /// refuses those too, and firmware with items, falls back to sentences. Returns whether there is something to try.
  package mutating func useOlderMessages(refused: [Setting], usesItems: Bool) -> Bool {
    guard let desired else { return false }
    let isRefused = { (message: MessageIdentity) in
      desired.messages.contains { $0.message == message && $0.rate > 0 } && refused.contains { $0.isRate(of: message) }
    }
    if isRefused(.navPVT), !usesItems {
      self.desired = desired.withoutPVT()
      return true
    }
    guard isRefused(.navPVT) || isRefused(.navPOSLLH), desired.writesNMEA == false else { return false }
    self.desired?.writesNMEA = true
    return true
  }

  /// A receiver refuses a batch that is larger than its buffer.
  ///
  /// - Returns: whether a smaller batch, or none, is to be tried.
  package mutating func useSmallerBatch(refused: [Setting]) -> Bool {
    guard let batch = desired?.batch, batch.isOn, refused.contains(where: \.isOfBatch) else { return false }
    desired?.batch = batch.smaller
    return true
  }
}
