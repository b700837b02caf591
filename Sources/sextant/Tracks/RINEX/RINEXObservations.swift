// SPDX-License-Identifier: Apache-2.0
import RTCM3
import Receiver
import ReceiverStream
import UBX
import WireBytes

/// Collects the raw measurements of a recording, UBX-RXM-RAWX and RTCM 3 MSM4 to MSM7. ``RINEXObservationFile`` writes them.
///
/// A header has the codes of all signals, so that all observations are held until the end: about 60 bytes each.
package struct RINEXObservations {
  struct Epoch {
    var time: GPSTicks
    var range: Range<Int>
  }

  /// The greatest deviation of a phase in units of 0.004 cycles: RTKLIB leaves out the same ones.
  private static let worstPhaseDeviation = 5

  private(set) var observations: [RawObservation] = []
  private(set) var epochs: [Epoch] = []
  /// The channels of GLONASS satellites.
  private(set) var channels: [UInt8: Int] = [:]
  /// Earth-centred metres of the antenna: of the station, else of the first fix.
  private(set) var position: SIMD3<Double>?
  /// The receiver of the station: type, version and number.
  private(set) var receiver: (type: String, version: String, number: String)?
  private(set) var antenna: (type: String, number: String)?
  /// The station whose observations are collected: the first one.
  package private(set) var station: Int?
  /// Observations of other stations, and those without a date.
  package private(set) var otherStations = 0
  package private(set) var undated = 0

  private var continuity = PhaseContinuity()
  /// The last time that is known with its date.
  private var reference: GPSTicks?
  private var hasStationPosition = false
  private var isEpochOpen = false
  private let range: TimeRange
  /// A stated day takes precedence over the days of fixes: corrections and receiver can be of different days.
  private let isDateStated: Bool

  /// - Parameters:
  ///   - date: a day of the recording, for RTCM 3, whose times have no date; nil for the day of the fixes.
  ///   - station: the number of the reference station; nil for the first one.
  ///   - range: the times of the requested epochs.
  package init(date: Day?, station: Int? = nil, range: TimeRange = TimeRange()) {
    self.station = station
    self.range = range
    isDateStated = date != nil
    if let date { reference = GPSTicks(UTCTime(day: date, nanosecondsOfDay: UTCTime.nanosecondsPerDay / 2)) }
  }

  package var isEmpty: Bool { observations.isEmpty }

  // MARK: Inputs

  /// Takes a fix of the same recording, for the date and the position.
  package mutating func receive(_ fix: Fix) {
    // Sentences do not state whether leap seconds are known; the date is right where there is a position.
    if !isDateStated, let time = fix.time, fix.timeIsResolved || fix.source < .ubx && fix.hasPosition {
      reference = GPSTicks(time)
    }
    if position == nil, fix.hasPosition { position = fix.earthCentredMetres }
  }

  package mutating func receive(_ frame: borrowing Frame) {
    if let ubx = frame.ubx {
      if let message = ubx.message(RxmRAWX.self) { receive(message) }
    } else if let rtcm = frame.rtcm3 {
      receive(rtcm)
    }
  }

  private mutating func receive(_ message: borrowing RxmRAWX) {
    guard let time = GPSTicks(week: message.week, secondOfWeek: message.rcvTow) else { return }
    reference = time
    begin(time)
    isEpochOpen = false
    for index in 0..<message.measurementCount {
      let measurement = message.measurement(index)
      guard let satellite = RINEXSatellite(gnssId: measurement.gnssId, svId: measurement.svId),
        let signal = RINEXSignal(
          gnssId: measurement.gnssId, sigId: measurement.sigId, version: message.version)
      else { continue }
      if satellite.system == .glonass, measurement.freqId <= 13 {
        channels[satellite.number] = Int(measurement.freqId) - 7
      }
      var observation = RawObservation(satellite: satellite, signal: signal)
      if measurement.trkStat_prValid { observation.pseudorange = Self.valid(measurement.prMes) }
      if measurement.trkStat_cpValid, measurement.cpStdev_cpStd <= Self.worstPhaseDeviation {
        observation.phase = Self.valid(measurement.cpMes)
      }
      observation.doppler = measurement.doMes
      observation.strength = Float(measurement.cno)
      observation.lossOfLock = continuity.flags(
        observation, lock: Int(measurement.locktime), isHalfSubtracted: measurement.trkStat_subHalfCyc,
        isHalfResolved: measurement.trkStat_halfCyc)
      add(observation)
    }
  }

  private static func valid(_ value: Double) -> Double? { value.isFinite && abs(value) < 1e9 ? value : nil }

  private mutating func receive(_ frame: RTCM3Frame) {
    if let message = StationPosition(frame) {
      if chooseStation(message.stationID), !hasStationPosition, message.x != 0 || message.y != 0 || message.z != 0 {
        hasStationPosition = true
        position = SIMD3(Double(message.x), Double(message.y), Double(message.z)) * 0.0001
      }
      return
    }
    if let equipment = StationEquipment(frame) {
      guard chooseStation(equipment.stationID) else { return }
      antenna = (Self.text(equipment.antenna), Self.text(equipment.antennaSerial))
      if frame.messageNumber == 1033 {
        receiver = (
          Self.text(equipment.receiver), Self.text(equipment.firmware), Self.text(equipment.receiverSerial)
        )
      }
      return
    }
    guard let message = MSMObservations(frame, channels: channels) else { return }
    guard chooseStation(message.header.stationID) else { return otherStations += message.observations.count }
    channels.merge(message.channels) { $1 }
    guard let time = time(of: message.header) else { return undated += message.observations.count }
    reference = time
    if !isEpochOpen || epochs.last?.time != time { begin(time) }
    isEpochOpen = message.header.hasMore
    for index in message.observations.indices {
      var observation = message.observations[index]
      observation.lossOfLock = continuity.flags(
        observation, lock: message.locks[index].indicator, isHalfResolved: message.locks[index].isHalfResolved)
      add(observation)
    }
  }

  /// Chooses the first station. Returns whether this one is the chosen one.
  private mutating func chooseStation(_ number: Int) -> Bool {
    if station == nil { station = number }
    return station == number
  }

  private static func text(_ bytes: RawSpan) -> String {
    var text = ""
    for index in 0..<bytes.byteCount {
      let byte = bytes.u1(index)
      text.unicodeScalars.append(Unicode.Scalar(0x20..<0x7F ~= byte ? byte : UInt8(ascii: "?")))
    }
    return text
  }

  private func time(of header: MSMHeader) -> GPSTicks? {
    guard let reference else { return nil }
    let milliseconds = GPSTicks.second / 1000
    switch header.system {
    case .glonass:
      // The time of the day in Moscow, which is UTC + 3 h; the day follows from the reference.
      let day = 86_400 * GPSTicks.second
      let leap = Int64(LeapSeconds.on(reference.date.day)) * GPSTicks.second
      let ofDay = Int64(header.epoch & 0x7FF_FFFF) * milliseconds - 3 * 3600 * GPSTicks.second + leap
      return reference.nearest(ofDay, of: day)
    case .beiDou:
      return reference.nearest(Int64(header.epoch) * milliseconds + 14 * GPSTicks.second, of: GPSTicks.week)
    case .gps, .galileo, .sbas, .qzss, .navIC:
      return reference.nearest(Int64(header.epoch) * milliseconds, of: GPSTicks.week)
    }
  }

  // MARK: Epochs

  private mutating func begin(_ time: GPSTicks) {
    if epochs.last?.time == time { return }
    epochs.append(Epoch(time: time, range: observations.count..<observations.count))
  }

  private mutating func add(_ observation: RawObservation) {
    guard let last = epochs.indices.last, range.contains(epochs[last].time.utc) else { return }
    observations.append(observation)
    epochs[last].range = epochs[last].range.lowerBound..<observations.count
  }
}
