import WireBytes

/// Writes sentences: `$`, address, fields, checksum, CR LF.
public struct FieldWriter: FieldVisitor, ~Copyable, ~Escapable {
  @usableFromInline var output: MutableRawSpan
  /// Where the characters of `TextRange` fields stand.
  private let texts: RawSpan
  /// Bytes written so far.
  public private(set) var count = 0

  /// Starts a sentence at the start of `output`. Traps when the sentence does not fit.
  @_lifetime(copy output, copy texts)
  init(_ output: consuming MutableRawSpan, texts: RawSpan) {
    self.output = output
    self.texts = texts
  }

  @_lifetime(self: copy self)
  mutating func put(_ byte: UInt8) {
    output.setLittleEndian(byte, at: count)
    count += 1
  }

  @_lifetime(self: copy self)
  mutating func put(_ text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount { put(unsafe text.utf8Start[index]) }
  }

  /// A number with at least `width` digits.
  @_lifetime(self: copy self)
  mutating func put(_ number: UInt64, width: Int) {
    var scale: UInt64 = 1
    var length = 1
    while number / scale >= 10 || length < width {
      scale *= 10
      length += 1
    }
    while scale > 0 {
      put(UInt8(ascii: "0") + UInt8(number / scale % 10))
      scale /= 10
    }
  }

  @_lifetime(self: copy self)
  private mutating func putHex(_ digit: UInt8) {
    put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
  }

  private mutating func comma() { put(UInt8(ascii: ",")) }

  @_lifetime(self: copy self)
  mutating func start(_ talker: Talker, _ formatter: Formatter) {
    put(UInt8(ascii: "$"))
    put(UInt8(talker.code >> 8))
    if talker.code & 0xFF != 0 { put(UInt8(talker.code & 0xFF)) }
    for index in 0..<4 {
      let character = UInt8(truncatingIfNeeded: formatter.code >> UInt32(24 - 8 * index))
      if character != 0 { put(character) }
    }
  }

  mutating func finish() {
    var sum: UInt8 = 0
    for index in 1..<count { sum ^= output.bytes.u1(index) }
    put(UInt8(ascii: "*"))
    putHex(sum >> 4)
    putHex(sum & 15)
    put(13)
    put(10)
  }

  @_lifetime(self: copy self)
  public mutating func time(_ name: StaticString, _ value: inout TimeOfDay?) {
    comma()
    guard let value else { return }
    put(UInt64(value.hour), width: 2)
    put(UInt64(value.minute), width: 2)
    put(UInt64(value.second), width: 2)
    guard value.fractionDigits > 0 else { return }
    put(UInt8(ascii: "."))
    var fraction = UInt64(value.nanosecond)
    for _ in value.fractionDigits..<9 { fraction /= 10 }
    put(fraction, width: Int(value.fractionDigits))
  }

  @_lifetime(self: copy self)
  public mutating func date(_ name: StaticString, _ value: inout ShortDate?) {
    comma()
    guard let value else { return }
    put(UInt64(value.day), width: 2)
    put(UInt64(value.month), width: 2)
    put(UInt64(value.year), width: 2)
  }

  @_lifetime(self: copy self)
  public mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(value, degreeDigits: 2)
  }

  @_lifetime(self: copy self)
  public mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?) {
    coordinate(value, degreeDigits: 3)
  }

  @_lifetime(self: copy self)
  private mutating func coordinate(_ value: Coordinate?, degreeDigits: Int) {
    comma()
    guard let value else { return comma() }
    var scale: UInt64 = 1
    for _ in 0..<value.minutes.fractionDigits { scale *= 10 }
    let minutes = value.minutes.mantissa.magnitude
    put(minutes / (60 * scale), width: degreeDigits)
    put(minutes / scale % 60, width: 2)
    if value.minutes.fractionDigits > 0 {
      put(UInt8(ascii: "."))
      put(minutes % scale, width: Int(value.minutes.fractionDigits))
    }
    comma()
    put(value.hemisphere)
  }

  @_lifetime(self: copy self)
  public mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?) {
    comma()
    guard let value else { return }
    if value.mantissa < 0 { put(UInt8(ascii: "-")) }
    var scale: UInt64 = 1
    for _ in 0..<value.fractionDigits { scale *= 10 }
    put(value.mantissa.magnitude / scale, width: 1)
    if value.fractionDigits > 0 {
      put(UInt8(ascii: "."))
      put(value.mantissa.magnitude % scale, width: Int(value.fractionDigits))
    }
  }

  @_lifetime(self: copy self)
  public mutating func integer(
    _ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int
  ) {
    comma()
    guard let value else { return }
    if value < 0 { put(UInt8(ascii: "-")) }
    put(UInt64(value.magnitude), width: digits)
  }

  @_lifetime(self: copy self)
  public mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int) {
    comma()
    guard let value else { return }
    let bits = UInt32(bitPattern: value)
    var shift: UInt32 = 28
    while shift > 0, bits >> shift == 0, shift >= 4 * digits { shift -= 4 }
    while true {
      putHex(UInt8(bits >> shift & 15))
      if shift == 0 { return }
      shift -= 4
    }
  }

  @_lifetime(self: copy self)
  public mutating func character(_ name: StaticString, _ value: inout UInt8?) {
    comma()
    if let value { put(value) }
  }

  @_lifetime(self: copy self)
  public mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool) {
    comma()
    if isPresent { put(character) }
  }

  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout ShortText?) {
    comma()
    guard let value else { return }
    for index in 0..<Int(value.count) { put(value.characters[index]) }
  }

  @_lifetime(self: copy self)
  public mutating func text(_ name: StaticString, _ value: inout TextRange?) {
    comma()
    guard let value else { return }
    for offset in value.offsets { put(texts.u1(offset)) }
  }

  @_lifetime(self: copy self)
  public mutating func blocks(of size: Int, have: Int, most: Int) -> Int { min(have, most) }

  @_lifetime(self: copy self)
  public mutating func hasMore(isPresent: Bool) -> Bool { isPresent }
}

extension SentenceContent {
  /// Writes the sentence at the start of `output` and returns how many bytes it has, CR LF included. Traps when
  /// `output` is too short; `longestSentence` bytes are always enough.
  public func encode(talker: Talker, into output: inout MutableRawSpan) -> Int {
    encode(talker: talker, texts: RawSpan(), into: &output)
  }

  /// The same for a sentence that has text of any length: its `TextRange`s are places in `texts`.
  @_lifetime(output: copy output)
  public func encode(talker: Talker, texts: RawSpan, into output: inout MutableRawSpan) -> Int {
    var copy = self
    var writer = FieldWriter(output._mutatingExtracting(0..<output.byteCount), texts: texts)
    writer.start(talker, Self.formatter)
    copy.fields(&writer)
    writer.finish()
    return writer.count
  }
}
