// SPDX-License-Identifier: Apache-2.0
import UBX

/// The log in flash (interface descriptions, logging). Only an erasure clears it.
struct FlashLog: Sendable {
  enum Entry: Sendable {
    case position(Solution)
    case text([UInt8], secondsSince1970: Int64)

    var secondsSince1970: Int64 {
      switch self {
      case .position(let solution): solution.utcMilliseconds / 1000
      case .text(_, let seconds): seconds
      }
    }
  }

  private(set) var entries: [Entry] = []
  private(set) var isCreated = false
  private(set) var isCircular = false
  private(set) var maximumBytes: UInt32 = 0
  private var lastPosition: Solution?

  private static let capacityBytes: UInt32 = 1_500_000
  /// The typical size of a position in bytes (integration manuals, logging).
  private static let entryBytes = 11
  private static let circularOverhead: UInt32 = 40_000
  private static let linearOverhead: UInt32 = 8000

  /// LOG-CREATE; returns false if a log exists or the size does not fit.
  mutating func create(_ payload: [UInt8]) -> Bool {
    guard payload.count == 8, !isCreated, payload[3] <= 2 else { return false }
    let isCircular = payload[1] & 1 != 0
    let overhead = isCircular ? Self.circularOverhead : Self.linearOverhead
    let size =
      switch payload[3] {
      case 0: Self.capacityBytes - overhead
      case 1: 16_384 as UInt32
      default: payload.u4(4)
      }
    guard size > 0, size <= Self.capacityBytes - overhead else { return false }
    (isCreated, self.isCircular, maximumBytes) = (true, isCircular, size)
    return true
  }

  mutating func erase() { self = FlashLog() }

  /// Stores a fix if the filter accepts it: at most one a second, and with thresholds only a fix that exceeds one of
  /// them.
  mutating func record(_ solution: Solution, _ filter: Settings.LogFilter) {
    guard isCreated, filter.records, solution.hasFix else { return }
    if let last = lastPosition {
      let seconds = Int((solution.utcMilliseconds - last.utcMilliseconds) / 1000)
      let passes =
        filter.timeSeconds > 0 && seconds >= filter.timeSeconds
        || filter.speedMetresPerSecond > 0 && solution.speed > Double(filter.speedMetresPerSecond)
          && seconds >= filter.minimumSeconds
        || filter.distanceMetres > 0 && Self.metres(from: last, to: solution) > Double(filter.distanceMetres)
          && seconds >= filter.minimumSeconds
      let hasThreshold = filter.timeSeconds + filter.speedMetresPerSecond + filter.distanceMetres > 0
      guard seconds >= 1, !hasThreshold || passes else { return }
    }
    append(.position(solution))
    lastPosition = solution
  }

  private static func metres(from last: Solution, to solution: Solution) -> Double {
    let place = Place(latitudeDegrees: last.latitudeDegrees, longitudeDegrees: last.longitudeDegrees)
    return TangentPlane(at: place)
      .point(latitude: solution.latitudeDegrees, longitude: solution.longitudeDegrees)
      .distance(to: TangentPlane.Point(north: 0, east: 0))
  }

  mutating func append(_ entry: Entry) {
    guard isCreated else { return }
    let most = max(1, Int(maximumBytes) / Self.entryBytes)
    if entries.count >= most {
      guard isCircular else { return }
      entries.removeFirst(max(1, most / 16))
    }
    entries.append(entry)
  }

  /// The index of the first entry at or after a time.
  func index(atOrAfter seconds: Int64) -> Int? { entries.firstIndex { $0.secondsSince1970 >= seconds } }

  /// LOG-INFO.
  func info(isRecording: Bool, _ writer: inout FrameWriter) -> [UInt8] {
    let log = self
    return writer.frame(56) { span in LogINFO.encode(into: &span) { log.writeInfo(isRecording, &$0) } }
  }

  private func writeInfo(_ isRecording: Bool, _ message: inout LogINFO.Writer) {
    message.version(1)
    message.filestoreCapacity(Self.capacityBytes)
    message.currentMaxLogSize(maximumBytes)
    message.currentLogSize(UInt32(entries.count * Self.entryBytes))
    message.entryCount(UInt32(entries.count))
    message.status((isRecording && isCreated ? 1 << 3 : 0) | (isCreated ? 0 : 1 << 4) | (isCircular ? 1 << 5 : 0))
    guard let first = entries.first, let last = entries.last else { return }
    let oldest = CivilTime(secondsSince1970: first.secondsSince1970)
    message.oldestYear(UInt16(oldest.year))
    message.oldestMonth(UInt8(oldest.month))
    message.oldestDay(UInt8(oldest.day))
    message.oldestHour(UInt8(oldest.hour))
    message.oldestMinute(UInt8(oldest.minute))
    message.oldestSecond(UInt8(oldest.second))
    let newest = CivilTime(secondsSince1970: last.secondsSince1970)
    message.newestYear(UInt16(newest.year))
    message.newestMonth(UInt8(newest.month))
    message.newestDay(UInt8(newest.day))
    message.newestHour(UInt8(newest.hour))
    message.newestMinute(UInt8(newest.minute))
    message.newestSecond(UInt8(newest.second))
  }

  /// Encodes an entry as LOG-RETRIEVEPOS or LOG-RETRIEVESTRING.
  func frame(_ index: Int, _ writer: inout FrameWriter) -> [UInt8] {
    switch entries[index] {
    case .position(let solution):
      writer.frame(48) { span in LogRETRIEVEPOS.encode(into: &span) { Self.write(solution, index, &$0) } }
    case .text(let text, let seconds):
      frameBytes(MessageIdentity(0x21, 0x0D), Self.payload(text, seconds, index))
    }
  }

  /// Positions are stored with a coarse resolution: 1e-6 degrees, 0.1 m, 1 cm/s, 1 degree (integration manuals,
  /// logging).
  private static func write(_ solution: Solution, _ index: Int, _ message: inout LogRETRIEVEPOS.Writer) {
    let civil = solution.civil
    message.entryIndex(UInt32(index))
    message.lon(Int32(nearest: (solution.longitudeDegrees * 1e6).rounded() * 10))
    message.lat(Int32(nearest: (solution.latitudeDegrees * 1e6).rounded() * 10))
    message.hMSL(Int32(nearest: (solution.altitudeMetres * 10).rounded() * 100))
    message.hAcc(UInt32(nearest: (max(0.7, solution.horizontalMetres) * 1000).rounded(.down)))
    message.gSpeed(UInt32(nearest: (solution.speed * 100).rounded() * 10))
    message.heading(UInt32(nearest: degreesOfCourse(solution)) * 100_000)
    message.fixType(3)
    message.year(UInt16(civil.year))
    message.month(UInt8(civil.month))
    message.day(UInt8(civil.day))
    message.hour(UInt8(civil.hour))
    message.minute(UInt8(civil.minute))
    message.second(UInt8(civil.second))
    message.numSV(UInt8(solution.used))
  }

  private static func payload(_ text: [UInt8], _ seconds: Int64, _ index: Int) -> [UInt8] {
    let civil = CivilTime(secondsSince1970: seconds)
    var payload: [UInt8] = []
    payload.append(u4: UInt32(index))
    payload += [0, 0]
    payload.append(u2: UInt16(civil.year))
    payload += [UInt8(civil.month), UInt8(civil.day), UInt8(civil.hour), UInt8(civil.minute), UInt8(civil.second), 0]
    payload.append(u2: UInt16(text.count))
    return payload + text
  }
}
