// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import GPSD
import LinuxIO
import ReceiverStream
import WireBytes

/// Writes a line for each call of the delegate, as JSON or text.
final class Printer {
  private let isJSON: Bool
  /// Reused for each line.
  private var line = JSONLine()

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Prints a line. The text is created only if it is printed, because a description takes longer than a JSON line.
  func print(
    _ event: StaticString, _ words: @autoclosure () -> String = "", fields: (inout JSONLine) -> Void = { _ in }
  ) {
    guard isJSON else { return write("\(Self.text(of: Date())) \(event) \(words())\n") }
    line.removeAll()
    line.beginObject()
    line.field("event", event)
    Self.put("at", Date(), &line)
    fields(&line)
    line.endObject()
    line.endLine()
    write(line)
  }

  func print(_ locations: [CLLocation]) {
    print("didUpdateLocations", locations.map { Self.words($0.description, $0.timestamp) }.joined(separator: ", ")) {
      line in
      line.beginArray("locations")
      for location in locations { Self.put(location, &line) }
      line.endArray()
    }
  }

  func print(_ event: StaticString, _ error: (any Error)?, region: CLRegion? = nil) {
    let words = [region?.identifier, error?.localizedDescription].compactMap(\.self).joined(separator: ": ")
    print(event, words) { line in
      if let region { line.field("region", text: region.identifier) }
      if let error {
        line.field("code", (error as? CLError)?.code.rawValue ?? (error as NSError).code)
        line.field("message", text: error.localizedDescription)
      } else {
        line.name("code")
        line.null()
      }
    }
  }

  func print(_ event: StaticString, _ region: CLRegion, state: String? = nil) {
    print(event, [region.identifier, state].compactMap(\.self).joined(separator: ": ")) { line in
      line.field("region", text: region.identifier)
      if let state { line.field("state", text: state) }
    }
  }

  func print(_ visit: CLVisit) {
    print("didVisit", "\(visit.coordinate.latitude) \(visit.coordinate.longitude)") { line in
      Self.put("latitude", visit.coordinate.latitude, &line)
      Self.put("longitude", visit.coordinate.longitude, &line)
      Self.put("horizontalAccuracy", visit.horizontalAccuracy, &line)
      if visit.arrivalDate != .distantPast { Self.put("arrival", visit.arrivalDate, &line) }
      if visit.departureDate != .distantFuture { Self.put("departure", visit.departureDate, &line) }
    }
  }

  func print(_ heading: CLHeading) {
    print("didUpdateHeading", Self.words(heading.description, heading.timestamp)) { line in
      Self.put("timestamp", heading.timestamp, &line)
      Self.put("magneticHeading", heading.magneticHeading, &line)
      Self.put("trueHeading", heading.trueHeading, &line)
      Self.put("headingAccuracy", heading.headingAccuracy, &line)
    }
  }

  func print(_ beacons: [CLBeacon]) {
    print("didRange", beacons.map(\.description).joined(separator: ", ")) { line in
      line.beginArray("beacons")
      for beacon in beacons {
        line.beginObject()
        line.field("uuid", text: beacon.uuid.uuidString)
        line.field("major", beacon.major.intValue)
        line.field("minor", beacon.minor.intValue)
        line.field("proximity", text: Self.name(of: beacon.proximity))
        Self.put("accuracy", beacon.accuracy, &line)
        line.field("rssi", beacon.rssi)
        line.endObject()
      }
      line.endArray()
    }
  }

  private static func name(of proximity: CLProximity) -> String {
    switch proximity {
    case .immediate: "immediate"
    case .near: "near"
    case .far: "far"
    default: "unknown"
    }
  }

  private static func put(_ location: CLLocation, _ line: inout JSONLine) {
    line.beginObject()
    put("timestamp", location.timestamp, &line)
    put("latitude", location.coordinate.latitude, &line)
    put("longitude", location.coordinate.longitude, &line)
    put("altitude", location.altitude, &line)
    put("horizontalAccuracy", location.horizontalAccuracy, &line)
    put("verticalAccuracy", location.verticalAccuracy, &line)
    put("speed", location.speed, &line)
    put("course", location.course, &line)
    line.endObject()
  }

  private static func put(_ name: StaticString, _ value: Double, _ line: inout JSONLine) {
    line.field(name, value, digits: 9)
  }

  /// Writes a date in ISO 8601 to the millisecond, as in TPV. Foundation's style would take longer than the rest of a line.
  private static func put(_ name: StaticString, _ date: Date, _ line: inout JSONLine) {
    line.name(name)
    line.put(raw: UInt8(ascii: "\""))
    line.timestamp(UTCTime(nanosecondsSince1970: Int64(clamping: date.timeIntervalSince1970 * 1e9)))
    line.put(raw: UInt8(ascii: "\""))
  }

  /// Returns a description whose time, after the @, is in ISO 8601, like the time of the line.
  private static func words(_ description: String, _ time: Date) -> String {
    "\(description.components(separatedBy: " @ ")[0]) @ \(text(of: time))"
  }

  private static func text(of date: Date) -> String {
    date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  private func write(_ text: String) {
    unsafe write(Array(PrintedText.escaped(text, keepsLines: true).utf8).span.bytes)
  }

  private func write(_ line: borrowing JSONLine) { write(line.bytes) }

  private func write(_ bytes: RawSpan) {
    switch writeOut(bytes) {
    case .done: break
    // A reader such as `head` that ends early is not an error.
    case .unread: exit(0)
    case .failed(let reason):
      printNotice("standard output: \(reason); the locations cannot be written (is the disk full?)")
      exit(SystemExitCode.cannotCreate.rawValue)
    }
  }
}
