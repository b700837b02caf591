// SPDX-License-Identifier: Apache-2.0

/// A satellite in RINEX: its system in the order of the file, and its number there (RINEX 3.05, section 4.1).
package struct RINEXSatellite: Hashable, Comparable, Sendable {
  package enum System: UInt8, CaseIterable, Sendable {
    case gps, glonass, galileo, qzss, beiDou, navIC, sbas

    package var character: UInt8 {
      switch self {
      case .gps: UInt8(ascii: "G")
      case .glonass: UInt8(ascii: "R")
      case .galileo: UInt8(ascii: "E")
      case .qzss: UInt8(ascii: "J")
      case .beiDou: UInt8(ascii: "C")
      case .navIC: UInt8(ascii: "I")
      case .sbas: UInt8(ascii: "S")
      }
    }

    /// - Parameter character: the letter of the system in a file. An unknown letter gives nil.
    package init?(character: UInt8) {
      guard let system = Self.allCases.first(where: { $0.character == character }) else { return nil }
      self = system
    }
  }

  package var system: System
  /// 1…99.
  package var number: UInt8

  package init(system: System, number: UInt8) { (self.system, self.number) = (system, number) }

  package static func < (a: RINEXSatellite, b: RINEXSatellite) -> Bool {
    (a.system.rawValue, a.number) < (b.system.rawValue, b.number)
  }
}
