// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// A measurement of a vehicle's odometer, for a dead reckoning receiver: UBX-ESF-MEAS.
///
/// Source: integration manuals of ZED-F9R and ZED-F9K, "Odometer" and "Definition of data types"; the time tag has a resolution of 1 ms,
/// like the time tag of the receiver's own inertial sensor.
public struct OdometerMeasurement: Sendable, Equatable {
  /// The reason why a measurement is not sent.
  public enum Refusal: Error, Equatable, Sendable {
    /// There is neither a speed nor a tick count.
    case empty
    /// A name that no measurement has.
    case unknown(String)
    /// A value is not a number, or out of range.
    case outOfRange(String)

    public var text: String {
      switch self {
      case .empty: "has neither a speed nor ticks"
      case .unknown(let name): "`\(name)` is unknown; names are \(OdometerMeasurement.names.joined(separator: ", "))"
      case .outOfRange(let name): "`\(name)` is not a number of its range"
      }
    }
  }

  /// The data types of ticks, and their names: absolute counts that increase in both directions.
  private static let tickTypes: [(name: String, type: UInt32)] = [
    ("frontLeft", 6), ("frontRight", 7), ("rearLeft", 8), ("rearRight", 9), ("ticks", 10),
  ]
  private static let speedType: UInt32 = 11

  /// The names of the values: `speed` in metres a second, negative backwards; the five tick counts, of which the lower 23 bits are sent;
  /// `backward`, 1 for ticks of a vehicle that moves backwards; `milliseconds`, the time of the measurement at any clock.
  public static let names = ["speed"] + tickTypes.map(\.name) + ["backward", "milliseconds"]

  /// The fastest speed that fits into the 24 bits of the message.
  private static let fastest = 8388.0

  /// The words of the message: the value in bits 0 to 23, its type in bits 24 to 29.
  private var words: [UInt32] = []
  /// The time of the measurement; nil if the source has no clock.
  private var milliseconds: UInt32?

  /// - Parameters:
  ///   - names: the names of the source's values.
  ///   - value: returns a value by its name; nil without one.
  public init(_ names: some Sequence<String>, _ value: (String) -> Double?) throws(Refusal) {
    for name in names where !Self.names.contains(name) { throw .unknown(String(name.prefix(40))) }
    let given = Set(names)
    func number(_ name: String, _ range: ClosedRange<Double>, isWhole: Bool) throws(Refusal) -> Double? {
      guard given.contains(name) else { return nil }
      guard let number = value(name), range.contains(number), !isWhole || number == number.rounded() else {
        throw .outOfRange(name)
      }
      return number
    }
    let isBackward = try number("backward", 0...1, isWhole: true) == 1
    for (name, type) in Self.tickTypes {
      guard let ticks = try number(name, 0...0x1p53, isWhole: true) else { continue }
      let count = UInt32(truncatingIfNeeded: UInt64(clamping: ticks)) & 0x7F_FFFF
      words.append(type << 24 | (isBackward ? 0x80_0000 : 0) | count)
    }
    if let speed = try number("speed", -Self.fastest...Self.fastest, isWhole: false) {
      let millimetres = UInt32(bitPattern: Int32(clamping: (speed * 1000).rounded()))
      words.append(Self.speedType << 24 | millimetres & 0xFF_FFFF)
    }
    if words.isEmpty { throw .empty }
    milliseconds = try number("milliseconds", 0...0x1p53, isWhole: true).map {
      UInt32(truncatingIfNeeded: UInt64(clamping: $0))
    }
  }

  /// Returns the frame.
  ///
  /// - Parameter now: the time tag in milliseconds, if the source has no clock.
  public func frame(at now: UInt64) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: 8)
    payload.set(u4: milliseconds ?? UInt32(truncatingIfNeeded: now), at: 0)
    // The number of measurements, in bits 11 to 15.
    payload.set(u2: UInt16(truncatingIfNeeded: words.count << 11), at: 4)
    for word in words { payload.append(u4: word) }
    return frameBytes(EsfMEAS.identity, payload)
  }
}

/// Limits the measurements to those that a receiver needs: 10 Hz is recommended (integration manuals, "Odometer settings").
public struct OdometerPacing: Sendable {
  /// The shortest time between two measurements.
  public static let interval: UInt64 = 40

  private var last: UInt64?

  public init() {}

  /// Returns whether a measurement at this time in milliseconds is sent.
  public mutating func admits(at now: UInt64) -> Bool {
    if let last, now >= last, now - last < Self.interval { return false }
    last = now
    return true
  }
}

/// A signal in the frames of a CAN bus, in the notation of DBC files: `start|length@order sign (factor,offset)`, such as
/// `24|16@1+(0.01,0)`. Order 1 is Intel: the start is the least significant bit; 0 is Motorola: the start is the most significant one.
public struct CANSignal: Sendable, Equatable {
  private let start: Int
  private let length: Int
  private let isIntel: Bool
  private let isSigned: Bool
  private let factor: Double
  private let offset: Double

  /// Reads the notation; nil if it is malformed, or has bits outside of 8 bytes.
  public init?(_ text: String) {
    let text = text.filter { $0 != " " }
    let head = text.prefix { $0 != "(" }
    let places = head.split(separator: "@", omittingEmptySubsequences: false)
    guard places.count == 2, let sign = places[1].last, places[1].count == 2, "+-".contains(sign) else { return nil }
    let bits = places[0].split(separator: "|", omittingEmptySubsequences: false).compactMap { UInt8($0) }
    guard bits.count == 2, bits[0] < 64, (1...64).contains(bits[1]), "01".contains(places[1].first ?? " ") else {
      return nil
    }
    (start, length) = (Int(bits[0]), Int(bits[1]))
    (isIntel, isSigned) = (places[1].first == "1", sign == "-")
    let scale = text.dropFirst(head.count)
    if scale.isEmpty {
      (factor, offset) = (1, 0)
    } else {
      let numbers = scale.dropFirst().dropLast().split(separator: ",").compactMap { Double($0) }
      guard scale.hasSuffix(")"), numbers.count == 2, numbers.allSatisfy(\.isFinite), numbers[0] != 0 else {
        return nil
      }
      (factor, offset) = (numbers[0], numbers[1])
    }
    // In Motorola order the bits go to the right in a byte, and on to the next byte.
    let end = isIntel ? start + length : (start / 8) * 8 + (7 - start % 8) + length
    guard end <= 64 else { return nil }
  }

  /// The value in the data of a frame; nil if the frame is too short.
  public func value(in data: [UInt8]) -> Double? {
    var bits: UInt64 = 0
    for index in 0..<length {
      // The place of the bit from the most significant one on.
      let place = isIntel ? start + length - 1 - index : motorolaPlace(index)
      guard place / 8 < data.count else { return nil }
      bits = bits << 1 | UInt64(data[place / 8] >> UInt8(place % 8) & 1)
    }
    let isNegative = isSigned && bits >> UInt64(length - 1) == 1
    let number =
      isNegative ? Double(Int64(bitPattern: length == 64 ? bits : bits | ~0 << UInt64(length))) : Double(bits)
    return number * factor + offset
  }

  private func motorolaPlace(_ index: Int) -> Int {
    let fromLeft = (start / 8) * 8 + (7 - start % 8) + index
    return (fromLeft / 8) * 8 + 7 - fromLeft % 8
  }
}

/// A frame of SocketCAN, `struct can_frame` of linux/can.h: 16 bytes.
public struct CANFrame: Sendable, Equatable {
  /// 11 bits, or 29 with `isExtended`.
  public let id: UInt32
  public let isExtended: Bool
  public let data: [UInt8]

  public static let size = 16

  /// Reads a frame of this machine's byte order; nil for errors, remote requests and another size.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, bytes[4] <= 8 else { return nil }
    var word: UInt32 = 0
    unsafe withUnsafeMutableBytes(of: &word) { unsafe $0.copyBytes(from: bytes[..<4]) }
    // CAN_EFF_FLAG, CAN_RTR_FLAG and CAN_ERR_FLAG.
    guard word & 0x6000_0000 == 0 else { return nil }
    isExtended = word & 0x8000_0000 != 0
    id = word & (isExtended ? 0x1FFF_FFFF : 0x7FF)
    data = Array(bytes[8..<8 + Int(bytes[4])])
  }
}
