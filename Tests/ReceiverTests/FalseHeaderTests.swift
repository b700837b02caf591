// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

@Suite("Bytes that look like the header of a frame")
struct FalseHeaderTests {
  private static let headers: [[UInt8]] = [
    [0xB5, 0x62, 0x01, 0x07, 0xE8, 0x03], [0xB5, 0x62, 0x0A, 0x04, 0xFF, 0x1F], [0xD3, 0x03, 0xFF],
  ]

  private func epoch(_ number: Int, _ period: Int) -> [UInt8] {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let milliseconds = number * period
    let time = "1011\(two(milliseconds / 1000)).\(two(milliseconds % 1000 / 10))"
    let place = "4717.11437,N,00833.91522,E"
    return Wire.nmea("GPRMC,\(time),A,\(place),5.0,77.5,091225,,,A")
      + Wire.nmea("GPGGA,\(time),\(place),1,08,1.0,499.6,M,48.0,M,,")
  }

  @Test("No fix is lost, and none is late by more than a second", arguments: headers, [1000, 200, 100])
  func delay(header: [UInt8], period: Int) {
    var listener = Listener(searchingFrom: nil, reference: nil, now: Instant(nanoseconds: 0))
    var now: UInt64 = 0
    var delays: [UInt64] = []
    func take(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
      guard !report.isUpdate, let time = report.fix.time else { return }
      let second = UInt64(time.nanosecondsOfDay / 1_000_000) - 36_660_000
      delays.append(now - 1000 - second)
    }
    let count = 4000 / period + 4
    for number in 0..<count {
      let at = UInt64(1000 + number * period)
      while let due = listener.deadline, due < Instant(nanoseconds: at * 1_000_000) {
        now = due.nanoseconds / 1_000_000
        _ = listener.wake(at: due, take)
      }
      now = at
      let bytes = (number == 3 ? header : []) + epoch(number, period)
      _ = unsafe listener.receive(bytes.span.bytes, at: Instant(nanoseconds: at * 1_000_000), take)
    }
    listener.finish(take)
    #expect(delays.count == count)
    #expect(delays.allSatisfy { $0 <= 1100 }, "\(delays)")
    if period == 1000 { #expect(delays.dropLast().allSatisfy { $0 <= 200 }, "\(delays)") }
  }

  @Test("A sentence in the payload of a frame that arrives in pieces is none")
  func payload() {
    let sentence = Wire.nmea("GPGGA,101112,4717.11437,N,00833.91522,E,1,08,1.0,499.6,M,48.0,M,,")
    let frame = Wire.ubx(0x21, 0x07, sentence + [UInt8](repeating: 0x41, count: 400))
    var listener = Listener(searchingFrom: nil, reference: nil, now: Instant(nanoseconds: 0))
    var reports = 0
    for (index, byte) in frame.enumerated() {
      let now = Instant(nanoseconds: UInt64(index + 1) * 1_042_000)
      let one = [byte]
      _ = unsafe listener.receive(one.span.bytes, at: now) { _, _ in reports += 1 }
    }
    listener.finish { _, _ in reports += 1 }
    let counters = listener.counters
    #expect(reports == 0 && counters.ubxFrames == 1 && counters.nmeaFrames == 0)
  }
}
