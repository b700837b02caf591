// SPDX-License-Identifier: Apache-2.0

import ReceiverStream
import UBX
import WireBytes

/// Carrier-to-noise density ratios, dBHz, counted by their value: quantiles are exact.
package struct SignalCounts: Equatable, Sendable {
  private var counts = [Int](repeating: 0, count: 64)
  package private(set) var count = 0
  package private(set) var sum = 0

  mutating func add(_ decibelHertz: UInt8) {
    guard decibelHertz > 0 else { return }
    counts[min(63, Int(decibelHertz))] += 1
    count += 1
    sum += Int(decibelHertz)
  }

  package var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }
  package var smallest: Int { counts.firstIndex { $0 > 0 } ?? 0 }
  package var greatest: Int { counts.lastIndex { $0 > 0 } ?? 0 }

  /// The value that a fraction of the values does not exceed.
  package func quantile(_ share: Double) -> Int {
    var rest = Int(clamping: (Double(count) * share).rounded(.up))
    for (value, number) in counts.enumerated() {
      rest -= number
      if rest <= 0, count > 0 { return value }
    }
    return 0
  }
}

/// The satellites of a recording: at most `capacity` satellites, and the same number of signals.
package struct SatelliteStatistics: Sendable {
  package struct Row: Sendable {
    package var signals = SignalCounts()
    package var epochs = 0
    package var used = 0
    /// Azimuth and elevation, degrees; at most `longestTrail` entries.
    package var trail: [SIMD2<Double>] = []
    private var step = 2.0
    static var longestTrail: Int { 48 }

    mutating func add(_ satellite: Satellite) {
      epochs += 1
      if satellite.isUsed { used += 1 }
      signals.add(satellite.signalDecibelHertz)
      guard satellite.azimuthDegrees >= 0, satellite.elevationDegrees >= 0 else { return }
      let place = SIMD2(Double(satellite.azimuthDegrees), Double(satellite.elevationDegrees))
      if let last = trail.last, abs(last.x - place.x) < step, abs(last.y - place.y) < step { return }
      if trail.count == Self.longestTrail {
        trail = stride(from: 0, to: trail.count, by: 2).map { trail[$0] }
        step *= 2
      }
      trail.append(place)
    }
  }

  static var capacity: Int { 512 }
  /// By system and number.
  package private(set) var satellites: [UInt16: Row] = [:]
  /// By system and signal identifier of NAV-SIG.
  package private(set) var signals: [UInt16: SignalCounts] = [:]

  mutating func add(_ sky: borrowing Sky) {
    let list = sky.satellites
    for index in list.indices {
      let key = UInt16(list[index].system.rawValue) << 8 | UInt16(list[index].number)
      guard satellites[key] != nil || satellites.count < Self.capacity else { continue }
      satellites[key, default: Row()].add(list[index])
    }
  }

  mutating func add(_ message: borrowing NavSIG) {
    for index in 0..<message.signalCount {
      let signal = message.signal(index)
      let key = UInt16(signal.gnssId) << 8 | UInt16(signal.sigId)
      guard signals[key] != nil || signals.count < Self.capacity else { continue }
      signals[key, default: SignalCounts()].add(signal.cno)
    }
  }

  /// The name of a signal for the identifiers of UBX (interface description of u-blox F9, section 1.5.4).
  package static func name(gnssId: UInt8, sigId: UInt8) -> String {
    let known: String? =
      switch (gnssId, sigId) {
      case (0, 0): "GPS L1 C/A"
      case (0, 3): "GPS L2 CL"
      case (0, 4): "GPS L2 CM"
      case (0, 6): "GPS L5 I"
      case (0, 7): "GPS L5 Q"
      case (1, 0): "SBAS L1 C/A"
      case (2, 0): "Galileo E1 C"
      case (2, 1): "Galileo E1 B"
      case (2, 3): "Galileo E5 aI"
      case (2, 4): "Galileo E5 aQ"
      case (2, 5): "Galileo E5 bI"
      case (2, 6): "Galileo E5 bQ"
      case (3, 0): "BeiDou B1I D1"
      case (3, 1): "BeiDou B1I D2"
      case (3, 2): "BeiDou B2I D1"
      case (3, 3): "BeiDou B2I D2"
      case (3, 5): "BeiDou B1 Cp"
      case (3, 7): "BeiDou B2 ap"
      case (5, 0): "QZSS L1 C/A"
      case (5, 5): "QZSS L2 CL"
      case (6, 0): "GLONASS L1 OF"
      case (6, 2): "GLONASS L2 OF"
      default: nil
      }
    return known ?? "system \(gnssId) signal \(sigId)"
  }
}

extension Satellite {
  /// The name of a satellite on pages and screens: the system's letter of RINEX and at least two digits, such as `G02`.
  package var name: String { SatelliteStatistics.name(system: system.rawValue, number: number) }
}

extension SatelliteStatistics {
  /// The name of a satellite, from the number of its system (gnssId) and its own number.
  package static func name(system: UInt8, number: UInt8) -> String {
    code(system) + (number < 10 ? "0" : "") + "\(number)"
  }

  /// The letter of a system in RINEX 3; M for IMES, which RINEX does not have.
  private static func code(_ system: UInt8) -> String {
    switch Satellite.System(rawValue: system) {
    case .gps: "G"
    case .sbas: "S"
    case .galileo: "E"
    case .beiDou: "C"
    case .imes: "M"
    case .qzss: "J"
    case .glonass: "R"
    case .navIC: "I"
    case .unknown, nil: "?"
    }
  }
}
