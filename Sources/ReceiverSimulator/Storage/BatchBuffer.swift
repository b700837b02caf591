// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// The epochs that a receiver stores while its host sleeps (interface descriptions, data batching).
struct BatchBuffer: Sendable {
  struct Entry: Sendable {
    var solution: Solution
    var keepsPVT: Bool
    var keepsOdometer: Bool
  }

  private(set) var entries: [Entry] = []
  private var first = 0
  /// The number of epochs that were overwritten, since the configuration of the buffer and since the last MON-BATCH.
  private(set) var dropsAll = 0
  private(set) var dropsSinceMonitor = 0
  /// The number of the next LOG-BATCH.
  private(set) var nextNumber: UInt16 = 0

  var count: Int { entries.count - first }

  /// Adds an epoch; a full buffer drops its oldest one.
  mutating func append(_ entry: Entry, size: Int) {
    if count >= size { lose(1) }
    entries.append(entry)
  }

  /// Drops the oldest epochs.
  mutating func lose(_ number: Int) {
    let number = min(number, count)
    first += number
    dropsAll += number
    dropsSinceMonitor += number
    compact()
  }

  /// Removes and returns the oldest epoch, with its number.
  mutating func take() -> (entry: Entry, number: UInt16)? {
    guard count > 0 else { return nil }
    let entry = entries[first]
    first += 1
    defer { nextNumber &+= 1 }
    compact()
    return (entry, nextNumber)
  }

  private mutating func compact() {
    if first > 512 || first == entries.count {
      entries.removeFirst(first)
      first = 0
    }
  }

  /// Clears the buffer after a new configuration or without a supply.
  mutating func clear() { self = BatchBuffer() }

  /// Encodes the fill level as MON-BATCH.
  mutating func monitor(_ writer: inout FrameWriter) -> [UInt8] {
    let (level, all, since, number) = (count, dropsAll, dropsSinceMonitor, nextNumber)
    dropsSinceMonitor = 0
    return writer.frame(20) { span in
      MonBATCH.encode(into: &span) { message in
        message.fillLevel(UInt16(clamping: level))
        message.dropsAll(UInt16(clamping: all))
        message.dropsSinceMon(UInt16(clamping: since))
        message.nextMsgCnt(number)
      }
    }
  }
}

extension BatchBuffer.Entry {
  /// Encodes the epoch as LOG-BATCH.
  func frame(number: UInt16, _ writer: inout FrameWriter) -> [UInt8] {
    writer.frame(108) { span in LogBATCH.encode(into: &span) { write(number, &$0) } }
  }

  private func write(_ number: UInt16, _ message: inout LogBATCH.Writer) {
    let civil = solution.civil
    message.contentValid((keepsPVT ? 1 : 0) | (keepsOdometer ? 2 : 0))
    message.msgCnt(number)
    message.year(UInt16(civil.year))
    message.month(UInt8(civil.month))
    message.day(UInt8(civil.day))
    message.hour(UInt8(civil.hour))
    message.min(UInt8(civil.minute))
    message.sec(UInt8(civil.second))
    message.fracSec(Int32(solution.millisecond) * 1_000_000)
    message.valid(solution.hasTime ? 3 : 0)
    message.flags(solution.powerSaveState << 2 | (solution.hasFix ? 1 : 0))
    message.hAcc(solution.hasFix ? UInt32(nearest: solution.horizontalMetres * 1000) : 0xFFFF_FFFF)
    if solution.hasFix {
      message.fixType(3)
      message.lon(Int32(nearest: solution.longitudeDegrees * 1e7))
      message.lat(Int32(nearest: solution.latitudeDegrees * 1e7))
      message.height(Int32(nearest: (solution.altitudeMetres + Solution.geoidSeparation) * 1000))
      message.gSpeed(Int32(nearest: solution.speed * 1000))
      message.headMot(Int32(nearest: degreesOfCourse(solution) * 1e5))
    }
    if keepsPVT { writePVT(&message) }
    if keepsOdometer {
      message.distance(UInt32(nearest: solution.odometerMetres.rounded(.down)))
      message.totalDistance(UInt32(nearest: solution.totalMetres.rounded(.down)))
      message.distanceStd(UInt32(nearest: (solution.odometerMetres / 100).rounded(.down)))
    }
  }

  private func writePVT(_ message: inout LogBATCH.Writer) {
    message.iTOW(solution.gps.millisecondOfWeek)
    message.tAcc(solution.hasFix ? 25 : 0xFFFF_FFFF)
    message.vAcc(solution.hasFix ? UInt32(nearest: solution.verticalMetres * 1000) : 0xFFFF_FFFF)
    message.sAcc(solution.hasFix ? UInt32(nearest: solution.speedAccuracy * 1000) : 20_000)
    message.headAcc(courseAccuracyOf(solution))
    message.pDOP(UInt16(clamping: min(9999, (solution.pdop * 100).rounded())))
    guard solution.hasFix else { return }
    message.numSV(UInt8(solution.used))
    message.hMSL(Int32(nearest: solution.altitudeMetres * 1000))
    message.velN(Int32(nearest: solution.velocityNorth * 1000))
    message.velE(Int32(nearest: solution.velocityEast * 1000))
    message.velD(Int32(nearest: solution.velocityDown * 1000))
  }
}
