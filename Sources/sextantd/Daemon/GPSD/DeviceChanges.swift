// SPDX-License-Identifier: Apache-2.0
import GPSD
import LocationService
import MonotonicTime
import Receiver
import WireBytes

/// The changes of receivers that clients of gpsd have requested with `?DEVICE={…}`, until they are answered.
///
///     request ──▶ waiting ──the receiver takes commands──▶ bytes: sent, done
///        │           │                                 └──▶ settings: applying ──report of the session──▶ done, or refused
///        └─refused   └──plain NMEA: nothing changes, done; timeout: refused
///
/// From then on the rate and the cycle are user settings. The protocol belongs to the service: power control needs UBX.
struct DeviceChanges: Sendable {
  /// The state of the receiver on which a change depends.
  struct Receiver: Equatable, Sendable {
    enum Readiness: Sendable {
      /// The receiver is not open, not identified, or asleep.
      case waiting
      /// A u-blox receiver that takes commands.
      case ready
      /// A receiver without commands.
      case plain
      /// Another program has its line.
      case lent
    }

    var readiness: Readiness
    /// Whether it sends NMEA: if it does not answer polls, it counts as plain.
    var sendsNMEA = false
    /// The rate of its line, in baud; nil for a line without one.
    var bitsPerSecond: UInt32?
    /// Whether its rate is fixed by the configuration of the service.
    var isRateFixed = false
    /// The shortest time between two epochs, in milliseconds.
    var shortestCycleMilliseconds: UInt16 = 50
  }

  enum Action: Equatable, Sendable {
    case send([UInt8], receiver: Int)
    case set(ReceiverUserSettings, receiver: Int)
    /// The end of a client's change, with the reason if it was refused.
    case reply(client: UInt32, receiver: Int, refusal: String?)
  }

  /// The time limit for a change, less than the eight seconds that gpsctl waits (gpsctl(1), `-T`).
  static let timeout = Milliseconds(7000)
  /// The bytes of an epoch in UBX with thirty satellites.
  private static let bytesOfEpoch = 520.0

  private struct Pending: Sendable {
    enum Stage { case waiting, applying }

    var client: UInt32
    var receiver: Int
    var change: DeviceChange
    var deadline: Instant
    var stage = Stage.waiting
    /// The previous settings, restored if a change fails.
    var before = ReceiverUserSettings()
  }

  private var pending: [Pending] = []
  /// The settings in effect, keyed by receiver number.
  private(set) var settings: [Int: ReceiverUserSettings] = [:]
  private var refusedCounts: [Int: Int] = [:]
  private var actions: [Action] = []

  var deadline: Instant? { pending.map(\.deadline).min() }

  /// Whether no change and no work is pending.
  var isIdle: Bool { pending.isEmpty && actions.isEmpty }

  /// Whether a client waits for a change that needs the receiver.
  func isAwaited(by client: UInt32) -> Bool { pending.contains { $0.client == client } }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  // MARK: Events

  /// Handles a request of a client.
  mutating func request(_ change: DeviceChange, of receiver: Int, by client: UInt32, at now: Instant) {
    if let refusal = Self.refusal(change) {
      return actions.append(.reply(client: client, receiver: receiver, refusal: refusal))
    }
    pending.append(Pending(client: client, receiver: receiver, change: change, deadline: now + Self.timeout))
  }

  /// Handles the current state of a receiver. Its changes are applied one at a time.
  mutating func update(_ state: Receiver, of number: Int, at now: Instant) {
    while let index = pending.firstIndex(where: { $0.receiver == number }), pending[index].stage == .waiting {
      switch state.readiness {
      case .ready: begin(index, state)
      case .plain: finishPlain(index)
      case .lent: finish(index, refusal: "another program has the receiver; see `sextant status`")
      case .waiting:
        guard now >= pending[index].deadline else { return }
        if state.sendsNMEA { return finishPlain(index) }
        finish(index, refusal: "the receiver does not answer; see `sextant status`")
      }
    }
    if let index = pending.firstIndex(where: { $0.receiver == number }), now >= pending[index].deadline {
      fail(index, "the receiver does not answer at the new settings; see `sextant status`")
    }
  }

  /// Handles a report of a receiver's session.
  mutating func receive(_ report: SessionReport, of number: Int) {
    let before = refusedCounts[number] ?? 0
    // After a change of the rate the number is unknown.
    if case .configured(let refused) = report { refusedCounts[number] = max(before, refused) }
    guard let index = pending.firstIndex(where: { $0.receiver == number && $0.stage == .applying }) else { return }
    let wanted = pending[index].change.bitsPerSecond.flatMap { $0 == 0 ? nil : $0 }
    switch report {
    case .rateFound(let rate) where rate == wanted: finish(index, refusal: nil)
    case .rateNotChanged: fail(index, "the receiver did not change its rate")
    case .configurationFailed(let isRefused): fail(index, SessionReport.configurationFailure(isRefused: isRefused))
    case .configured(let refused) where refused > before && pending[index].change.cycleSeconds != nil:
      fail(index, "the receiver refused the cycle")
    case .configured: finish(index, refusal: nil)
    default: break
    }
  }

  /// Handles the end of a client. A change in progress is completed.
  mutating func end(_ client: UInt32) { pending.removeAll { $0.client == client && $0.stage == .waiting } }

  /// Discards the changes and settings of a receiver that is removed.
  mutating func forget(_ number: Int) {
    while let index = pending.firstIndex(where: { $0.receiver == number }) {
      finish(index, refusal: "the receiver is removed")
    }
    settings[number] = nil
    refusedCounts[number] = nil
  }

  // MARK: Changes

  /// Returns the reason why a change is refused for any receiver; nil if that depends on the receiver.
  private static func refusal(_ change: DeviceChange) -> String? {
    if let rate = change.bitsPerSecond, rate != 0, !(4800...921_600).contains(rate) {
      return "bps: a rate of 4800 to 921600"
    }
    if let parity = change.parity, parity != "N" { return "parity: the receiver's line has none" }
    if let bits = change.stopBits, bits > 1 { return "stopbits: the receiver's line has one" }
    if let seconds = change.cycleSeconds, seconds > 1 {
      return "cycle: at most 1 s; power control sets longer ones"
    }
    return nil
  }

  private mutating func begin(_ index: Int, _ state: Receiver) {
    let (change, number) = (pending[index].change, pending[index].receiver)
    if change.native == 0 {
      return finish(
        index, refusal: "native: the service needs UBX; clients get NMEA with \"nmea\":true, and by --nmea")
    }
    pending[index].before = settings[number] ?? ReceiverUserSettings()
    var new = pending[index].before
    if let rate = change.bitsPerSecond, rate != 0 {
      guard let present = state.bitsPerSecond else { return finish(index, refusal: "bps: the line has no rate") }
      guard !state.isRateFixed || rate == present else {
        return finish(index, refusal: "bps: the configuration file of sextantd has the rate")
      }
      new.bitsPerSecond = rate
    }
    // 0 or less means no change, as in gpsd.
    if let seconds = change.cycleSeconds, seconds > 0 {
      let milliseconds = (seconds * 1000).rounded()
      guard milliseconds >= Double(state.shortestCycleMilliseconds) else {
        return finish(index, refusal: "cycle: at least \(Double(state.shortestCycleMilliseconds) / 1000) s")
      }
      new.cycleMilliseconds = UInt16(clamping: milliseconds)
    }
    if new != pending[index].before,
      let refusal = Self.lineRefusal(new, rate: new.bitsPerSecond ?? state.bitsPerSecond)
    {
      return finish(index, refusal: refusal)
    }
    if let bytes = change.bytes { actions.append(.send(bytes, receiver: number)) }
    guard new != pending[index].before else { return finish(index, refusal: nil) }
    settings[number] = new
    actions.append(.set(new, receiver: number))
    pending[index].stage = .applying
  }

  /// Returns the reason why a line cannot carry the epochs; nil if it can.
  private static func lineRefusal(_ settings: ReceiverUserSettings, rate: UInt32?) -> String? {
    guard let rate, let cycle = settings.cycleMilliseconds, cycle < 1000,
      !LineLoad.carries(bytesOfEpoch * 1000 / Double(cycle), at: rate)
    else { return nil }
    return "a line of \(rate) baud does not carry an epoch each \(Double(cycle) / 1000) s"
  }

  /// Replies with the current settings, as gpsd does for a driver without mode switches.
  private mutating func finishPlain(_ index: Int) {
    finish(index, refusal: pending[index].change.bytes.map { _ in "the receiver takes no commands" })
  }

  private mutating func fail(_ index: Int, _ refusal: String) {
    if pending[index].stage == .applying {
      let (before, number) = (pending[index].before, pending[index].receiver)
      settings[number] = before
      actions.append(.set(before, receiver: number))
    }
    finish(index, refusal: refusal)
  }

  private mutating func finish(_ index: Int, refusal: String?) {
    let over = pending.remove(at: index)
    actions.append(.reply(client: over.client, receiver: over.receiver, refusal: refusal))
  }
}
