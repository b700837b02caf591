// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// Visits the fields of a payload in the order of the wire.
public struct FieldCursor: Sendable {
  /// A field of a payload.
  public struct Place: Sendable {
    public var field: FieldLayout
    /// The offset in the payload, bytes.
    public var offset: Int
    /// The index of the item in the layout.
    public var item: Int
    /// The round within a group, from 0; nil outside groups.
    public var round: Int?
    /// Whether this is the first field of its round.
    public var startsRound: Bool
  }

  private let layout: MessageLayout
  private var item = 0
  private var round = 0
  private var inner = 0
  private var times = 0
  /// The offset of the next field.
  public private(set) var offset = 0
  /// Whether the cursor is at the end of the layout, or of a payload that may end there.
  public private(set) var isComplete = false

  public init(_ layout: MessageLayout) { self.layout = layout }

  /// The next field of `payload`; nil at the end.
  public mutating func next(in payload: RawSpan) -> Place? {
    while item < layout.items.count {
      switch layout.items[item] {
      case .field(let field):
        let size = field.size(within: payload.byteCount - offset)
        guard offset + size <= payload.byteCount else {
          isComplete = offset >= layout.minimumLength
          return nil
        }
        defer {
          offset += size
          item += 1
        }
        return Place(field: field, offset: offset, item: item, round: nil, startsRound: false)
      case .group(let repeats, let size, let fields):
        if round == 0, inner == 0 {
          times = count(repeats, size, payload)
          if offset + times * size > payload.byteCount { return nil }
        }
        guard round < times else {
          item += 1
          round = 0
          inner = 0
          continue
        }
        let field = fields[inner]
        let place = Place(field: field, offset: offset, item: item, round: round, startsRound: inner == 0)
        offset += field.size(within: 0)
        inner += 1
        if inner == fields.count {
          inner = 0
          round += 1
        }
        return place
      }
    }
    isComplete = true
    return nil
  }

  private func count(_ times: MessageLayout.Times, _ size: Int, _ payload: RawSpan) -> Int {
    switch times {
    case .fixed(let n): return n
    case .rest: return max(0, payload.byteCount - offset) / size
    case .field(let name, let shift, let mask):
      // The counting field precedes the first group that it counts, so its offset is fixed.
      var at = 0
      for item in layout.items {
        guard case .field(let field) = item else { return 0 }
        if field.name.equals(name) {
          guard at + field.type.size <= payload.byteCount else { return 0 }
          return Int(truncatingIfNeeded: field.unsigned(in: payload, at: at) >> shift & mask)
        }
        at += field.size(within: 0)
      }
      return 0
    }
  }
}

extension FieldLayout {
  /// The bits of a value at `offset`, not sign-extended.
  public func unsigned(in payload: RawSpan, at offset: Int) -> UInt64 {
    switch type.size {
    case 1: UInt64(payload.u1(offset))
    case 2: UInt64(payload.littleEndian(offset, as: UInt16.self))
    case 3: UInt64(payload.littleEndian24(offset))
    case 4: UInt64(payload.littleEndian(offset, as: UInt32.self))
    default: payload.littleEndian(offset, as: UInt64.self)
    }
  }

  /// An integer value at `offset`, sign-extended for the I types.
  public func signed(in payload: RawSpan, at offset: Int) -> Int64 {
    let bits = unsigned(in: payload, at: offset)
    switch type {
    case .i1, .i2, .i3, .i4, .i8:
      let spare = UInt64(64 - type.size * 8)
      return Int64(bitPattern: bits << spare) >> Int64(spare)
    default: return Int64(bitPattern: bits)
    }
  }
}
