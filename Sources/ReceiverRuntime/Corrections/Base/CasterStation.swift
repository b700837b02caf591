// SPDX-License-Identifier: Apache-2.0
import RTCM3
import ReceiverStream

/// A base station by the messages that it has sent: the content of its line in a source table.
package struct CasterStation: Equatable, Sendable {
  /// The numbers of its messages, ascending.
  package private(set) var messages: [Int] = []
  /// The position of 1005 or 1006, degrees; nil before the first.
  package private(set) var position: (latitude: Double, longitude: Double)?

  package init() {}

  package static func == (a: CasterStation, b: CasterStation) -> Bool {
    a.messages == b.messages && a.position?.latitude == b.position?.latitude
      && a.position?.longitude == b.position?.longitude
  }

  /// Handles a message of the station.
  package mutating func receive(_ frame: borrowing RTCM3Frame) {
    guard let number = frame.messageNumber else { return }
    if let place = StationPosition(frame), let geodetic = place.geodetic {
      position = (geodetic.latitudeDegrees, geodetic.longitudeDegrees)
    }
    let index = messages.firstIndex { $0 >= number } ?? messages.endIndex
    if index == messages.endIndex || messages[index] != number { messages.insert(number, at: index) }
  }

  /// The constellations with observations, by the names of source tables.
  private var systems: String {
    let names = [(107, "GPS"), (108, "GLO"), (109, "GAL"), (110, "SBS"), (111, "QZS"), (112, "BDS"), (113, "IRS")]
    return names.filter { system, _ in messages.contains { $0 / 10 == system } }.map(\.1).joined(separator: "+")
  }

  /// The line of the station in a source table (RTCM 10410.1, "source table", STR).
  ///
  /// - Parameters:
  ///   - mount: its mount point.
  ///   - needsPassword: whether the stream is sent with a password only.
  ///   - version: the version of the program.
  package func line(mount: String, needsPassword: Bool, version: String) -> String {
    // The format of the table has 0 for an unknown position.
    let place = [position?.latitude ?? 0, position?.longitude ?? 0].map { Self.hundredths($0) }
    // 2 is the carrier phase of L1 and L2; no position is needed of clients, and there is one station.
    let fields = [
      "STR", mount, mount, "RTCM 3.3", messages.map { "\($0)(1)" }.joined(separator: ","), "2", systems, "none", "",
      place[0], place[1], "0", "0", "sextant \(version)", "none", needsPassword ? "B" : "N", "N", "9600", "",
    ]
    return fields.joined(separator: ";")
  }

  private static func hundredths(_ degrees: Double) -> String {
    let count = Int(clamping: (degrees * 100).rounded())
    let digits = String(count.magnitude % 100)
    return (count < 0 ? "-" : "") + "\(count.magnitude / 100)." + (digits.count < 2 ? "0" : "") + digits
  }
}

extension StationPosition {
  /// The place of the antenna's reference point; nil for coordinates that are not on the earth.
  package var geodetic: GeodeticPosition? {
    GeodeticPosition(earthCentredMetres: SIMD3(Double(x), Double(y), Double(z)) / 10_000)
  }
}
