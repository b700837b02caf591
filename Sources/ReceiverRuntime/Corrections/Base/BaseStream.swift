// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// The bytes of a base station's receiver: its RTCM 3 frames, and how far its survey is. The value uses no clock.
package struct BaseStream: ~Copyable {
  /// The state of a survey.
  package struct Survey: Equatable, Sendable {
    /// The time for which the receiver has observed, seconds.
    package var seconds: Int
    /// The mean standard deviation of the position in space, metres; nil if the receiver does not report it.
    package var deviationMetres: Double?
    /// The number of positions in the mean.
    package var observations: Int
    /// Whether the position is accepted: the receiver is a base now.
    package var isValid: Bool

    package init(seconds: Int, deviationMetres: Double?, observations: Int, isValid: Bool) {
      self.seconds = seconds
      self.deviationMetres = deviationMetres
      self.observations = observations
      self.isValid = isValid
    }
  }

  package private(set) var station = CasterStation()
  /// The last report of the survey; nil before the first.
  package private(set) var survey: Survey?
  /// The position that the station sends; nil before its first 1005 or 1006.
  package private(set) var position: GeodeticPosition?

  /// Whether the last GGA shows a position that was given, or surveyed before: 7, manual input. Unicore's receivers have no other
  /// report of a survey.
  package private(set) var hasGivenPosition = false

  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()

  package init() {}

  /// Handles bytes of the receiver. Returns the whole RTCM 3 frames in them.
  package mutating func receive(_ bytes: RawSpan, at now: Instant) -> [UInt8] {
    var frames: [UInt8] = []
    var station = station
    var survey = survey
    var position = position
    var isFixed = hasGivenPosition
    func take(_ frame: borrowing Frame) {
      if let correction = frame.rtcm3 {
        frames += [UInt8](copying: correction.bytes)
        station.receive(correction)
        if let place = StationPosition(correction)?.geodetic { position = place }
      } else if let ubx = frame.ubx, let report = ubx.message(NavSVIN.self) {
        survey = Survey(
          seconds: Int(report.dur), deviationMetres: Double(report.meanAcc) / 10_000, observations: Int(report.obs),
          isValid: report.valid != 0)
      } else if let sentence = frame.nmea {
        if let report = Self.survey(sentence) { survey = report }
        var rejected = 0
        if let gga = sentence.content(GGA.self, rejected: &rejected) { isFixed = gga.quality == 7 }
      }
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    (self.station, self.survey, self.position) = (station, survey, position)
    hasGivenPosition = isFixed
    return frames
  }

  /// Discards what belongs to a receiver that was lost.
  package mutating func reset() {
    stream.reset()
    survey = nil
    position = nil
    hasGivenPosition = false
  }

  /// PQTMSVINSTATUS of Quectel: version, time of week, validity (2 is valid), two reserved fields, observations, duration, mean
  /// position, mean accuracy (as SparkFun's library reads it).
  private static func survey(_ sentence: borrowing Sentence) -> Survey? {
    let text = String(decoding: [UInt8](copying: sentence.bytes), as: UTF8.self)
    guard text.hasPrefix("$PQTMSVINSTATUS,") else { return nil }
    let fields = text.prefix { $0 != "*" }.split(separator: ",", omittingEmptySubsequences: false).dropFirst()
      .map(String.init)
    guard fields.count >= 11, let validity = Int(fields[2]), let observations = Int(fields[5]) else { return nil }
    return Survey(
      seconds: observations, deviationMetres: Double(fields[10]), observations: observations, isValid: validity == 2)
  }
}

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
