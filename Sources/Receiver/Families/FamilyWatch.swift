// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import WireBytes

/// Watches what another maker's receiver sends for settings that it lost without a banner: a restart whose first lines were lost, or a
/// user's command on another port. Values are written again if two windows in a row differ.
struct FamilyWatch: Sendable {
  /// The shortest window.
  private static let shortest = Milliseconds(8000)
  /// The longest time until a receiver sends by its new settings.
  private static let settling = Milliseconds(3000)
  /// After this many checks in which nothing had to be written, the sentences prove nothing.
  static let mostFalseAlarms = 3

  private let wanted: [ReceiverValue]
  /// The time between two epochs by the wanted values, and the rate of the rarest wanted sentence.
  private var epoch = Milliseconds(1000)
  private var rarest: UInt64 = 1
  var observed = ObservedOutput()
  private var begin: Instant
  private var differed = false

  /// Returns a watch over those of the values that sentences show; nil without any.
  init?(_ values: [ReceiverValue], from now: Instant) {
    wanted = values.filter { [.period, .messages, .measurements].contains($0.kind) }
    guard !wanted.isEmpty else { return nil }
    begin = now + Self.settling
    for value in wanted {
      if case .period(let milliseconds) = value { epoch = max(epoch, Milliseconds(UInt64(milliseconds))) }
      if case .messages(let rates) = value { rarest = max(rarest, UInt64(rates.map(\.rate).max() ?? 1)) }
    }
    observed.restart(from: begin)
  }

  /// Judges the window if it is over. Returns whether the receiver lost a value.
  ///
  /// - Parameters:
  ///   - epoch: the observed time between two epochs.
  ///   - isLineFull: whether sentences may be missing for want of room.
  mutating func judge(at now: Instant, epoch: Milliseconds, isLineFull: Bool) -> Bool {
    guard now >= begin + max(Self.shortest, max(self.epoch, epoch) * (2 * rarest + 2)) else { return false }
    let differs = wanted.contains { Self.differs($0, observed, isLineFull: isLineFull) }
    defer {
      differed = differs
      begin = now
      observed.restart(from: now)
    }
    return differs && differed
  }

  private static func differs(_ value: ReceiverValue, _ observed: ObservedOutput, isLineFull: Bool) -> Bool {
    switch (value, observed.value(value.kind)) {
    case (.period(let wanted), .period(let seen)?): return ObservedOutput.nearest(to: Double(wanted)) != seen
    case (.messages(let wanted), .messages(let seen)?):
      return wanted.contains { one in
        let isSeen = seen.contains { $0.formatter == one.formatter && $0.rate <= 20 }
        return one.rate == 0 ? isSeen : !isSeen && !isLineFull && one.isSentence
      }
    // A receiver without a position has no observations to send.
    case (.measurements, .measurements?): return !observed.hasObservations && observed.hasPositions && !isLineFull
    default: return false
    }
  }
}
