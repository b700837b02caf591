import PowerControl
import Receiver

/// A wanted state in the words of a session: what the receiver's wish is, apart from sleep.
struct ReceiverPlan: Hashable, Sendable {
  /// Seconds from fix to fix.
  var everySeconds = 1
  var powerSave = PowerSave.continuous
  /// Constellations that are not needed.
  var without: [DesiredConfiguration.Constellation] = []
  var batch: WantedState.Batch?
  /// It speaks while it collects: for the moment in which collecting ends.
  var isHeard = true

  /// The plan of a state in which the receiver is awake, or with which it wakes.
  ///
  /// - Parameter leavesOut: what this receiver does without where fewer constellations will do.
  init(_ wanted: WantedState, leavesOut: [DesiredConfiguration.Constellation] = []) {
    if wanted.reducedConstellations { without = leavesOut }
    batch = wanted.batching
    isHeard = batch == nil
    switch wanted.mode {
    case .continuous(let seconds): everySeconds = seconds
    case .cyclicTracking(let seconds):
      everySeconds = seconds
      powerSave = .cyclic(everySeconds: min(max(seconds, 1), 10))
    case .onOff(let seconds): powerSave = .onOff(periodSeconds: seconds)
    case .unheard, .backup, .off: break
    }
  }

  /// Full power, a fix a second: what a receiver wakes with.
  static let fullPower = ReceiverPlan(WantedState(mode: .continuous(everySeconds: 1)))
}

/// What has been changed of the settings as they were found: what is wished of them has to be told from then on.
struct Touched: Hashable, Sendable {
  var period = false
  var powerSave = false
  var batch = false
  var constellations = false

  mutating func add(_ plan: ReceiverPlan) {
    period = period || plan.everySeconds != 1
    powerSave = powerSave || plan.powerSave != .continuous
    batch = batch || plan.batch != nil
    constellations = constellations || !plan.without.isEmpty
  }
}

extension DesiredConfiguration {
  /// The wish for a plan; what was never changed stays as it was found.
  init(_ plan: ReceiverPlan, base: DesiredConfiguration, touched: Touched) {
    self = base
    if touched.period { measurementPeriodMilliseconds = UInt16(clamping: plan.everySeconds * 1000) }
    if touched.powerSave { powerSave = plan.powerSave }
    if touched.batch {
      batch = plan.batch.map { BatchConfiguration(epochs: $0.epochs, isExtended: $0.extended) } ?? .off
    }
    if touched.constellations { withoutConstellations = plan.without }
    guard !plan.isHeard else { return }
    for index in messages.indices { messages[index].rate = 0 }
    isSilent = true
  }
}
