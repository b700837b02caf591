// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Reads the fields of a sentence in their order.
///
/// A field that is empty, invalid or out of range is absent. Invalid and out-of-range fields are counted. The ends of
/// the fields are known for 64 characters at a time, so the position of a field does not depend on the fields before
/// it.
public struct FieldReader: FieldVisitor, ~Escapable {
  @usableFromInline let bytes: RawSpan
  /// The first character of the current field.
  @usableFromInline var start: Int
  /// The comma or `*` after the current field.
  @usableFromInline var end: Int
  /// The commas and the `*`: a bit for each character from `base` on, without the ones that the reader has passed.
  @usableFromInline var ends: UInt64
  /// The same for the next 64 characters, if they are among the first 128 of the sentence.
  @usableFromInline var laterEnds: UInt64
  /// `base` in the low 16 bits, `rejected` above. The compiler keeps a reader of more than seven words in memory
  /// instead of registers, because it calls a function at the end of its lifetime.
  @usableFromInline var counts: Int

  @inlinable var base: Int {
    @inline(__always) get { counts & 0xFFFF }
    @inline(__always) @_lifetime(self: copy self) set { counts = counts & ~0xFFFF | newValue }
  }

  /// The number of fields that were invalid or out of range.
  @inlinable public var rejected: Int {
    @inline(__always) get { counts &>> 16 }
    @inline(__always) @_lifetime(self: copy self) set { counts = newValue &<< 16 | base }
  }

  /// Starts before the comma at `offset`, the first of `ends`.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from offset: Int, ends: FieldEnds) {
    self.bytes = bytes
    self.start = offset
    self.end = offset
    self.counts = offset &+ 1
    // From the first field on, most sentences end within 64 characters.
    if counts < 64 {
      self.ends = ends.low &>> UInt64(counts) | ends.high &<< UInt64(64 &- counts)
      self.laterEnds = ends.high &>> UInt64(counts)
    } else {
      self.ends = 0
      self.laterEnds = 0
      (self.ends, self.base, _) = FieldReader.moreEnds(in: bytes, behind: offset &- 63, 0)
    }
  }

  /// The offset of the comma before the next field; of the `*` after the last field.
  @inlinable public var position: Int { end }

  /// Moves to the next field; false after the last one.
  @inlinable @inline(__always)
  mutating func enter() -> Bool {
    if ends == 0 {
      (ends, base, laterEnds) = FieldReader.moreEnds(in: bytes, behind: base, laterEnds)
      if ends == 0 { return false }
    }
    start = end &+ 1
    end = base &+ ends.trailingZeroBitCount
    ends &= ends &- 1
    return true
  }

  // The slow paths are static functions of values, so that the reader stays in registers.

  /// The ends after the 64 characters from `base` on, the new base, and the known ends after those; no ends at the end
  /// of the sentence.
  @inlinable @inline(never)
  static func moreEnds(
    in bytes: RawSpan, behind base: Int, _ laterEnds: UInt64
  ) -> (ends: UInt64, base: Int, laterEnds: UInt64) {
    if laterEnds != 0, bytes.byteCount <= 128 { return (laterEnds, base &+ 64, 0) }
    var base = base
    while base &+ 64 < bytes.byteCount {
      base &+= 64
      let ends = FieldEnds.among64(bytes, from: base)
      if ends != 0 { return (ends, base, 0) }
    }
    return (0, base, 0)
  }

  /// The length of the field.
  @inlinable @inline(__always)
  var length: Int { end &- start }

  /// Counts the field as rejected.
  @inlinable @inline(__always)
  mutating func reject() { rejected &+= 1 }

  /// The last eight characters up to the end of the field as a little-endian word. The characters before the field are
  /// in the low bytes. The address before the first field is long enough for that.
  @inlinable @inline(__always)
  var tail: UInt64 { bytes.littleEndian(end &- 8, as: UInt64.self) }

  /// All ones over the last `count` (1…8) bytes of a word.
  @inlinable @inline(__always)
  func last(_ count: Int) -> UInt64 { ~0 &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count) }

  // MARK: Numbers

  /// The decimal number of the field; nil if it is empty or invalid; invalid numbers are counted.
  @inlinable @inline(__always)
  mutating func number() -> FixedPoint? {
    let length = length
    if length == 0 { return nil }
    if length <= 8, end >= 8 {
      let region = last(length)
      let text = tail
      let point = Digits.places(of: UInt8(ascii: "."), in: text) & region
      if point == 0 {
        let values = Digits.values(text) & region
        if Digits.areDigits(values) { return FixedPoint(Int64(Digits.number(values))) }
      } else {
        let place = UInt64(point.trailingZeroBitCount &- 7)
        // The integer part is shifted by the position of the decimal point.
        let values = Digits.values(text) & region
        let above = values & (~0xFF &<< place)
        let below = (values & ~(~0 &<< place)) &<< 8
        if Digits.areDigits(above | below), length > 1 {
          return FixedPoint(
            Int64(Digits.number(above | below)), fractionDigits: UInt8(truncatingIfNeeded: (56 &- place) &>> 3))
        }
      }
    }
    let slow = FieldReader.slowNumber(bytes, start, end)
    rejected &+= slow.rejected
    return slow.value
  }

  /// The slow path for numbers with a sign, with spaces, or with more than eight characters: up to nineteen digits that
  /// fit in 64 bits.
  @inlinable @inline(never)
  static func slowNumber(_ bytes: RawSpan, _ start: Int, _ end: Int) -> (value: FixedPoint?, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0) }
    let isNegative = scan.current == UInt8(ascii: "-")
    if isNegative || scan.current == UInt8(ascii: "+") { scan.at &+= 1 }
    var mantissa: Int64 = 0
    let whole = scan.digits(&mantissa, most: 19)
    let places = scan.fraction(&mantissa)
    scan.skipSpaces()
    guard whole &+ places > 0, whole &+ places <= 19, scan.isAtEnd else { return (nil, 1) }
    // Nineteen digits are less than 2^64, so the wrapped number has their bits.
    guard UInt64(bitPattern: mantissa) < FixedPoint.tooLarge else { return (nil, 1) }
    return (FixedPoint(isNegative ? 0 &- mantissa : mantissa, fractionDigits: UInt8(places)), 0)
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    guard enter() else { return }
    value = number()
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func integer(
    _ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int
  ) {
    guard enter() else { return }
    // Up to four digits: the word that ends with the field. An empty field takes the same instructions and gives 0:
    // which fields are empty depends on the sky, so a branch would often be mispredicted.
    let length = length
    let word = bytes.littleEndian(max(end, 4) &- 4, as: UInt32.self)
    let inside = UInt32(truncatingIfNeeded: 0xFFFF_FFFF_0000_0000 &>> UInt64(truncatingIfNeeded: length &* 8))
    let digits = (word ^ 0x3030_3030) & inside
    let pairs = (digits &* 0x0A01) &>> 8 & 0x00FF_00FF
    let number = Int32(truncatingIfNeeded: (pairs &* 0x0064_0001) &>> 16)
    let areDigits = ((digits &+ 0x7676_7676) | digits) & 0x8080_8080 == 0
    if areDigits, length <= 4, length == 0 || range.contains(number) {
      value = length == 0 ? nil : number
      return
    }
    let slow = FieldReader.slowInteger(bytes, start, end, range)
    rejected &+= slow.rejected
    value = slow.value
  }

  @inlinable @inline(never)
  static func slowInteger(
    _ bytes: RawSpan, _ start: Int, _ end: Int, _ range: ClosedRange<Int32>
  ) -> (value: Int32?, rejected: Int) {
    let slow = slowNumber(bytes, start, end)
    guard let number = slow.value else { return (nil, slow.rejected) }
    // Some receivers write integers with a decimal point: 270.0 is 270.
    var whole = number.mantissa
    for _ in 0..<number.fractionDigits { whole /= 10 }
    guard whole >= Int64(range.lowerBound), whole <= Int64(range.upperBound) else { return (nil, 1) }
    return (Int32(truncatingIfNeeded: whole), 0)
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) {
    guard enter() else { return }
    // The identifiers of the standard have one digit.
    if length == 1, case let digit = hexValue(bytes.u1(start)), digit < 16 {
      value = Int32(digit)
    } else if length > 0 {
      let slow = FieldReader.slowHexadecimal(bytes, start, end)
      rejected &+= slow.rejected
      value = slow.value
    }
  }

  @inlinable @inline(never)
  static func slowHexadecimal(_ bytes: RawSpan, _ start: Int, _ end: Int) -> (value: Int32?, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0) }
    var bits: UInt32 = 0
    var count = 0
    while case let digit = hexValue(scan.current), digit < 16, count < 8 {
      bits = bits &<< 4 | UInt32(digit)
      count &+= 1
      scan.at &+= 1
    }
    scan.skipSpaces()
    return count > 0 && scan.isAtEnd ? (Int32(bitPattern: bits), 0) : (nil, 1)
  }

  // MARK: Characters

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    guard enter() else { return }
    if length == 1, case let character = bytes.u1(start), character != UInt8(ascii: " ") {
      value = character
    } else if length > 0 {
      let slow = FieldReader.slowCharacter(bytes, start, end)
      rejected &+= slow.rejected
      value = slow.value
    }
  }

  @inlinable @inline(never)
  static func slowCharacter(_ bytes: RawSpan, _ start: Int, _ end: Int) -> (value: UInt8?, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0) }
    let character = scan.current
    scan.at &+= 1
    scan.skipSpaces()
    return scan.isAtEnd ? (character, 0) : (nil, 1)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {
    _ = enter()
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    guard enter(), length > 0 else { return }
    value = FieldReader.shortText(bytes, start, end)
  }

  @usableFromInline @inline(never)
  static func shortText(_ bytes: RawSpan, _ start: Int, _ end: Int) -> ShortText {
    var text = ShortText()
    var characters = CodedCharacters(bytes.extracting(start..<end))
    while let character = characters.next() { text.append(character) }
    return text
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout TextRange?) {
    guard enter(), length > 0 else { return }
    value = TextRange(start..<end)
  }

  @inlinable
  @_lifetime(self: copy self)
  public mutating func remainder(_ name: StaticString, _ value: inout TextRange?) {
    guard enter() else { return }
    let first = start
    while enter() {}
    start = first
    if length > 0 { value = TextRange(start..<end) }
  }

  // MARK: Time

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    guard enter() else { return }
    let length = length
    if length == 0 { return }
    // hhmmss or hhmmss.ss…, up to eight digits after the decimal point.
    if length >= 6, length <= 15, start &+ 8 <= bytes.byteCount, end >= 8 {
      let text = bytes.littleEndian(start, as: UInt64.self)
      let clock = Digits.values(text) & 0xFFFF_FFFF_FFFF
      let isWhole = length == 6
      let hasPoint = text &>> 48 & 0xFF == UInt64(UInt8(ascii: "."))
      if Digits.areDigits(clock), isWhole || (hasPoint && length > 7) {
        let places = isWhole ? 0 : length &- 7
        let fraction = isWhole ? 0 : Digits.values(tail) & last(places)
        if Digits.areDigits(fraction) {
          let pairs = clock &* 10 &+ clock &>> 8
          value = FieldReader.time(
            hour: UInt8(truncatingIfNeeded: pairs), minute: UInt8(truncatingIfNeeded: pairs &>> 16),
            second: UInt8(truncatingIfNeeded: pairs &>> 32),
            nanosecond: Digits.number(fraction) &* Digits.powerOfTen(9 &- places), places: places)
          if value == nil { reject() }
          return
        }
      }
    }
    let slow = FieldReader.slowTime(bytes, start, end)
    rejected &+= slow.rejected
    value = slow.value
  }

  @inlinable @inline(__always)
  static func time(hour: UInt8, minute: UInt8, second: UInt8, nanosecond: UInt32, places: Int) -> TimeOfDay? {
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    return TimeOfDay(
      hour: hour, minute: minute, second: second, nanosecond: nanosecond,
      fractionDigits: UInt8(truncatingIfNeeded: places))
  }

  @inlinable @inline(never)
  static func slowTime(_ bytes: RawSpan, _ start: Int, _ end: Int) -> (value: TimeOfDay?, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0) }
    var clock: Int64 = 0
    guard scan.digits(&clock) == 6 else { return (nil, 1) }
    var fraction: Int64 = 0
    var places = scan.fraction(&fraction)
    scan.skipSpaces()
    guard scan.isAtEnd else { return (nil, 1) }
    while places > 9 {
      fraction /= 10
      places &-= 1
    }
    for _ in places..<9 { fraction &*= 10 }
    let time = time(
      hour: UInt8(truncatingIfNeeded: clock / 10000), minute: UInt8(truncatingIfNeeded: clock / 100 % 100),
      second: UInt8(truncatingIfNeeded: clock % 100), nanosecond: UInt32(truncatingIfNeeded: fraction), places: places)
    return (time, time == nil ? 1 : 0)
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    guard enter() else { return }
    if length == 0 { return }
    if length == 6, start &+ 8 <= bytes.byteCount {
      let digits = Digits.values(bytes.littleEndian(start, as: UInt64.self)) & 0xFFFF_FFFF_FFFF
      if Digits.areDigits(digits) {
        let pairs = digits &* 10 &+ digits &>> 8
        value = FieldReader.date(
          day: UInt8(truncatingIfNeeded: pairs), month: UInt8(truncatingIfNeeded: pairs &>> 16),
          year: UInt8(truncatingIfNeeded: pairs &>> 32))
        if value == nil { reject() }
        return
      }
    }
    let slow = FieldReader.slowDate(bytes, start, end)
    rejected &+= slow.rejected
    value = slow.value
  }

  @inlinable @inline(__always)
  static func date(day: UInt8, month: UInt8, year: UInt8) -> ShortDate? {
    let date = ShortDate(day: day, month: month, year: year)
    return isDay(day, ofMonth: month, year: date.fullYear) ? date : nil
  }

  @inlinable @inline(never)
  static func slowDate(_ bytes: RawSpan, _ start: Int, _ end: Int) -> (value: ShortDate?, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0) }
    var day: Int64 = 0
    let count = scan.digits(&day)
    scan.skipSpaces()
    guard count == 6, scan.isAtEnd else { return (nil, 1) }
    let date = date(
      day: UInt8(truncatingIfNeeded: day / 10000), month: UInt8(truncatingIfNeeded: day / 100 % 100),
      year: UInt8(truncatingIfNeeded: day % 100))
    return (date, date == nil ? 1 : 0)
  }

  // MARK: Places

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, degreeDigits: 2, degrees: 90, UInt8(ascii: "N"), UInt8(ascii: "S"))
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(&value, degreeDigits: 3, degrees: 180, UInt8(ascii: "E"), UInt8(ascii: "W"))
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func coordinate(
    _ value: inout Coordinate?, degreeDigits: Int, degrees most: Int64, _ positive: UInt8, _ negative: UInt8
  ) {
    guard enter() else { return }
    var wholeDigits = degreeDigits &+ 2
    let minutes = minutes(&wholeDigits, most)
    var hemisphere: UInt8?
    character("", &hemisphere)
    guard var minutes else { return }
    guard let hemisphere, hemisphere == positive || hemisphere == negative else { return reject() }
    // Some converters write a sign too. It must not contradict the character.
    if minutes.mantissa < 0 {
      guard hemisphere == negative else { return reject() }
      minutes.mantissa = 0 &- minutes.mantissa
    }
    value = Coordinate(
      minutes: minutes, hemisphere: hemisphere, wholeDigits: UInt8(truncatingIfNeeded: wholeDigits))
  }

  /// The field as minutes of arc: (d)ddmm.mmmmm. Negative if it has a minus sign.
  ///
  /// - Parameter wholeDigits: on input the digits before the decimal point in the standard's form; on return as
  ///   written.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func minutes(_ wholeDigits: inout Int, _ most: Int64) -> FixedPoint? {
    let length = length
    if length == 0 { return nil }
    let places = length &- wholeDigits &- 1
    if places >= 1, places <= 8, start &+ 8 <= bytes.byteCount, end >= 8 {
      let text = bytes.littleEndian(start, as: UInt64.self)
      let whole = Digits.values(text) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* wholeDigits)
      let fraction = Digits.values(tail) & last(places)
      let hasPoint = text &>> UInt64(8 &* wholeDigits) & 0xFF == UInt64(UInt8(ascii: "."))
      if hasPoint, Digits.areDigits(whole), Digits.areDigits(fraction) {
        let minutes = FieldReader.minutes(
          whole: Int64(Digits.number(whole)), fraction: Int64(Digits.number(fraction)),
          Int64(Digits.powerOfTen(places)), places, most)
        if minutes == nil { reject() }
        return minutes
      }
    }
    let slow = FieldReader.slowMinutes(bytes, start, end, most)
    rejected &+= slow.rejected
    wholeDigits = slow.wholeDigits
    return slow.value
  }

  @inlinable @inline(__always)
  static func minutes(whole: Int64, fraction: Int64, _ scale: Int64, _ places: Int, _ most: Int64) -> FixedPoint? {
    let degrees = whole / 100
    let inDegree = whole &- degrees &* 100
    let mantissa = (degrees &* 60 &+ inDegree) &* scale &+ fraction
    // Receivers that round write 60 minutes, and no fraction, for the next degree.
    guard inDegree < 60 || inDegree == 60 && fraction == 0, mantissa <= most &* 60 &* scale else { return nil }
    return FixedPoint(mantissa, fractionDigits: UInt8(truncatingIfNeeded: places))
  }

  @inlinable @inline(never)
  static func slowMinutes(
    _ bytes: RawSpan, _ start: Int, _ end: Int, _ most: Int64
  ) -> (value: FixedPoint?, wholeDigits: Int, rejected: Int) {
    var scan = CharacterScan(bytes, start, end)
    scan.skipSpaces()
    if scan.isAtEnd { return (nil, 0, 0) }
    let isNegative = scan.current == UInt8(ascii: "-")
    if isNegative || scan.current == UInt8(ascii: "+") { scan.at &+= 1 }
    var whole: Int64 = 0
    let wholeDigits = scan.digits(&whole)
    var fraction: Int64 = 0
    var places = scan.fraction(&fraction)
    scan.skipDigits()
    scan.skipSpaces()
    guard wholeDigits &+ places >= 1, wholeDigits <= 5, scan.isAtEnd else { return (nil, 0, 1) }
    while places > Int(Coordinate.mostFractionDigits) {
      fraction /= 10
      places &-= 1
    }
    var scale: Int64 = 1
    for _ in 0..<places { scale &*= 10 }
    guard var minutes = minutes(whole: whole, fraction: fraction, scale, places, most) else {
      return (nil, wholeDigits, 1)
    }
    if isNegative { minutes.mantissa = 0 &- minutes.mantissa }
    return (minutes, wholeDigits, 0)
  }

  // MARK: How many

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func blocks(of size: Int, have: Int, most: Int) -> Int {
    // Each field has its end.
    var fields = ends.nonzeroBitCount
    if base &+ 64 < bytes.byteCount { fields &+= FieldReader.countEnds(in: bytes, behind: base, laterEnds) }
    return min(most, fields / size)
  }

  @inlinable @inline(never)
  static func countEnds(in bytes: RawSpan, behind base: Int, _ laterEnds: UInt64) -> Int {
    if bytes.byteCount <= 128 { return laterEnds.nonzeroBitCount }
    var count = 0
    var next = base &+ 64
    while next < bytes.byteCount {
      count &+= FieldEnds.among64(bytes, from: next).nonzeroBitCount
      next &+= 64
    }
    return count
  }

  @inlinable
  #if SMALL_CODE
    @inline(never)
  #else
    @inline(__always)
  #endif
  @_lifetime(self: copy self)
  public mutating func hasMore(isPresent: Bool) -> Bool {
    if ends == 0 { (ends, base, laterEnds) = FieldReader.moreEnds(in: bytes, behind: base, laterEnds) }
    return ends != 0
  }
}

/// Reads a field character by character: the slow paths.
@usableFromInline
struct CharacterScan: ~Escapable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline var at: Int
  @usableFromInline let end: Int

  @inlinable
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ start: Int, _ end: Int) {
    self.bytes = bytes
    self.at = start
    self.end = end
  }

  @inlinable var isAtEnd: Bool { at >= end }
  /// The next character; a comma at the end.
  @inlinable var current: UInt8 { at < end ? bytes.u1(at) : UInt8(ascii: ",") }

  @inlinable
  mutating func skipSpaces() {
    while current == UInt8(ascii: " ") { at &+= 1 }
  }

  @inlinable
  mutating func skipDigits() {
    while current &- UInt8(ascii: "0") < 10 { at &+= 1 }
  }

  /// Reads up to `most` digits and returns their number.
  @inlinable
  @_lifetime(self: copy self)
  mutating func digits(_ value: inout Int64, most: Int = 18) -> Int {
    let start = at
    while case let digit = current &- UInt8(ascii: "0"), digit < 10, at &- start < most {
      value = value &* 10 &+ Int64(digit)
      at &+= 1
    }
    return at &- start
  }

  /// Reads the digits after a decimal point, if there is one, and returns their number.
  @inlinable
  @_lifetime(self: copy self)
  mutating func fraction(_ value: inout Int64) -> Int {
    guard current == UInt8(ascii: ".") else { return 0 }
    at &+= 1
    var fraction: Int64 = 0
    let count = digits(&fraction)
    for _ in 0..<count { value = value &* 10 }
    value = value &+ fraction
    return count
  }
}

/// Whether the day exists in the month (1…12) of the year, with Gregorian leap years.
@inlinable
public func isDay(_ day: UInt8, ofMonth month: UInt8, year: Int) -> Bool {
  guard day >= 1, month >= 1, month <= 12 else { return false }
  if day <= 28 { return true }
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let last: UInt8 = month == 2 ? (isLeap ? 29 : 28) : (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31)
  return day <= last
}
