// SPDX-License-Identifier: Apache-2.0
import NMEA
import RTCM3
import UBX
import WireBytes

/// A frame of any protocol, whole and with a correct checksum: a view of the received bytes.
public struct Frame: ~Escapable {
  /// The protocols of frames.
  public enum Kind: UInt8, Sendable {
    case nmea, ubx, rtcm3, spartn
  }

  /// The protocols to find in a stream.
  public enum Protocols: Sendable {
    /// NMEA, UBX and RTCM 3: the output of receivers.
    case ofReceivers
    /// SPARTN too: data for receivers, or from a satellite. Its preamble is the character s, so the stream searches for it
    /// only on request.
    case ofReceiversAndSPARTN
  }

  /// All bytes of the frame.
  public let bytes: RawSpan
  public let kind: Kind
  /// The number of bytes of the stream before the frame.
  public let offset: UInt64
  /// The ends of a sentence's fields.
  @usableFromInline let ends: FieldEnds
  /// Whether the stream began with a part of a sentence.
  @usableFromInline let isOfCutStream: Bool

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ kind: Kind, offset: UInt64, ends: FieldEnds, isOfCutStream: Bool) {
    self.bytes = bytes
    self.kind = kind
    self.offset = offset
    self.ends = ends
    self.isOfCutStream = isOfCutStream
  }

  /// The frame as a UBX frame; nil for another protocol.
  @inlinable @inline(__always)
  public var ubx: UBXFrame? {
    @_lifetime(copy self) get { kind == .ubx ? UBXFrame(checked: bytes) : nil }
  }

  /// The frame as an NMEA sentence; nil for another protocol.
  @inlinable @inline(__always)
  public var nmea: NMEA.Sentence? {
    @_lifetime(copy self) get { kind == .nmea ? NMEA.Sentence(checked: bytes, ends: ends) : nil }
  }

  /// The frame as an RTCM 3 frame; nil for another protocol.
  @inlinable @inline(__always)
  public var rtcm3: RTCM3Frame? {
    @_lifetime(copy self) get { kind == .rtcm3 ? RTCM3Frame(checked: bytes) : nil }
  }

  /// The frame as a SPARTN frame; nil for another protocol.
  @inlinable @inline(__always)
  public var spartn: SPARTNFrame? {
    @_lifetime(copy self) get { kind == .spartn ? SPARTNFrame(checked: bytes) : nil }
  }

  /// The user data of RXM-PMP, a piece of the stream of an L-band satellite; nil for another message, or if its length is wrong
  /// (u-blox D9 PMP 1.04 interface description, 2.13.1).
  package var lBandData: RawSpan? {
    @_lifetime(copy self) get {
      guard let message = ubx, message.identity == MessageIdentity(0x02, 0x72) else { return nil }
      let payload = message.payload
      guard payload.byteCount >= 24 else { return nil }
      switch payload.u1(0) {
      case 0: return payload.byteCount == 528 ? payload.extracting(20..<524) : nil
      case 1:
        return payload.byteCount == 24 + Int(payload.littleEndian(2, as: UInt16.self)) ? payload.extracting(24...) : nil
      default: return nil
      }
    }
  }
}
