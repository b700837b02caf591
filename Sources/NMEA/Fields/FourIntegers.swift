// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Four adjacent whole numbers of up to three digits, such as the numbers of a satellite in GSV. Each may be absent.
/// Most of a receiver's output is lists of satellites, so the numbers are read four at a time.
public protocol FourIntegers: Equatable, Sendable {
  /// The numbers; `Int16.min` for an absent one.
  var numbers: SIMD4<Int16> { get set }
}

extension FourIntegers {
  /// The number at an index, 0…3; nil when it is absent. A number that does not fit in 16 bits becomes absent.
  @inlinable @inline(__always)
  subscript(place: Int) -> Int32? {
    get { raw(place) == .min ? nil : Int32(raw(place)) }
    set { numbers[place] = newValue.flatMap { Int16(exactly: $0) } ?? .min }
  }

  /// The number at an index, 0…3; `Int16.min` when it is absent.
  @inlinable @inline(__always)
  public func raw(_ place: Int) -> Int16 {
    Int16(truncatingIfNeeded: numbers.word &>> UInt64(truncatingIfNeeded: 16 &* place))
  }

  /// Four absent numbers.
  @inlinable @inline(__always)
  static var none: SIMD4<Int16> { SIMD4(repeating: .min) }
}

/// The names of four numbers, their ranges, and the minimum of digits that are written.
public struct FourRanges: Sendable {
  public var names: (StaticString, StaticString, StaticString, StaticString)
  public var lowest: SIMD4<Int16>
  public var highest: SIMD4<Int16>
  public var digits: SIMD4<Int16>

  @inlinable @inline(__always)
  init(
    _ names: (StaticString, StaticString, StaticString, StaticString), lowest: SIMD4<Int16>, highest: SIMD4<Int16>,
    digits: SIMD4<Int16>
  ) {
    self.names = names
    self.lowest = lowest
    self.highest = highest
    self.digits = digits
  }

  /// The range of the number at an index.
  @inlinable
  subscript(_ place: Int) -> ClosedRange<Int32> { Int32(lowest[place])...Int32(highest[place]) }

  @inlinable
  func digits(_ place: Int) -> Int { Int(digits[place]) }

  @inlinable
  func name(_ place: Int) -> StaticString {
    switch place {
    case 0: names.0
    case 1: names.1
    case 2: names.2
    default: names.3
    }
  }
}

/// The number of blocks in a sentence.
public enum BlockCount: Sendable {
  /// Always the maximum. Each number may be empty.
  case all
  /// The number of written blocks. A writer writes `have`.
  case asWritten(have: Int)
}
