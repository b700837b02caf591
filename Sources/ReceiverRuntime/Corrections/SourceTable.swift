// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// The source table of a caster (RTCM 10410.1, "source table"): its mount points with RTCM 3, and the nearest of them.
///
///     STR;mount point;identifier;format;details;carrier;systems;network;country;latitude;longitude;NMEA;…
package struct SourceTable: Sendable {
  /// A mount point with RTCM 3.
  package struct Entry: Equatable, Sendable {
    package var mount: String
    /// Degrees.
    var latitude: Double
    var longitude: Double
    /// Whether the caster asks for the position of the client.
    package var needsPosition: Bool
  }

  private static let longestLine = 4096
  private static let mostEntries = 20_000

  private(set) var entries: [Entry] = []
  private var line: [UInt8] = []
  /// Whether its last line was received.
  package private(set) var isComplete = false

  package init() {}

  /// Handles bytes of the table.
  package mutating func receive(_ bytes: [UInt8]) {
    for byte in bytes where !isComplete {
      guard byte == 0x0A else {
        // The end of a line that is too long is ignored.
        if line.count < Self.longestLine { line.append(byte) }
        continue
      }
      endLine()
    }
  }

  /// Handles the end of the connection.
  package mutating func end() {
    if !line.isEmpty { endLine() }
    isComplete = true
  }

  private mutating func endLine() {
    let text = String(decoding: line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
    line = []
    if text.hasPrefix("ENDSOURCETABLE") { return isComplete = true }
    guard entries.count < Self.mostEntries, let entry = Self.entry(text) else { return }
    entries.append(entry)
  }

  /// Reads a line; nil for one that is not a mount point with RTCM 3 at a place.
  private static func entry(_ text: String) -> Entry? {
    let fields = text.split(separator: ";", omittingEmptySubsequences: false)
    guard fields.count >= 12, fields[0] == "STR", CorrectionSource.isMount(String(fields[1])) else { return nil }
    let format = fields[3].filter { $0 != " " }.uppercased()
    guard format.hasPrefix("RTCM3"), let latitude = Double(fields[9]), var longitude = Double(fields[10]) else {
      return nil
    }
    // Some casters count 0 to 360 degrees.
    if longitude > 180, longitude <= 360 { longitude -= 360 }
    guard -90...90 ~= latitude, -180...180 ~= longitude else { return nil }
    return Entry(mount: String(fields[1]), latitude: latitude, longitude: longitude, needsPosition: fields[11] == "1")
  }

  /// Returns the mount point to use, and its distance in metres: the nearest, or the only one.
  ///
  /// - Parameter fix: the place of the receiver.
  package func choice(for fix: Fix?) throws(NTRIPResponse.Refusal) -> (entry: Entry, metres: Double?) {
    guard let first = entries.first else {
      throw NTRIPResponse.Refusal(text: "has no mount point with RTCM 3 in its source table; name one")
    }
    if let latitude = fix?.latitudeDegrees, let longitude = fix?.longitudeDegrees,
      let nearest = nearest(latitude: latitude, longitude: longitude)
    {
      return nearest
    }
    guard entries.count == 1 else {
      throw NTRIPResponse.Refusal(
        text: "has several mount points, and the receiver has no position yet to choose one")
    }
    return (first, nil)
  }

  /// Returns the mount point that is the nearest to a place, and its distance in metres; nil without any. Of equally distant ones it
  /// is the first.
  package func nearest(latitude: Double, longitude: Double) -> (entry: Entry, metres: Double)? {
    let place = Self.place(latitude, longitude)
    let all = entries.map { (entry: $0, metres: place.distance(to: Self.place($0.latitude, $0.longitude))) }
    return all.min { $0.metres < $1.metres }
  }

  private static func place(_ latitude: Double, _ longitude: Double) -> GeodeticPosition {
    GeodeticPosition(latitudeDegrees: latitude, longitudeDegrees: longitude, heightMetres: 0)
  }
}
