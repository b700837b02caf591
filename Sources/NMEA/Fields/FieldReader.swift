import WireBytes

/// Reads the fields of a sentence one after the other.
///
/// A field that is empty, cannot be read or is out of range is absent; what was there but could not be taken is counted.
public struct FieldReader: FieldVisitor, ~Escapable {
  @usableFromInline let bytes: RawSpan
  /// The comma before the next field, or the `*`.
  @usableFromInline var at: Int
  /// Fields that were there but could not be read or were out of range.
  public var rejected: Int

  /// Starts before the comma at `offset`.
  @inlinable
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, from offset: Int) {
    self.bytes = bytes
    self.at = offset
    self.rejected = 0
  }

  /// Steps behind the comma; false when there are no more fields.
  @inlinable @inline(__always)
  mutating func enter() -> Bool {
    guard at < bytes.byteCount, bytes.u1(at) == UInt8(ascii: ",") else { return false }
    at &+= 1
    return true
  }

  @inlinable @inline(__always)
  var current: UInt8 { at < bytes.byteCount ? bytes.u1(at) : UInt8(ascii: "*") }

  @inlinable @inline(__always)
  func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: "*") }

  /// Goes to the end of the field.
  @inlinable
  mutating func leave() {
    while !isEnd(current) { at &+= 1 }
  }

  /// Counts the field as one that could not be taken, and goes to its end.
  @inlinable
  mutating func reject() {
    rejected &+= 1
    leave()
  }

  @inlinable @inline(__always)
  mutating func skipSpaces() {
    while current == UInt8(ascii: " ") { at &+= 1 }
  }

  /// Up to eighteen digits; how many were read.
  @inlinable @inline(__always)
  mutating func digits(_ value: inout Int64) -> Int {
    let start = at
    while case let digit = current &- UInt8(ascii: "0"), digit < 10, at &- start < 18 {
      value = value &* 10 &+ Int64(digit)
      at &+= 1
    }
    return at &- start
  }

  /// The digits behind a point, if there is one.
  @inlinable @inline(__always)
  mutating func fraction(_ value: inout Int64) -> Int {
    guard current == UInt8(ascii: ".") else { return 0 }
    at &+= 1
    return digits(&value)
  }

  /// Whether the field ends here, spaces not counted.
  @inlinable @inline(__always)
  mutating func atEnd() -> Bool {
    skipSpaces()
    return isEnd(current)
  }

  /// A decimal number in the field; nil when it is empty or no number, which is counted.
  @inlinable @inline(__always)
  mutating func number() -> FixedPoint? {
    skipSpaces()
    if isEnd(current) { return nil }
    let isNegative = current == UInt8(ascii: "-")
    if isNegative || current == UInt8(ascii: "+") { at &+= 1 }
    var mantissa: Int64 = 0
    let whole = digits(&mantissa)
    let places = fraction(&mantissa)
    guard whole &+ places > 0, whole &+ places <= 18, atEnd() else {
      reject()
      return nil
    }
    return FixedPoint(isNegative ? 0 &- mantissa : mantissa, fractionDigits: UInt8(places))
  }

  @inlinable
  public mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    guard enter() else { return }
    value = number()
  }

  @inlinable
  public mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>) {
    guard enter(), let number = number() else { return }
    // Some receivers write whole numbers with a point: 270.0 is 270.
    var whole = number.mantissa
    for _ in 0 ..< number.fractionDigits { whole /= 10 }
    if whole >= Int64(range.lowerBound), whole <= Int64(range.upperBound) {
      value = Int32(truncatingIfNeeded: whole)
    } else {
      rejected &+= 1
    }
  }

  @inlinable
  public mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?) {
    guard enter() else { return }
    skipSpaces()
    if isEnd(current) { return }
    var bits: UInt32 = 0
    var count = 0
    while case let digit = hexValue(current), digit < 16, count < 8 {
      bits = bits << 4 | UInt32(digit)
      count &+= 1
      at &+= 1
    }
    if count > 0, atEnd() { value = Int32(bitPattern: bits) } else { reject() }
  }

  @inlinable
  public mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    guard enter() else { return }
    skipSpaces()
    if isEnd(current) { return }
    let character = current
    at &+= 1
    if atEnd() { value = character } else { reject() }
  }

  @inlinable
  public mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {
    guard enter() else { return }
    leave()
  }

  @inlinable
  public mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    guard enter(), !isEnd(current) else { return }
    var text = ShortText()
    while !isEnd(current) {
      text.append(current)
      at &+= 1
    }
    value = text
  }

  @inlinable
  public mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    guard enter() else { return }
    skipSpaces()
    if isEnd(current) { return }
    var clock: Int64 = 0
    guard digits(&clock) == 6 else { return reject() }
    var fractional: Int64 = 0
    var places = fraction(&fractional)
    guard atEnd() else { return reject() }
    while places > 9 {
      fractional /= 10
      places &-= 1
    }
    let hour = clock / 10000
    let minute = clock / 100 % 100
    let second = clock % 100
    guard hour < 24, minute < 60, second <= 60 else { return reject() }
    for _ in places ..< 9 { fractional &*= 10 }
    value = TimeOfDay(
      hour: UInt8(truncatingIfNeeded: hour), minute: UInt8(truncatingIfNeeded: minute),
      second: UInt8(truncatingIfNeeded: second), nanosecond: UInt32(truncatingIfNeeded: fractional),
      fractionDigits: UInt8(truncatingIfNeeded: places))
  }

  @inlinable
  public mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    guard enter() else { return }
    skipSpaces()
    if isEnd(current) { return }
    var day: Int64 = 0
    guard digits(&day) == 6, atEnd() else { return reject() }
    let date = ShortDate(
      day: UInt8(truncatingIfNeeded: day / 10000), month: UInt8(truncatingIfNeeded: day / 100 % 100),
      year: UInt8(truncatingIfNeeded: day % 100))
    guard isDay(date.day, ofMonth: date.month, year: date.fullYear) else {
      rejected &+= 1
      return
    }
    value = date
  }

  @inlinable
  public mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, degrees: 90, UInt8(ascii: "N"), UInt8(ascii: "S"))
  }

  @inlinable
  public mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, degrees: 180, UInt8(ascii: "E"), UInt8(ascii: "W"))
  }

  @inlinable @inline(__always)
  mutating func coordinate(_ value: inout Coordinate?, degrees most: Int64, _ positive: UInt8, _ negative: UInt8) {
    guard enter() else { return }
    skipSpaces()
    var minutes: FixedPoint?
    let isEmpty = isEnd(current)
    if !isEmpty {
      var whole: Int64 = 0
      let wholeDigits = digits(&whole)
      var fractional: Int64 = 0
      let places = fraction(&fractional)
      let inDegree = whole % 100
      if wholeDigits >= 1, wholeDigits <= 5, places <= 11, inDegree < 60, atEnd() {
        var scale: Int64 = 1
        for _ in 0 ..< places { scale &*= 10 }
        let mantissa = (whole / 100 &* 60 &+ inDegree) &* scale &+ fractional
        if mantissa <= most &* 60 &* scale { minutes = FixedPoint(mantissa, fractionDigits: UInt8(places)) }
      }
      if minutes == nil { reject() }
    }
    var letter: UInt8?
    character("", &letter)
    guard let minutes else { return }
    guard let letter, letter == positive || letter == negative else {
      rejected &+= 1
      return
    }
    value = Coordinate(minutes: minutes, hemisphere: letter)
  }

  @inlinable
  public mutating func blocks(of size: Int, have: Int, most: Int) -> Int {
    var commas = 0
    var position = at
    while position < bytes.byteCount, case let byte = bytes.u1(position), byte != UInt8(ascii: "*") {
      if byte == UInt8(ascii: ",") { commas &+= 1 }
      position &+= 1
    }
    return min(most, commas / size)
  }

  @inlinable
  public mutating func hasMore(isPresent: Bool) -> Bool { current == UInt8(ascii: ",") }
}

/// Whether a month of a year has the day: 1…12, leap years by the Gregorian rule.
@inlinable
public func isDay(_ day: UInt8, ofMonth month: UInt8, year: Int) -> Bool {
  guard day >= 1, month >= 1, month <= 12 else { return false }
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let last: UInt8 = month == 2 ? (isLeap ? 29 : 28) : (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31)
  return day <= last
}
