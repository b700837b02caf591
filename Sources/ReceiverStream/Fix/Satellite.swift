// SPDX-License-Identifier: Apache-2.0

/// A satellite in view.
public struct Satellite: Equatable, Sendable {
  /// A satellite system, in UBX numbering (gnssId).
  public enum System: UInt8, Sendable {
    case gps, sbas, galileo, beiDou, imes, qzss, glonass, navIC, unknown

    /// The system of a number (gnssId).
    @inline(__always)
    init(numbering number: UInt8) {
      self =
        switch number {
        case 0: .gps
        case 1: .sbas
        case 2: .galileo
        case 3: .beiDou
        case 4: .imes
        case 5: .qzss
        case 6: .glonass
        case 7: .navIC
        default: .unknown
        }
    }
  }

  /// System, number, elevation and 0, a byte each; azimuth in two bytes; signal, and 1 when used: eight bytes that are
  /// stored and copied at once.
  var word: UInt64

  @inline(__always)
  init(word: UInt64) { self.word = word }

  public var system: System {
    get { System(numbering: byte(0)) }
    set { setByte(0, newValue.rawValue) }
  }
  /// The number within its system (UBX svId); 0 when unknown.
  public var number: UInt8 {
    get { byte(1) }
    set { setByte(1, newValue) }
  }
  /// Degrees above the horizon; `unknownAngle` when unknown.
  public var elevationDegrees: Int8 {
    get { Int8(bitPattern: byte(2)) }
    set { setByte(2, UInt8(bitPattern: newValue)) }
  }
  /// Degrees from true north; `unknownAngle` when unknown.
  public var azimuthDegrees: Int16 {
    get { Int16(truncatingIfNeeded: word &>> 32) }
    set { word = word & ~(0xFFFF &<< 32) | UInt64(UInt16(bitPattern: newValue)) &<< 32 }
  }
  /// Carrier-to-noise density ratio of the strongest signal, dBHz; 0 when not tracked.
  public var signalDecibelHertz: UInt8 {
    get { byte(6) }
    set { setByte(6, newValue) }
  }
  /// Whether the satellite is used in the solution.
  public var isUsed: Bool {
    get { word &>> 56 != 0 }
    set { setByte(7, newValue ? 1 : 0) }
  }

  @inline(__always)
  private func byte(_ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word &>> (8 &* place)) }

  @inline(__always)
  private mutating func setByte(_ place: UInt64, _ value: UInt8) {
    word = word & ~(0xFF &<< (8 &* place)) | UInt64(value) &<< (8 &* place)
  }

  public static var unknownAngle: Int8 { -128 }

  /// An elevation in degrees; `unknownAngle` when it is out of range.
  @inline(__always)
  static func elevation(_ degrees: Int16) -> Int8 {
    degrees.magnitude <= 90 ? Int8(truncatingIfNeeded: degrees) : unknownAngle
  }

  /// An azimuth in degrees, 360 as 0; `unknownAngle` when it is out of range.
  @inline(__always)
  static func azimuth(_ degrees: Int16) -> Int16 {
    // Two selections by value, without a branch.
    let turned = degrees == 360 ? 0 : degrees
    return UInt16(bitPattern: turned) < 360 ? turned : Int16(unknownAngle)
  }

  public init(
    system: System, number: UInt8, elevationDegrees: Int8 = Satellite.unknownAngle,
    azimuthDegrees: Int16 = Int16(Satellite.unknownAngle), signalDecibelHertz: UInt8 = 0, isUsed: Bool = false
  ) {
    let name = UInt64(system.rawValue) | UInt64(number) &<< 8
    let place = UInt64(UInt8(bitPattern: elevationDegrees)) &<< 16 | UInt64(UInt16(bitPattern: azimuthDegrees)) &<< 32
    word = name | place | UInt64(signalDecibelHertz) &<< 48 | (isUsed ? 1 : 0) &<< 56
  }
}
