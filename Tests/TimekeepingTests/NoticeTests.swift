// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

private func little(_ value: some FixedWidthInteger) -> [UInt8] {
  (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// NAV-TIMELS of interface descriptions.
private func timeLS(change: Int8, seconds: Int32, isValid: Bool = true) -> [UInt8] {
  var payload = little(UInt32(1000)) + [0, 0, 0, 0, 2, 18, 2, UInt8(bitPattern: change)] + little(seconds)
  payload += [0, 0, 0, 0, 0, 0, 0, isValid ? 3 : 1]
  return Wire.ubx(0x01, 0x26, payload)
}

/// TIM-TP.
private func timTP(tow: UInt32, error: Int32, flags: UInt8) -> [UInt8] {
  Wire.ubx(0x0D, 0x01, little(tow) + little(UInt32(0)) + little(error) + little(UInt16(2400)) + [flags, 0])
}

private func time(_ year: Int, _ month: Int, _ day: Int, _ seconds: Int64) -> UTCTime {
  UTCTime(day: Day(year: year, month: month, day: day)!, nanosecondsOfDay: seconds * World.second)
}

@Suite("Leap seconds and TIM-TP") struct NoticeTests {
  private static func events(_ bytes: [UInt8], utc: UTCTime?) -> [EpochReceipts.Event] {
    var receipts = EpochReceipts()
    return receipts.receive(bytes.raw, at: .zero, secondsPerByte: 0, utc: utc)
  }

  /// A reference that serves pulses around a time, with the samples and the true time of each.
  private static func serve(
    _ world: inout World, from start: Int64, seconds: Range<Int64>, _ events: [EpochReceipts.Event] = []
  ) {
    for event in events { world.reference.receive(event) }
    for index in seconds {
      world.pulse(at: start + index * World.second)
      world.epoch(of: start + index * World.second, delay: 70_000_000)
    }
  }

  @Test("a leap second of NAV-TIMELS is flagged on the day that it ends, and only then", arguments: [1, -1] as [Int8])
  func flag(_ change: Int8) {
    let now = time(2026, 12, 31, 43_200)
    let events = Self.events(timeLS(change: change, seconds: 43_200 + 18), utc: now)
    var world = World()
    Self.serve(&world, from: now.nanosecondsSince1970, seconds: 0..<10, events)
    #expect(world.samples.count > 10)
    for (sample, _) in world.samples { #expect(sample.leap == (change > 0 ? .insertion : .deletion)) }

    world = World()
    Self.serve(&world, from: time(2026, 12, 30, 43_200).nanosecondsSince1970, seconds: 0..<10, events)
    #expect(world.samples.count > 10 && world.samples.allSatisfy { $0.sample.leap == .none })
  }

  @Test("NAV-TIMELS without a future event, or with an invalid one, flags nothing")
  func noFlag() {
    let now = time(2026, 12, 31, 43_200)
    #expect(Self.events(timeLS(change: 1, seconds: -300_000_000), utc: now).isEmpty)
    #expect(Self.events(timeLS(change: 0, seconds: 43_218), utc: now).isEmpty)
    #expect(Self.events(timeLS(change: 1, seconds: 43_218, isValid: false), utc: now).isEmpty)
    #expect(Self.events(timeLS(change: 1, seconds: 43_218), utc: nil).isEmpty)
  }

  @Test("across an inserted and across a deleted second no sample has the wrong second, announced or not")
  func acrossLeap() {
    let midnight = time(2027, 1, 1, 0).nanosecondsSince1970
    for isInsertion in [true, false] {
      var world = World()
      if isInsertion { world.insertion = midnight } else { world.deletion = midnight - World.second }
      Self.serve(&world, from: midnight - 30 * World.second, seconds: 0..<60)
      #expect(world.pulseSamples.count > 40)
      for (sample, at) in world.samples {
        #expect(
          abs(sample.real.nanosecondsSince1970 - world.utc(at: at).nanosecondsSince1970) < World.second / 2,
          "\((at - midnight) / 1_000_000) ms from midnight")
      }
    }
  }

  @Test(
    "qErr of TIM-TP corrects the pulse of its second, in GPS' week and in UTC's, and no other",
    arguments: [0, 1] as [UInt8])
  func sawtooth(_ timeBase: UInt8) {
    var world = World()
    Self.serve(&world, from: World.start, seconds: 0..<10)
    let whole = World.start / World.second + 10
    let week = (whole - Day.gpsEpoch.since1970 * 86_400 + (timeBase == 0 ? 18 : 0)) % 604_800
    let notice = Self.events(timTP(tow: UInt32(week) * 1000, error: 7000, flags: timeBase | 2), utc: nil)
    Self.serve(&world, from: World.start, seconds: 10..<12, notice)
    let reals = world.pulseSamples.suffix(2).map { $0.sample.real.nanosecondsSince1970 % World.second }
    // The pulse is 7 ns early.
    #expect(reals == [World.second - 7, 0])
  }

  @Test("a pulse that TIM-TP reports as not locked is refused; an invalid qErr corrects nothing")
  func notLocked() {
    var world = World()
    Self.serve(&world, from: World.start, seconds: 0..<10)
    let before = world.pulseSamples.count
    Self.serve(&world, from: World.start, seconds: 10..<12, Self.events(timTP(tow: 0, error: 0, flags: 0x20), utc: nil))
    #expect(world.pulseSamples.count == before)
    let invalid = Self.events(timTP(tow: 0, error: 5000, flags: 0x10), utc: nil)
    #expect(invalid == [.pulse(.init(secondOfWeek: 0, isUTC: false, errorPicoseconds: nil, isLocked: true))])
  }
}

@Suite("Receipt of epochs") struct ReceiptTests {
  @Test("an epoch's receipt is the time of its first byte, from the line's rate")
  func firstByte() {
    var receipts = EpochReceipts()
    let utc = time(2026, 11, 24, 43_200)
    let sentences =
      Wire.nmea("GNRMC,120000.00,A,4809.86189,N,01136.34021,E,2.650,22.64,241126,,,A,V")
      + Wire.nmea("GNGGA,120000.00,4809.86189,N,01136.34021,E,1,05,0.65,510.6,M,45.6,M,,")
    let at = Instant(nanoseconds: 5_000_000_000)
    _ = receipts.receive(sentences.raw, at: at, secondsPerByte: 10.0 / 9600, utc: nil)
    let expected = at.moved(by: -Double(sentences.count) * 10 / 9600)
    #expect(receipts.firstByte(of: utc, leapSeconds: nil) == expected)
    #expect(receipts.firstByte(of: time(2026, 11, 24, 43_201), leapSeconds: nil) == nil)
  }

  @Test("an epoch of UBX is found by its time of week")
  func timeOfWeek() {
    var receipts = EpochReceipts()
    let utc = time(2026, 11, 24, 43_200)
    let week = (utc.nanosecondsSince1970 / World.second - Day.gpsEpoch.since1970 * 86_400 + 18) % 604_800
    let endOfEpoch = Wire.ubx(0x01, 0x61, little(UInt32(week) * 1000))
    _ = receipts.receive(endOfEpoch.raw, at: Instant(nanoseconds: 7), secondsPerByte: 0, utc: nil)
    // The messages of another second do not change it.
    _ = receipts.receive(endOfEpoch.raw, at: Instant(nanoseconds: 9), secondsPerByte: 0, utc: nil)
    #expect(receipts.firstByte(of: utc, leapSeconds: 18) == Instant(nanoseconds: 7))
    #expect(receipts.firstByte(of: utc, leapSeconds: 19) == nil)
  }
}

@Suite("Schedule of the clock") struct ScheduleTests {
  @Test("the policy's value is read and written")
  func policy() {
    for text in ["off", "continuous", "every 10 min"] {
      #expect(ClockPolicy(words: text.split(separator: " "))?.text == text)
    }
    for text in ["", "on", "every 0 min", "every 1441 min", "every 10", "every ten min", "continuous 1"] {
      #expect(ClockPolicy(words: text.split(separator: " ")) == nil)
    }
  }

  @Test("a periodic clock needs the receiver until it has its samples, and again after the interval")
  func periodic() {
    var schedule = ClockSchedule()
    #expect(!schedule.needsReceiver && schedule.deadline == nil)
    var now = Instant.zero
    schedule.set(.every(minutes: 10), at: now)
    for _ in 0..<ClockSchedule.samplesInPeriod {
      #expect(schedule.needsReceiver)
      now += Milliseconds(1000)
      schedule.sampled(counts: false, at: now)
      schedule.sampled(counts: true, at: now)
    }
    #expect(!schedule.needsReceiver)
    #expect(schedule.deadline == .zero + Milliseconds(600_000))
    schedule.wake(at: schedule.deadline!)
    #expect(schedule.needsReceiver)
  }

  @Test("a search for samples ends, and a continuous clock never rests")
  func search() {
    var schedule = ClockSchedule()
    schedule.set(.every(minutes: 10), at: .zero)
    schedule.wake(at: schedule.deadline!)
    #expect(!schedule.needsReceiver)
    schedule.set(.continuous, at: schedule.deadline!)
    for _ in 0..<100 { schedule.sampled(counts: true, at: .zero) }
    #expect(schedule.needsReceiver && schedule.deadline == nil)
    schedule.set(.off, at: .zero)
    #expect(!schedule.needsReceiver)
  }
}
