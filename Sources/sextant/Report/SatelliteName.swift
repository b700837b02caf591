// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

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
