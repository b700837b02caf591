// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UBX

/// A payload that a layout fits, with random values where the layout permits any.
struct RandomPayload {
  var bytes: [UInt8] = []
  private var counts: [(name: String, value: Int)] = []

  init(_ layout: MessageLayout, _ random: inout SeededRandomNumberGenerator) {
    bytes = random.bytes(Self.fixedSize(layout))
    for item in layout.items {
      guard case .group(.field(let name, let shift, let mask), _, _) = item else { continue }
      let most = min(mask, 255)
      set(name, in: layout, shift, mask, to: random.next() % (min(most, 12) + 1))
    }
    for condition in layout.conditions {
      if case .byte(let offset, let value) = condition { bytes[offset] = value }
    }
    var groups = 0
    for item in layout.items {
      switch item {
      case .group(.rest, let size, _): groups += size * random.int(0...5)
      case .group(.field(let name, let shift, let mask), let size, _):
        groups += size * Int(get(name, in: layout, shift, mask))
      case .field(let field) where field.count == 0: groups += field.type.size * random.int(0...20)
      default: break
      }
    }
    bytes += random.bytes(groups)
    for case .length(let length) in layout.conditions {
      while bytes.count < length { bytes.append(random.byte()) }
      bytes = Array(bytes[..<length])
    }
  }

  /// Bytes of all fields outside groups of unknown count.
  private static func fixedSize(_ layout: MessageLayout) -> Int {
    layout.items.reduce(0) { sum, item in
      switch item {
      case .field(let field): sum + field.size(within: 0)
      case .group(.fixed(let times), let size, _): sum + times * size
      case .group: sum
      }
    }
  }

  private func place(_ name: StaticString, in layout: MessageLayout) -> (offset: Int, field: FieldLayout)? {
    var offset = 0
    for case .field(let field) in layout.items {
      if "\(field.name)" == "\(name)" { return (offset, field) }
      offset += field.size(within: 0)
    }
    return nil
  }

  private func get(_ name: StaticString, in layout: MessageLayout, _ shift: UInt64, _ mask: UInt64) -> UInt64 {
    guard let (offset, field) = place(name, in: layout) else { return 0 }
    return field.unsigned(in: bytes.raw, at: offset) >> shift & mask
  }

  private mutating func set(
    _ name: StaticString, in layout: MessageLayout, _ shift: UInt64, _ mask: UInt64, to count: UInt64
  ) {
    guard let (offset, field) = place(name, in: layout) else { return }
    let bits = field.unsigned(in: bytes.raw, at: offset) & ~(mask << shift) | count << shift
    for index in 0..<field.type.size { bytes[offset + index] = UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)) }
  }
}

extension MessageLayout: CustomTestStringConvertible {
  public var testDescription: String { "\(name)" }
}

@Suite("Layouts as data")
struct LayoutTests {
  @Test("The walk over the fields of any payload leaves no gap and ends at its end", arguments: MessageLayout.all)
  func walk(layout: MessageLayout) {
    var random = SeededRandomNumberGenerator(seed: UInt64(layout.identity.key))
    for round in 0..<20 {
      let payload = RandomPayload(layout, &random).bytes
      let fits = layout.fits(payload.raw)
      #expect(fits, "round \(round): \(payload)")
      var cursor = FieldCursor(layout)
      var end = 0
      while let place = cursor.next(in: payload.raw) {
        #expect(place.offset == end, "round \(round): \(place.field.name) of \(payload)")
        end += place.field.size(within: payload.count - place.offset)
      }
      #expect(cursor.isComplete, "round \(round): \(payload)")
      #expect(end == payload.count, "round \(round): \(payload)")
      #expect(layout.length(of: payload.raw) == payload.count, "round \(round): \(payload)")
    }
  }

  @Test("A payload that may end early does so between fields", arguments: MessageLayout.all)
  func shorter(layout: MessageLayout) {
    var random = SeededRandomNumberGenerator(seed: UInt64(layout.identity.key))
    let payload = RandomPayload(layout, &random).bytes
    for count in 0..<payload.count {
      let cut = Array(payload[..<count])
      guard layout.fits(cut.raw), let length = layout.length(of: cut.raw) else { continue }
      #expect(length <= count)
      #expect(length >= layout.minimumLength)
    }
  }

  @Test(
    "A frame of any layout finds a layout of its class and id that uses up its payload", arguments: MessageLayout.all)
  func lookup(layout: MessageLayout) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(layout.identity.key))
    let payload = RandomPayload(layout, &random).bytes
    let bytes = Wire.ubx(layout.identity.messageClass, layout.identity.messageID, payload)
    let found = try #require(Self.layout(of: bytes))
    #expect(found.identity == layout.identity)
    #expect(found.length(of: payload.raw) == payload.count)
  }

  private static func layout(of bytes: [UInt8]) -> MessageLayout? {
    guard let frame = UBXFrame(bytes.raw) else { return nil }
    return MessageLayout.of(frame)
  }

  @Test(
    "Conditions stand within the shortest payload, counts in a field before the group", arguments: MessageLayout.all)
  func consistent(layout: MessageLayout) {
    for case .byte(let offset, _) in layout.conditions { #expect(offset < max(layout.minimumLength, 1)) }
    var names: [String] = []
    for item in layout.items {
      switch item {
      case .field(let field): names.append("\(field.name)")
      case .group(.field(let name, _, _), let size, let fields):
        #expect(names.contains("\(name)"))
        #expect(fields.reduce(0) { $0 + $1.size(within: 0) } == size)
      case .group(_, let size, let fields): #expect(fields.reduce(0) { $0 + $1.size(within: 0) } == size)
      }
    }
    #expect(!layout.directions.isEmpty)
  }

  @Test("All layouts are sorted by class and id, so that they are found")
  func sorted() {
    let keys = MessageLayout.all.map(\.identity.key)
    #expect(keys == keys.sorted())
    for layout in MessageLayout.all {
      #expect(MessageLayout.candidates(for: layout.identity).contains { "\($0.name)" == "\(layout.name)" })
    }
    #expect(MessageLayout.candidates(for: MessageIdentity(0xFE, 0xFE)).isEmpty)
  }

  @Test("A random payload of any class and id has a layout that it fills, or fits none", arguments: 0...15)
  func anything(part: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    for key in stride(from: part, to: 0x10000, by: 16) {
      let identity = MessageIdentity(UInt8(key >> 8), UInt8(key & 0xFF))
      let isDeclared = !MessageLayout.candidates(for: identity).isEmpty
      for _ in 0..<(isDeclared ? 60 : 1) {
        let payload = random.bytes(isDeclared ? random.int(0...120) : 3)
        let frame = Wire.ubx(identity.messageClass, identity.messageID, payload)
        guard let layout = Self.layout(of: frame) else {
          let candidates = MessageLayout.candidates(for: identity)
          #expect(candidates.allSatisfy { !$0.fits(payload.raw) || $0.length(of: payload.raw) == nil }, "\(frame)")
          continue
        }
        #expect(isDeclared && layout.fits(payload.raw))
        #expect(layout.length(of: payload.raw).map { $0 <= payload.count } == true, "seed \(part): \(frame)")
      }
    }
  }
}
