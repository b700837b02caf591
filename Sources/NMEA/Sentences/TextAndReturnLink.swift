// SPDX-License-Identifier: Apache-2.0

/// TXT: a human-readable text. Several sentences form a long text.
public struct TXT: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x545854) }
  /// The number of sentences of the text.
  public var sentences: Int32?
  /// The number of this sentence, from 1.
  public var number: Int32?
  /// The kind of text; u-blox: 0 error, 1 warning, 2 notice, 7 user.
  public var identifier: Int32?
  /// The characters, with commas and codes as received.
  public var text: TextRange?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.integer("numMsg", &sentences, 0...99, digits: 2)
    v.integer("msgNum", &number, 0...99, digits: 2)
    v.integer("msgType", &identifier, 0...99, digits: 2)
    v.remainder("text", &text)
  }
}

/// RLM: the search and rescue service's message to a beacon (Galileo return link).
public struct RLM: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x524C4D) }
  /// The beacon's id, fifteen hexadecimal digits.
  public var beacon: ShortText?
  /// The time of its reception.
  public var time: TimeOfDay?
  /// Kind of message; 1 acknowledges the distress call.
  public var code: UInt8?
  /// Hexadecimal digits, in the encoding of the service.
  public var body: TextRange?

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.text("beacon", &beacon)
    v.time("time", &time)
    v.character("code", &code)
    v.text("body", &body)
  }
}
