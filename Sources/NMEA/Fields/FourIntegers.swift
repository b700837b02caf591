import WireBytes

/// Four whole numbers of up to three digits that stand side by side in a sentence, such as a satellite's of GSV, each of
/// which may be absent. Sentences that list satellites are most of what a receiver writes, so they are read four at a time.
public protocol FourIntegers: Equatable, Sendable {
  /// The numbers; `Int16.min` for one that is absent.
  var numbers: SIMD4<Int16> { get set }
}

extension FourIntegers {
  /// The number at a place, 0…3; nil when it is absent. One that has no place in 16 bits becomes absent.
  @inlinable @inline(__always)
  subscript(place: Int) -> Int32? {
    get { raw(place) == .min ? nil : Int32(raw(place)) }
    set { numbers[place] = newValue.flatMap { Int16(exactly: $0) } ?? .min }
  }

  /// The number at a place, 0…3; `Int16.min` when it is absent.
  @inlinable @inline(__always)
  public func raw(_ place: Int) -> Int16 {
    Int16(truncatingIfNeeded: numbers.word &>> UInt64(truncatingIfNeeded: 16 &* place))
  }

  /// Four absent numbers.
  @inlinable @inline(__always)
  static var none: SIMD4<Int16> { SIMD4(repeating: .min) }
}

/// The names of four numbers, what each may be, and how many digits it has at least when it is written.
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

  /// What the number at a place may be.
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

/// How many blocks of numbers a sentence has.
public enum BlockCount: Sendable {
  /// Always as many as there is room for, each number of which may be empty.
  case all
  /// As many as are written; a writer has so many.
  case asWritten(have: Int)
}
