// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The layout of a message as data, for programs that treat all messages alike (names, JSON, tables, tests).
public struct MessageLayout: Sendable {
  /// The sender of a message.
  public enum Direction: Sendable {
    /// From the receiver.
    case output
    /// To the receiver.
    case input
    /// To the receiver, as a poll: an empty payload, or the fields that select a message.
    case poll
  }

  /// The condition that distinguishes layouts of the same class and id.
  public enum Condition: Sendable, Equatable {
    /// The payload has exactly this many bytes.
    case length(Int)
    /// The byte at this offset of the payload has this value: a version or a type.
    case byte(at: Int, is: UInt8)
  }

  /// The number of rounds of a group of fields.
  public enum Times: Sendable {
    /// The value of an earlier field, shifted right and masked.
    case field(StaticString, shift: UInt64, mask: UInt64)
    /// A constant of the interface description.
    case fixed(Int)
    /// Until the payload ends.
    case rest
  }

  /// A field, or fields that repeat.
  public enum Item: Sendable {
    case field(FieldLayout)
    /// `size` is the length of one round in bytes.
    case group(Times, size: Int, fields: [FieldLayout])
  }

  /// The interface description's name, such as `NAV-PVT`.
  public var name: StaticString
  public var identity: MessageIdentity
  public var directions: [Direction]
  /// The shortest payload in bytes.
  public var minimumLength: Int
  public var conditions: [Condition]
  /// The items in the order of the wire.
  public var items: [Item]

  /// Whether a payload has the length and the version bytes of this layout.
  public func fits(_ payload: RawSpan) -> Bool {
    guard payload.byteCount >= minimumLength else { return false }
    for condition in conditions {
      switch condition {
      case .length(let length): if payload.byteCount != length { return false }
      case .byte(let offset, let value):
        if offset >= payload.byteCount || payload.u1(offset) != value { return false }
      }
    }
    return true
  }

  /// The layouts of a class and id, in the order of their declaration.
  public static func candidates(for identity: MessageIdentity) -> ArraySlice<MessageLayout> {
    var low = all.startIndex
    var high = all.endIndex
    while low < high {
      let middle = (low + high) / 2
      if all[middle].identity.key < identity.key { low = middle + 1 } else { high = middle }
    }
    let rest = all[low...]
    return rest.prefix { $0.identity == identity }
  }

  /// The layout of a frame's payload. If several fit, it is the one that leaves the fewest bytes over, and of these the
  /// first in the order of declaration, for either direction. Nil when the class and id have no layout, or none fits.
  public static func of(_ frame: borrowing UBXFrame) -> MessageLayout? {
    let payload = frame.payload
    var best: MessageLayout?
    var bestLeft = Int.max
    for layout in candidates(for: frame.identity) where layout.fits(payload) {
      guard let used = layout.length(of: payload) else { continue }
      let left = payload.byteCount - used
      if left < bestLeft { (best, bestLeft) = (layout, left) }
    }
    return best
  }

  /// The number of bytes of `payload` that the layout covers; nil when the count of a group exceeds the payload.
  public func length(of payload: RawSpan) -> Int? {
    var cursor = FieldCursor(self)
    while let place = cursor.next(in: payload) {
      if place.offset + place.field.size(within: payload.byteCount - place.offset) > payload.byteCount { return nil }
    }
    return cursor.isComplete ? cursor.offset : nil
  }
}

/// A field of a layout.
public struct FieldLayout: Sendable {
  /// A wire type of the interface descriptions.
  public enum WireType: Sendable {
    case u1, u2, u3, u4, u8
    case i1, i2, i3, i4, i8
    case x1, x2, x3, x4, x8
    case e1, e2, e4
    /// A logical value, 0 or 1.
    case l
    case r4, r8
    case ch

    /// The length of one value in bytes.
    public var size: Int {
      switch self {
      case .u1, .i1, .x1, .e1, .l, .ch: 1
      case .u2, .i2, .x2, .e2: 2
      case .u3, .i3, .x3: 3
      case .u4, .i4, .x4, .e4, .r4: 4
      case .u8, .i8, .x8, .r8: 8
      }
    }
  }

  /// The factor between a value on the wire and the field's unit.
  public enum Scale: Sendable, Equatable {
    case one
    /// 10 to the power of minus `digits`: the product is exact in decimal.
    case decimal(digits: Int)
    case factor(Double)
  }

  /// The interface description's name.
  public var name: StaticString
  public var type: WireType
  /// The number of values; 0 for as many as the payload has room for.
  public var count: Int
  /// Whether the field is written with a count, even if it is 1.
  public var isArray: Bool
  public var scale: Scale
  /// The unit as the interface description writes it; empty for none.
  public var unit: StaticString

  public init(
    _ name: StaticString, _ type: WireType, _ count: Int, isArray: Bool, _ scale: Scale, _ unit: StaticString
  ) {
    self.name = name
    self.type = type
    self.count = count
    self.isArray = isArray
    self.scale = scale
    self.unit = unit
  }

  /// The length of the field in bytes when `room` bytes are left in the payload.
  public func size(within room: Int) -> Int { type.size * values(within: room) }

  /// The number of values when `room` bytes are left in the payload.
  public func values(within room: Int) -> Int { count == 0 ? max(0, room) / type.size : count }

  /// Whether the field's name marks it as reserved.
  public var isReserved: Bool { name.hasPrefix("reserved") }
}

extension StaticString {
  /// Whether the text begins with `prefix`. `unsafe`: reads the bytes of static strings. They exist as long as the
  /// program.
  func hasPrefix(_ prefix: StaticString) -> Bool {
    guard utf8CodeUnitCount >= prefix.utf8CodeUnitCount else { return false }
    for index in 0..<prefix.utf8CodeUnitCount
    where unsafe utf8Start[index] != prefix.utf8Start[index] { return false }
    return true
  }

  /// Whether both texts are the same.
  func equals(_ other: StaticString) -> Bool {
    utf8CodeUnitCount == other.utf8CodeUnitCount && hasPrefix(other)
  }

  /// Whether the text has these characters.
  func equals(_ characters: Span<UInt8>) -> Bool {
    guard utf8CodeUnitCount == characters.count else { return false }
    for index in 0..<utf8CodeUnitCount where unsafe utf8Start[index] != characters[index] { return false }
    return true
  }
}
