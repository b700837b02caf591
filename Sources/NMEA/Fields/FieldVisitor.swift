// SPDX-License-Identifier: Apache-2.0

/// Visits the fields of a sentence in the order of the wire.
///
/// The fields of a sentence are declared once, in its `fields` function. A reader, a writer and a printer of names are
/// visitors of that declaration.
public protocol FieldVisitor: ~Copyable, ~Escapable {
  /// hhmmss or hhmmss.ss
  @_lifetime(self: copy self)
  mutating func time(_ name: StaticString, _ value: inout TimeOfDay?)
  /// ddmmyy
  @_lifetime(self: copy self)
  mutating func date(_ name: StaticString, _ value: inout ShortDate?)
  /// ddmm.mmmmm, N or S: two fields
  @_lifetime(self: copy self)
  mutating func latitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?)
  /// dddmm.mmmmm, E or W: two fields
  @_lifetime(self: copy self)
  mutating func longitude(_ name: StaticString, _ hemisphere: StaticString, _ value: inout Coordinate?)
  /// A decimal number
  @_lifetime(self: copy self)
  mutating func decimal(_ name: StaticString, _ value: inout FixedPoint?)
  /// A whole number within `range`. A writer writes at least `digits` digits, as the standard requires: readers that
  /// use fixed columns need the leading zeros
  @_lifetime(self: copy self)
  mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>, digits: Int)
  /// Adjacent whole numbers: the last `places` (0…4) of `head` within `headRanges`, then blocks of four within
  /// `ranges`. Returns the number of blocks
  @_lifetime(self: copy self)
  mutating func integers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int
  /// A whole number in hexadecimal; a writer writes at least `digits` digits
  @_lifetime(self: copy self)
  mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?, digits: Int)
  /// One character
  @_lifetime(self: copy self)
  mutating func character(_ name: StaticString, _ value: inout UInt8?)
  /// A constant character, such as a unit; empty when the field before it is absent
  @_lifetime(self: copy self)
  mutating func constant(_ name: StaticString, _ character: StaticString, isPresent: Bool)
  /// Up to fifteen characters
  @_lifetime(self: copy self)
  mutating func text(_ name: StaticString, _ value: inout ShortText?)
  /// Any number of characters. The value is their range in the sentence, so nothing is copied
  @_lifetime(self: copy self)
  mutating func text(_ name: StaticString, _ value: inout TextRange?)
  /// A text that fills the rest of the sentence, with its commas.
  @_lifetime(self: copy self)
  mutating func remainder(_ name: StaticString, _ value: inout TextRange?)
  /// The next fields are `count` blocks of `size` fields, in every sentence
  @_lifetime(self: copy self)
  mutating func repeated(_ count: Int, of size: Int)
  /// The number of blocks of `size` fields that come next. A reader counts the fields and returns at most `most`; a
  /// writer returns `have`.
  @_lifetime(self: copy self)
  mutating func blocks(of size: Int, have: Int, most: Int) -> Int
  /// Whether another field follows that later versions of the standard added at the end. A writer writes it if
  /// `isPresent`.
  @_lifetime(self: copy self)
  mutating func hasMore(isPresent: Bool) -> Bool
}

extension FieldVisitor where Self: ~Copyable & ~Escapable {
  /// A whole number within `range`, with no more digits than it needs.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func integer(_ name: StaticString, _ value: inout Int32?, _ range: ClosedRange<Int32>) {
    integer(name, &value, range, digits: 1)
  }

  /// Visits the text as a field.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func remainder(_ name: StaticString, _ value: inout TextRange?) { text(name, &value) }

  /// A whole number in hexadecimal, with no more digits than it needs.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func hexadecimal(_ name: StaticString, _ value: inout Int32?) {
    hexadecimal(name, &value, digits: 1)
  }

  /// Visits the numbers one by one.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func integers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int {
    slowIntegers(&head, places: places, headRanges, &blocks, count, ranges)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func slowIntegers<Head: FourIntegers, Block: FourIntegers, let room: Int>(
    _ head: inout Head, places: Int, _ headRanges: FourRanges, _ blocks: inout InlineArray<room, Block>,
    _ count: BlockCount, _ ranges: FourRanges
  ) -> Int {
    for place in (4 &- places)..<4 {
      integer(headRanges.name(place), &head[place], headRanges[place], digits: headRanges.digits(place))
    }
    var present = room
    switch count {
    case .all: repeated(4 &* room, of: 1)
    case .asWritten(let have): present = self.blocks(of: 4, have: have, most: room)
    }
    for index in 0..<present {
      for place in 0..<4 {
        integer(ranges.name(place), &blocks[index][place], ranges[place], digits: ranges.digits(place))
      }
    }
    return present
  }

  /// Only visitors that display the blocks need it.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func repeated(_ count: Int, of size: Int) {}
}

/// The content of a sentence: a plain value. Each type declares its fields in `fields`.
public protocol SentenceContent: Sendable, Equatable {
  /// The formatter in the sentence's address.
  static var formatter: Formatter { get }
  /// The number in the first field, which distinguishes a manufacturer's sentences of one formatter; nil for a
  /// formatter with one sentence.
  static var messageNumber: Int32? { get }
  /// All fields absent.
  init()
  /// Visits the fields in order.
  mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ visitor: inout Visitor)
}

extension SentenceContent {
  @inlinable public static var messageNumber: Int32? { nil }
}

extension Sentence {
  /// The whole number in the first field, in decimal; nil if there is none. It distinguishes a manufacturer's
  /// sentences.
  @inlinable
  public var messageNumber: Int32? {
    var number: Int32?
    var reader = fields
    reader.integer("", &number, 0...9999)
    return number
  }

  /// The fields as `Content`; nil when the sentence has another formatter or message number. Fields that are empty,
  /// invalid or out of range are absent. The number of invalid and out-of-range fields is added to `rejected`.
  @inlinable
  public func content<Content: SentenceContent>(_: Content.Type, rejected: inout Int) -> Content? {
    guard formatter == Content.formatter else { return nil }
    if let number = Content.messageNumber, number != messageNumber { return nil }
    return decode(Content.self, rejected: &rejected)
  }

  /// The fields as `Content`, for any formatter.
  @inlinable @inline(never)
  public func decode<Content: SentenceContent>(_: Content.Type, rejected: inout Int) -> Content {
    decodeInline(Content.self, rejected: &rejected)
  }

  /// The fields as `Content`, inlined into the caller, for the most frequent sentences, so that their content stays in
  /// registers.
  @inlinable @inline(__always)
  public func decodeInline<Content: SentenceContent>(_: Content.Type, rejected: inout Int) -> Content {
    var content = Content()
    var reader = fields
    content.fields(&reader)
    rejected &+= reader.rejected
    return content
  }
}
