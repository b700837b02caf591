// SPDX-License-Identifier: Apache-2.0

import NMEA
import Receiver
import ReceiverStream
import WireBytes

// The objects of gpsd_json(5) other than TPV and SKY.
extension JSONLine {
  /// A line for clients: gpsd's lines end with CR LF.
  static var forClients: JSONLine { JSONLine(lineEnd: .carriageReturnLineFeed) }

  /// The lines in the form in which they are sent.
  var served: [UInt8] { [UInt8](copying: bytes) }

  /// The range of the object of the last line, which begins at `start`, without the line end.
  func lastObject(from start: Int) -> Range<Int> { start..<bytes.byteCount - 2 }

  /// The range of the object of the last line, which begins at `start`; nil if it is the same as an earlier one, and the line is then
  /// discarded.
  mutating func newObject(from start: Int, after earlier: ArraySlice<UInt8>) -> Range<Int>? {
    let range = lastObject(from: start)
    guard !earlier.isEmpty, earlier.elementsEqual([UInt8](copying: bytes.extracting(range))) else { return range }
    removeLines(after: start)
    return nil
  }

  /// VERSION. The protocol is 3.14, as in gpsd 3.20 to 3.24.
  mutating func version(release: String) {
    beginObject()
    field("class", "VERSION")
    field("release", text: "sextantd \(release)")
    field("rev", text: release)
    field("proto_major", 3)
    field("proto_minor", 14)
    endObject()
    endLine()
  }

  /// DEVICE, without a line end; also used as an element of an array. A receiver that is not active has no time of
  /// activation; in an event it is 0.
  mutating func device(_ device: GPSDDevice, isEvent: Bool = false) {
    beginObject()
    field("class", "DEVICE")
    field("path", text: device.path)
    field("driver", text: device.driver.rawValue)
    if let software = device.version.first {
      let hardware = device.version.count > 1 ? ",HW \(device.version[1])" : ""
      field("subtype", text: Self.subtype("SW \(software)\(hardware)"))
      let rest = device.version.dropFirst(2)
      if !rest.isEmpty { field("subtype1", text: Self.subtype(rest.joined(separator: ","))) }
    }
    if let activated = device.activated {
      name("activated")
      put(raw: UInt8(ascii: "\""))
      timestamp(activated)
      put(raw: UInt8(ascii: "\""))
      // 1: the device has sent a satellite receiver's data; 4: RTCM 3.
      let flags = (device.driver != .unknown ? 1 : 0) | (device.hasSentCorrections ? 4 : 0)
      if flags > 0 { field("flags", flags) }
      field("native", device.isBinary ? 1 : 0)
    } else if isEvent {
      field("activated", 0)
    }
    // Also of a receiver that rests, or has no rate: clients expect them in each DEVICE.
    if let rate = device.bitsPerSecond { field("bps", Int64(rate)) }
    field("parity", "N")
    field("stopbits", 1)
    if device.activated != nil {
      field("cycle", Double(device.cycleMilliseconds ?? 1000) / 1000, digits: 3)
      field("mincycle", device.shortestCycleMilliseconds.map { Double($0) / 1000 }, digits: 3)
    }
    endObject()
  }

  /// The beginning of a text of at most 127 bytes: libgps refuses a line with a longer subtype (gps.h, `struct devconfig_t`).
  private static func subtype(_ text: String) -> String {
    var kept = text
    while kept.utf8.count > 127 { kept.removeLast() }
    return kept
  }

  mutating func watch(_ watch: WatchPolicy) {
    beginObject()
    field("class", "WATCH")
    field("enable", watch.isEnabled)
    field("json", watch.json)
    field("nmea", watch.nmea)
    field("raw", watch.raw.rawValue)
    field("scaled", watch.scaled)
    field("timing", watch.timing)
    field("split24", watch.split24)
    field("pps", watch.pps)
    if let device = watch.device { field("device", text: device) }
    if let remote = watch.remote { field("remote", text: remote) }
    if watch.accuracyMetres != nil || watch.intervalSeconds != nil {
      beginObject("sextant")
      field("accuracy", watch.accuracyMetres, digits: 3)
      field("interval", watch.intervalSeconds, digits: 3)
      endObject()
    }
    endObject()
    endLine()
  }

  /// Writes objects as an array. Empty ones are skipped.
  mutating func objects(_ key: StaticString, _ texts: [ArraySlice<UInt8>]) {
    beginArray(key)
    for text in texts where !text.isEmpty {
      nextElement()
      put(raw: text.span)
    }
    endArray()
  }

  /// Writes GST if the receiver sends the errors of latitude and longitude. Returns whether it does.
  ///
  /// - Parameter noise: the receiver's own sentence, which has the error ellipse too.
  mutating func gst(_ fix: Fix, _ noise: GST?, device: String) -> Bool {
    guard fix.hasPosition, fix.northAccuracyMetres != nil || fix.eastAccuracyMetres != nil else { return false }
    begin("GST", fix, device)
    field("rms", noise?.rangeRMS?.value, digits: 3)
    field("major", noise?.majorAxis?.value, digits: 3)
    field("minor", noise?.minorAxis?.value, digits: 3)
    field("orient", noise?.orientation?.value, digits: 3)
    field("lat", fix.northAccuracyMetres, digits: 3)
    field("lon", fix.eastAccuracyMetres, digits: 3)
    field("alt", fix.verticalAccuracyMetres, digits: 3)
    endObject()
    endLine()
    return true
  }

  /// Writes ATT if there is a heading. Returns whether there is.
  mutating func att(_ fix: Fix, _ attitude: FrameDetails.Attitude?, device: String) -> Bool {
    guard fix.headingDegrees != nil || fix.magneticHeadingDegrees != nil else { return false }
    begin("ATT", fix, device)
    field("heading", fix.headingDegrees, digits: 2)
    field("mheading", fix.magneticHeadingDegrees, digits: 2)
    field("pitch", attitude?.pitchDegrees, digits: 2)
    field("roll", attitude?.rollDegrees, digits: 2)
    endObject()
    endLine()
    return true
  }

  /// Writes TOFF: the time of the fix, and the computer's time at which it was received. Returns whether there is one.
  mutating func timeOffset(_ fix: Fix, received: UTCTime, device: String) -> Bool {
    guard let time = fix.time else { return false }
    timing("TOFF", real: time, clock: received, precision: nil, device: device)
    return true
  }

  /// TOFF, or PPS with NTP's precision.
  fileprivate mutating func timing(
    _ name: StaticString, real: UTCTime, clock: UTCTime, precision: Int8?, device: String
  ) {
    beginObject()
    field("class", name)
    field("device", text: device)
    field("real_sec", real.nanosecondsSince1970 / 1_000_000_000)
    field("real_nsec", real.nanosecondsSince1970 % 1_000_000_000)
    field("clock_sec", clock.nanosecondsSince1970 / 1_000_000_000)
    field("clock_nsec", clock.nanosecondsSince1970 % 1_000_000_000)
    if let precision { field("precision", Int(precision)) }
    endObject()
    endLine()
  }

  private mutating func begin(_ name: StaticString, _ fix: Fix, _ device: String) {
    beginObject()
    field("class", name)
    field("device", text: device)
    guard let time = fix.time else { return }
    self.name("time")
    put(raw: UInt8(ascii: "\""))
    timestamp(time)
    put(raw: UInt8(ascii: "\""))
  }
}

extension GPSDState {
  /// Returns a sample of the clock as TOFF (from messages) or as PPS; gpsd_json(5), sections "TOFF" and "PPS".
  package static func text(of sample: TimeSample, device: String) -> [UInt8] {
    var line = JSONLine.forClients
    switch sample.source {
    case .messages: line.timing("TOFF", real: sample.real, clock: sample.system, precision: nil, device: device)
    case .pulse:
      line.timing("PPS", real: sample.real, clock: sample.system, precision: sample.precision, device: device)
    }
    return line.served
  }
}

/// A receiver in the form of DEVICE; gpsd_json(5), section "DEVICE".
package struct GPSDDevice: Equatable, Sendable {
  package enum Driver: String, Sendable {
    case uBlox = "u-blox"
    case nmea = "NMEA0183"
    /// Clients expect a driver even before a valid message.
    case unknown = "Unknown"
  }

  /// The node, or the name of a simulator.
  package var path: String
  /// The number of the receiver, which it keeps.
  package var number: Int
  /// Whether it is open and not asleep.
  package var isActive: Bool
  package var driver: Driver
  /// Whether it sends its binary protocol.
  package var isBinary = false
  /// Whether it has sent RTCM 3.
  package var hasSentCorrections = false
  /// The strings of MON-VER: software, hardware, and the rest.
  package var version: [String]
  package var bitsPerSecond: UInt32?
  /// The time between two epochs at full rate, in milliseconds; nil for the default of one second.
  package var cycleMilliseconds: UInt16?
  /// The shortest one, in milliseconds; nil for a receiver whose rate cannot be changed.
  package var shortestCycleMilliseconds: UInt16?
  /// The time at which it became active.
  package var activated: UTCTime?

  package init(
    path: String, number: Int = 0, isActive: Bool, driver: Driver = .unknown, version: [String] = [],
    bitsPerSecond: UInt32? = nil, cycleMilliseconds: UInt16? = nil, shortestCycleMilliseconds: UInt16? = nil
  ) {
    self.path = path
    self.number = number
    self.isActive = isActive
    self.driver = driver
    self.version = version
    self.bitsPerSecond = bitsPerSecond
    self.cycleMilliseconds = cycleMilliseconds
    self.shortestCycleMilliseconds = shortestCycleMilliseconds
  }

  /// The same receiver after it was closed.
  var inactive: GPSDDevice {
    var device = self
    (device.isActive, device.activated) = (false, nil)
    return device
  }
}

/// The reports of one epoch for all clients, each a whole number of lines.
package struct EpochReports: Equatable, Sendable {
  /// The path of the receiver.
  package var device: String
  /// TPV, SKY, GST and ATT, if they are new.
  package var json: [UInt8] = []
  /// TOFF.
  package var timeOffset: [UInt8] = []
  /// Sentences that are made from the fix; empty if the receiver sends its own.
  package var nmea: [UInt8] = []

  package init(device: String, json: [UInt8] = [], timeOffset: [UInt8] = [], nmea: [UInt8] = []) {
    self.device = device
    self.json = json
    self.timeOffset = timeOffset
    self.nmea = nmea
  }
}

/// A report of a receiver other than its epochs: it was connected, removed, or identified, or sent a correction.
package struct DeviceReport: Equatable, Sendable {
  package var device: String
  package var json: [UInt8]

  package init(device: String, json: [UInt8]) {
    self.device = device
    self.json = json
  }
}
