// SPDX-License-Identifier: Apache-2.0
import WireBytes

#if !hasFeature(Embedded)
  /// The layouts of binary frames of makers other than u-blox. Each has a check of its own or of other formats of this module.
  package enum FrameLayout: Sendable, Equatable {
    /// BA CE, length U2 LE, class, id, payload, sum of the words U4 LE.
    case casic
    /// F1 D9, class, id, length U2 LE, payload, the checksum of UBX.
    case allystar
    /// A0 A1, length U2 BE, id, payload, XOR, 0D 0A.
    case skyTraq
    /// AA 44 B5, header of 24 bytes with the id at 4 and the length at 6, payload, CRC-32.
    case unicore
    /// 24 40 (`$@`), CRC-16 U2 LE of the rest, id U2 LE, length U2 LE of all, payload (SBF of Septentrio).
    case sbf

    private static let longestPayload = 2048

    private var start: [UInt8] {
      switch self {
      case .casic: [0xBA, 0xCE]
      case .allystar: [0xF1, 0xD9]
      case .skyTraq: [0xA0, 0xA1]
      case .unicore: [0xAA, 0x44, 0xB5]
      case .sbf: [0x24, 0x40]
      }
    }

    /// Returns a frame; of Unicore's nothing, whose header has the time.
    package func frame(_ identity: UInt16, _ payload: [UInt8]) -> [UInt8] {
      let length = UInt16(clamping: payload.count)
      let name = littleEndianBytes(identity.byteSwapped)
      switch self {
      case .casic:
        let body = littleEndianBytes(length) + name + payload
        return start + body + littleEndianBytes(Self.casicSum(body))
      case .allystar:
        let body = name + littleEndianBytes(length) + payload
        return start + body + littleEndianBytes(Self.fletcher(body[...]))
      case .skyTraq:
        let body = [name[1]] + payload
        return start + littleEndianBytes(UInt16(clamping: body.count).byteSwapped) + body + [
          body.span.exclusiveOr, 13, 10,
        ]
      case .unicore: return []
      case .sbf:
        let body = littleEndianBytes(identity) + littleEndianBytes(length + 8) + payload
        return start + littleEndianBytes(Self.crc16(body[...])) + body
      }
    }

    /// The beginning of bytes.
    package enum Scan: Equatable {
      /// Not a frame.
      case none
      /// The beginning of a frame.
      case incomplete
      /// A frame of this many bytes: class and id, or the id alone, and the payload.
      case frame(FrameLayout, UInt16, [UInt8], length: Int)
    }

    /// Returns what begins at the start of `bytes`.
    package static func scan(_ bytes: ArraySlice<UInt8>) -> Scan {
      switch bytes.first {
      case nil: .incomplete
      case 0xBA: FrameLayout.casic.scanFrame(bytes)
      case 0xF1: FrameLayout.allystar.scanFrame(bytes)
      case 0xA0: FrameLayout.skyTraq.scanFrame(bytes)
      case 0xAA: FrameLayout.unicore.scanFrame(bytes)
      case 0x24: FrameLayout.sbf.scanFrame(bytes)
      default: .none
      }
    }

    /// Returns what begins at the start of `bytes`: a frame of this layout, or none.
    package func scanFrame(_ bytes: ArraySlice<UInt8>) -> Scan {
      let begin = bytes.prefix(start.count)
      guard start.starts(with: begin) else { return .none }
      guard begin.count == start.count else { return .incomplete }
      let at = bytes.startIndex
      let headLength = self == .unicore ? 24 : self == .skyTraq ? 4 : self == .sbf ? 8 : 6
      guard bytes.count >= headLength else { return .incomplete }
      let head = Array(bytes.prefix(headLength))
      var length = Int(head.u2(self == .allystar ? 4 : self == .unicore || self == .sbf ? 6 : 2))
      if self == .skyTraq { length = Int(head.u2(2).byteSwapped) }
      if self == .sbf {
        guard length >= headLength, length.isMultiple(of: 4) else { return .none }
        length -= headLength
      }
      guard length <= Self.longestPayload, self != .skyTraq || length > 0 else { return .none }
      let tailLength = self == .allystar ? 2 : self == .skyTraq ? 3 : self == .sbf ? 0 : 4
      let total = headLength + length + tailLength
      guard bytes.count >= total else { return .incomplete }
      let end = at + headLength + length
      let payload = Array(bytes[at + headLength..<end])
      let tail = Array(bytes[end..<at + total])
      switch self {
      case .casic:
        guard Self.casicSum(Array(bytes[at + 2..<end])) == tail.u4(0) else { return .none }
        return .frame(self, head.u2(4).byteSwapped, payload, length: total)
      case .allystar:
        guard Self.fletcher(bytes[at + 2..<end]) == tail.u2(0) else { return .none }
        return .frame(self, head.u2(2).byteSwapped, payload, length: total)
      case .skyTraq:
        guard tail == [payload.span.exclusiveOr, 13, 10] else { return .none }
        return .frame(self, UInt16(payload[0]), Array(payload.dropFirst()), length: total)
      case .unicore:
        guard Self.crc32(bytes[at..<end]) == tail.u4(0) else { return .none }
        return .frame(self, head.u2(4), payload, length: total)
      case .sbf:
        guard Self.crc16(bytes[at + 4..<end]) == head.u2(2) else { return .none }
        return .frame(self, head.u2(4), payload, length: total)
      }
    }

    /// The sum of length, class, id and payload as words, modulo 2^32 (verified on recorded frames).
    private static func casicSum(_ body: [UInt8]) -> UInt32 {
      let padded = body + [0, 0, 0]
      return stride(from: 0, to: body.count, by: 4).reduce(UInt32(0)) { $0 &+ padded.u4($1) }
    }

    private static func fletcher(_ body: ArraySlice<UInt8>) -> UInt16 {
      unsafe fletcherChecksum(of: body.span.bytes, from: 0, count: body.count)
    }

    private static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
      UInt16(truncatingIfNeeded: unsafe MessageCheck.crc16.value(of: bytes.span.bytes, from: 0, count: bytes.count))
    }

    /// The check of Unicore's frames and logs.
    package static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
      unsafe logCRC32(of: bytes.span.bytes, from: 0, to: bytes.count)
    }
  }
#endif
