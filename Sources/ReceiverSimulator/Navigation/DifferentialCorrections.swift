// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// The corrections that a receiver has received, and the solution with them.
///
///     none ── station and observations ──▶ float ── 10 s of them, open sky ──▶ fixed
///       ▲                                    │                                  │
///       └───────── no observations for 60 s ─┴──────────────────────────────────┘
///
/// With SPARTN the areas and the corrections of orbits and of the atmosphere take the place of station and observations, and
/// convergence takes 45 s instead of 10 s. A real receiver also needs enough common satellites, and a station or an area nearby, which
/// are assumed here.
struct DifferentialCorrections: Sendable {
  /// The use of corrections in a solution, with NAV-PVT's codes of the carrier phase solution for the last two.
  enum Use: UInt8, Sendable {
    case none
    case float
    case fixed
    /// Of the code alone: a receiver without RTK.
    case code

    /// flags of NAV-PVT and NAV-STATUS: diffSoln.
    var hasCorrections: Bool { self != .none }
    /// carrSoln.
    var carrierSolution: UInt8 { self == .code ? 0 : rawValue }
    /// Standard deviation of a horizontal axis, metres; nil: it follows from the sky.
    var deviation: Double? {
      switch self {
      case .none: nil
      case .code: 0.5
      case .float: 0.25
      case .fixed: 0.01
      }
    }
    /// Quality of GGA.
    var quality: Int32 {
      switch self {
      case .none: 1
      case .code: 2
      case .fixed: 4
      case .float: 5
      }
    }
  }

  /// Corrections are used for this long (CFG-NAVSPG-CONSTR_DGNSSTO, 60 s by default).
  private static let timeout = Milliseconds(60_000)
  /// The time from the first corrections to a fixed solution: ZED-F9P data sheet, "convergence time", < 10 s.
  private static let convergence = Milliseconds(10_000)
  /// The same with SPARTN: ZED-F9P-04B data sheet, table 4, < 45 s.
  private static let spartnConvergence = Milliseconds(45_000)

  private var stationAt: Instant?
  private var observedAt: Instant?
  private var since = Instant.zero
  private var hasAreas = false
  private var orbitsAt: Instant?
  private var atmosphereAt: Instant?
  private var spartnSince = Instant.zero

  /// Takes an RTCM 3 message of this number.
  mutating func receive(message number: Int, at now: Instant) {
    switch number {
    case 1005, 1006: stationAt = now
    case 1001...1004, 1009...1012, 1071...1137:
      if observedAt.map({ now > $0 + Self.timeout }) ?? true { since = now }
      observedAt = now
    default: break
    }
  }

  /// Takes a SPARTN message of this type that the receiver can read.
  mutating func receive(spartn type: Int, at now: Instant) {
    let wasUsed = usesSPARTN(at: now)
    switch type {
    case 0: orbitsAt = now
    case 1: atmosphereAt = now
    case 2: hasAreas = true
    default: break
    }
    if !wasUsed, usesSPARTN(at: now) { spartnSince = now }
  }

  private func usesSPARTN(at now: Instant) -> Bool {
    guard hasAreas, let orbitsAt, let atmosphereAt else { return false }
    return now <= orbitsAt + Self.timeout && now <= atmosphereAt + Self.timeout
  }

  func use(hasRTK: Bool, under sky: SkyView, at now: Instant) -> Use {
    let hasStation = stationAt != nil && observedAt.map { now <= $0 + Self.timeout } ?? false
    if hasStation, !hasRTK { return .code }
    let isConverged =
      hasStation && now >= since + Self.convergence
      || usesSPARTN(at: now) && now >= spartnSince + Self.spartnConvergence
    guard hasStation || usesSPARTN(at: now) else { return .none }
    return sky == .open && isConverged ? .fixed : .float
  }
}

/// The keys of encrypted SPARTN: the current one, and the next, which replaces it when it begins (u-blox F9 HPG 1.32 interface
/// description, RXM-SPARTNKEY; ZED-F9P integration manual, 3.1.6.3). They are in RAM.
///
/// The documents do not say when a key without a next one expires: here it does not.
struct SPARTNKeyMemory: Sendable {
  private struct Key: Sendable {
    var week: UInt16
    var second: UInt32
    var bytes: [UInt8]

    func hasBegun(at time: GPSTime) -> Bool {
      (Int(week), second) <= (time.week, time.millisecondOfWeek / 1000)
    }
  }

  private var keys: [Key] = []

  /// Stores the keys of RXM-SPARTNKEY. A payload of another version or with a wrong length is ignored.
  mutating func store(_ payload: [UInt8]) {
    guard payload.count >= 4, payload[0] == 1, 1...2 ~= payload[1] else { return }
    var at = 4 + 8 * Int(payload[1])
    guard payload.count >= at else { return }
    var found: [Key] = []
    for head in stride(from: 4, to: at, by: 8) {
      let length = Int(payload[head + 1])
      guard payload.count >= at + length else { return }
      found.append(
        Key(week: payload.u2(head + 2), second: payload.u4(head + 4), bytes: Array(payload[at..<at + length])))
      at += length
    }
    // A single key takes the place of the current one.
    keys = found.count == 2 ? found : found + keys.dropFirst()
  }

  /// The payload of RXM-SPARTNKEY that replies to a poll.
  mutating func reply(at time: GPSTime) -> [UInt8] {
    advance(to: time)
    var payload: [UInt8] = [1, UInt8(keys.count), 0, 0]
    for key in keys {
      payload += [0, UInt8(truncatingIfNeeded: key.bytes.count)]
      payload.append(u2: key.week)
      payload.append(u4: key.second)
    }
    return payload + keys.flatMap(\.bytes)
  }

  /// Whether the current key is valid.
  func canDecrypt(at time: GPSTime) -> Bool { keys.first?.hasBegun(at: time) == true }

  /// Replaces the current key with the next one when that begins.
  mutating func advance(to time: GPSTime) {
    if keys.count == 2, keys[1].hasBegun(at: time) { keys.removeFirst() }
  }
}
