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

  private var stream = FrameStream()
  private var unfinished = UnfinishedFrame()

  package init() {}

  /// Handles bytes of the receiver. Returns the whole RTCM 3 frames in them.
  package mutating func receive(_ bytes: RawSpan, at now: Instant) -> [UInt8] {
    var frames: [UInt8] = []
    var station = station
    var survey = survey
    var position = position
    func take(_ frame: borrowing Frame) {
      if let correction = frame.rtcm3 {
        frames += [UInt8](copying: correction.bytes)
        station.receive(correction)
        if let place = StationPosition(correction)?.geodetic { position = place }
      } else if let ubx = frame.ubx, let report = ubx.message(NavSVIN.self) {
        survey = Survey(
          seconds: Int(report.dur), deviationMetres: Double(report.meanAcc) / 10_000, observations: Int(report.obs),
          isValid: report.valid != 0)
      } else if let sentence = frame.nmea, let report = Self.survey(sentence) {
        survey = report
      }
    }
    stream.receive(bytes, take)
    stream.skipFalseStarts(if: &unfinished, at: now.nanoseconds, take)
    (self.station, self.survey, self.position) = (station, survey, position)
    return frames
  }

  /// Discards what belongs to a receiver that was lost.
  package mutating func reset() {
    stream.reset()
    survey = nil
    position = nil
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
