// SPDX-License-Identifier: Apache-2.0
import RTCM3
import WireBytes

import func Glibc.exp2
import func Glibc.sin

/// Encodes a solution as RTCM 3 messages of a base station (RTCM 10403.3): 1005, MSM4 and MSM7, 1230.
///
/// Ranges follow from the elevation of each satellite on a round earth, as in RXM-RAWX: of the right size and without an orbit
/// behind them.
struct CorrectionOutput {
  let solution: Solution
  /// The position of the base, once it is known.
  let base: TimeMode.Place?

  /// CFG-RTCM-DF003_OUT of u-blox, by default.
  private static let station: UInt64 = 0
  private static let lightMillisecond = 299_792.458
  /// The phase locks are this old, in the units of a table: the receiver has no loss of lock.
  private static let longestLock4: UInt64 = 15
  private static let longestLock7: UInt64 = 704

  /// The frame of a message number; nil for one that cannot be sent now.
  func frame(_ number: Int) -> [UInt8]? {
    switch number {
    case 1005: base.map { Self.framed(position($0)) }
    case 1033: Self.framed(equipment)
    case 1230: solution.hasTime ? Self.framed(biases) : nil
    default: observations(number).map(Self.framed)
    }
  }

  private func position(_ place: TimeMode.Place) -> [UInt8] {
    let centre = Earth.ecef(latitude: place.latitude, longitude: place.longitude, height: place.height)
    var bits = BitWriter()
    bits.add(1005, 12)
    bits.add(Self.station, 12)
    // The year of the reference frame; GPS, GLONASS, Galileo; a physical station.
    bits.add(0, 6)
    bits.add(0b1110, 4)
    bits.add(signed: Int64(nearest: centre.x * 10_000), 38)
    // One oscillator for all observations.
    bits.add(1, 1)
    bits.add(0, 1)
    bits.add(signed: Int64(nearest: centre.y * 10_000), 38)
    bits.add(0, 2)
    bits.add(signed: Int64(nearest: centre.z * 10_000), 38)
    return bits.bytes
  }

  /// The antenna and the receiver without names: lengths of zero.
  private var equipment: [UInt8] {
    var bits = BitWriter()
    bits.add(1033, 12)
    bits.add(Self.station, 12)
    // The descriptors and serial numbers of the antenna and the receiver; the third is the number of the antenna's set-up.
    for _ in 0..<6 { bits.add(0, 8) }
    return bits.bytes
  }

  /// GLONASS code and phase are aligned, without a bias of any signal.
  private var biases: [UInt8] {
    var bits = BitWriter()
    bits.add(1230, 12)
    bits.add(Self.station, 12)
    bits.add(1, 1)
    bits.add(0, 3)
    bits.add(0b1111, 4)
    for _ in 0..<4 { bits.add(0, 16) }
    return bits.bytes
  }

  /// The constellation of messages.
  private struct System {
    /// The number of u-blox.
    var gnss: UInt8
    /// The two signals by their numbers of DF395, 1…32, ascending.
    var signals: (Int, Int)
  }

  private static let systems: [Int: System] = [
    107: System(gnss: 0, signals: (2, 16)),
    108: System(gnss: 6, signals: (2, 8)),
    109: System(gnss: 2, signals: (2, 15)),
    112: System(gnss: 3, signals: (2, 14)),
  ]
  /// The last of them has the last observations of an epoch.
  private static let order = [107, 108, 109, 112]

  /// The epoch as the constellation counts it: DF004, DF248, DF034 with the day of the week, DF427.
  private func epoch(_ gnss: UInt8) -> UInt64 {
    let week: Int64 = 604_800_000
    let gps = Int64(solution.gps.millisecondOfWeek)
    switch gnss {
    case 3: return UInt64((gps + week - 14_000) % week)
    case 6:
      // Moscow's time, three hours before UTC; 1 January 1970 was a Thursday.
      let moscow = solution.utcMilliseconds + 3 * 3_600_000
      let day = (moscow / 86_400_000 + 4) % 7
      return UInt64(day) << 27 | UInt64(moscow % 86_400_000)
    default: return UInt64(gps)
    }
  }

  private func satellites(of gnss: UInt8) -> [SatelliteState] {
    solution.satellites.filter { $0.satellite.gnss == gnss && $0.signal > 0 }.sorted {
      $0.satellite.number < $1.satellite.number
    }
  }

  private func observations(_ number: Int) -> [UInt8]? {
    guard solution.hasTime, solution.hasFix, let system = Self.systems[number / 10], [4, 7].contains(number % 10) else {
      return nil
    }
    let isPrecise = number % 10 == 7
    let satellites = satellites(of: system.gnss)
    guard !satellites.isEmpty else { return nil }
    let later = Self.order.drop { $0 != number / 10 }.dropFirst()
    let hasMore = later.contains { !self.satellites(of: Self.systems[$0]?.gnss ?? 0).isEmpty }
    var bits = BitWriter()
    bits.add(UInt64(number), 12)
    bits.add(Self.station, 12)
    bits.add(epoch(system.gnss), 30)
    bits.add(hasMore ? 1 : 0, 1)
    bits.add(0, 3 + 7)
    // The clock is not steered, the internal clock, no smoothing.
    bits.add(0, 2 + 2 + 1 + 3)
    // Satellite 1 has the highest of 64 bits, signal 1 the highest of 32.
    for number in 1...64 as ClosedRange<UInt8> {
      bits.add(satellites.contains { $0.satellite.number == number } ? 1 : 0, 1)
    }
    for number in 1...32 { bits.add(number == system.signals.0 || number == system.signals.1 ? 1 : 0, 1) }
    for _ in satellites { bits.add(0b11, 2) }
    let ranges = satellites.map { Self.range($0) }
    // Rough ranges: whole milliseconds, and 1/1024 of these.
    let rough = ranges.map { ($0 * 1024).rounded() }
    let steps = rough.map { UInt64(clamping: $0) }
    for step in steps { bits.add(step / 1024, 8) }
    // The channel of a GLONASS satellite, plus 7.
    if isPrecise { for one in satellites { bits.add(system.gnss == 6 ? UInt64(one.satellite.number % 14) : 0, 4) } }
    for step in steps { bits.add(step % 1024, 10) }
    // The change of the range: satellites stand still for some seconds.
    if isPrecise { for _ in satellites { bits.add(signed: 0, 14) } }
    var fine: [Double] = []
    for (range, step) in zip(ranges, rough) { fine += [Double](repeating: range - step / 1024, count: 2) }
    let code: Double = exp2(isPrecise ? 29 : 24)
    let phase: Double = exp2(isPrecise ? 31 : 29)
    for part in fine { bits.add(signed: Int64(nearest: part * code), isPrecise ? 20 : 15) }
    for part in fine { bits.add(signed: Int64(nearest: part * phase), isPrecise ? 24 : 22) }
    for _ in fine { bits.add(isPrecise ? Self.longestLock7 : Self.longestLock4, isPrecise ? 10 : 4) }
    // The half cycle is resolved.
    for _ in fine { bits.add(0, 1) }
    for one in satellites {
      for loss in [0, 3] {
        let signal = UInt64(max(1, one.signal - loss))
        bits.add(isPrecise ? signal << 4 : signal, isPrecise ? 10 : 6)
      }
    }
    if isPrecise { for _ in fine { bits.add(signed: 0, 15) } }
    return bits.bytes
  }

  /// The range of a satellite in light milliseconds.
  private static func range(_ state: SatelliteState) -> Double {
    let (radius, height) = (6_371_000.0, 20_200_000.0)
    let up = radius * sin(state.satellite.elevationDegrees * .pi / 180)
    return ((up * up + height * (2 * radius + height)).squareRoot() - up) / lightMillisecond
  }

  private static func framed(_ payload: [UInt8]) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: payload.count + RTCM3Frame.overhead)
    do {
      var elements = frame.mutableSpan
      // Safe: bytes have no invalid bit patterns.
      var span = unsafe elements.mutableBytes
      _ = encodeFrame(payload: payload.raw, into: &span)
    }
    return frame
  }
}

/// Bits, the most significant one of each number first.
private struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func add(_ value: UInt64, _ width: Int) {
    for bit in (0..<width).reversed() {
      if count % 8 == 0 { bytes += [0] }
      if bit < 64, value >> UInt64(bit) & 1 != 0 { bytes[bytes.count - 1] |= 0x80 >> UInt8(count % 8) }
      count += 1
    }
  }

  /// A number in two's complement.
  mutating func add(signed value: Int64, _ width: Int) { add(UInt64(bitPattern: value), width) }
}
