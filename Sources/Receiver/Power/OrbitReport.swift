// SPDX-License-Identifier: Apache-2.0
import UBX

/// The remaining validity of the ephemerides in a receiver, from its own report.
///
/// - NAV-ORB, from protocol version 18 on (u-blox 8 / M8 receiver description, "UBX-NAV-ORB"; M10 interface description,
///   "UBX-NAV-ORB"): a usability of n is between n - 1 and n quarters of an hour, 30 is more than 450 minutes, 31 is
///   unknown.
/// - RXM-SVSI before that, GPS only (u-blox 6 receiver description GPS.G6-SW-10018, "RXM-SVSI"): the age in hours of an
///   ephemeris relative to its reference time, which may lie ahead. An ephemeris is fitted to the two hours before and
///   after that time (IS-GPS-200, 20.3.3.4.3.1).
///
/// NAV-SAT and NAV-SVINFO have the availability of an ephemeris only, not its validity.
struct OrbitReport: Equatable {
  /// A satellite by u-blox's numbers.
  struct Satellite: Hashable, Sendable {
    var system: UInt8
    var number: UInt8
  }

  /// Seconds for which each satellite's ephemeris certainly remains usable; only satellites with one.
  private(set) var usableSeconds: [Satellite: Double] = [:]

  init(navORB payload: [UInt8]) {
    let bytes = payload.span
    guard let message = unsafe NavORB(payload: bytes.bytes) else { return }
    for index in 0..<message.satelliteCount {
      let satellite = message.satellite(index)
      let usability = satellite.eph_ephUsability
      guard satellite.svFlag_health != 2, satellite.eph_ephSource != 0, 2...30 ~= usability else { continue }
      usableSeconds[Satellite(system: satellite.gnssId, number: satellite.svId)] = Double(usability - 1) * 15 * 60
    }
  }

  init(rxmSVSI payload: [UInt8]) {
    let bytes = payload.span
    guard let message = unsafe RxmSVSI(payload: bytes.bytes) else { return }
    for index in 0..<message.satelliteCount {
      let satellite = message.satellite(index)
      guard satellite.svFlag_healthy, satellite.svFlag_ephVal, !satellite.svFlag_notAvail, 1...32 ~= satellite.svid
      else { continue }
      // The age is a whole number of hours, and may be up to an hour more.
      let hours = 2 - (Int(satellite.age_ephAge) - 4) - 1
      guard hours > 0 else { continue }
      usableSeconds[Satellite(system: 0, number: satellite.svid)] = Double(hours) * 3600
    }
  }

  /// Returns the validity of these satellites' ephemerides, in seconds, the longest first.
  func usableSeconds(of satellites: [Satellite]) -> [Double] {
    satellites.compactMap { usableSeconds[$0] }.sorted(by: >)
  }
}
