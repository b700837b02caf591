// SPDX-License-Identifier: Apache-2.0
import NMEA
import RTCM3
import ReceiverStream
import UBX

/// Prevents the optimizer from removing the computation of `value`.
@inline(never)
func keep<Value>(_ value: borrowing Value) {}

/// Reads every field of a frame.
struct FieldReading {
  private var bits: UInt64 = 0
  private var contents = ContentsKept()

  mutating func read(_ bytes: [UInt8]) {
    var cursor = unsafe FrameCursor(bytes.span.bytes)
    while let frame = cursor.next() { read(frame) }
  }

  @inline(__always)
  private mutating func read(_ frame: borrowing Frame) {
    switch frame.kind {
    case .nmea: if let sentence = frame.nmea { _ = visit(sentence, &contents) }
    case .ubx: if let frame = frame.ubx { read(frame) }
    case .rtcm3: if let frame = frame.rtcm3 { read(frame) }
    case .spartn: break
    }
  }

  /// Reads by the layout, which every message has, and not by a view such as `NavPVT`.
  private mutating func read(_ frame: UBXFrame) {
    let payload = frame.payload
    guard let layout = MessageLayout.of(frame) else { return }
    var cursor = FieldCursor(layout)
    while let place = cursor.next(in: payload) {
      if place.field.isReserved { continue }
      for index in 0..<place.field.values(within: payload.byteCount - place.offset) {
        bits &+= place.field.unsigned(in: payload, at: place.offset + index * place.field.type.size)
      }
    }
    keep(bits)
  }

  private func read(_ frame: RTCM3Frame) {
    if let header = MSMHeader(frame) {
      keep(header)
    } else if let position = StationPosition(frame) {
      keep(position)
    } else if let equipment = StationEquipment(frame) {
      keep(equipment.antenna.byteCount)
    } else if let biases = GLONASSBiases(frame) {
      keep(biases)
    }
  }

  /// The name of a frame and the number of its values; nil values if its fields are not read.
  static func values(of frame: borrowing Frame) -> (name: String, values: Int?) {
    if let sentence = frame.nmea {
      var counting = ContentsCounted()
      let isTyped = visit(sentence, &counting)
      let address = String(decoding: (1..<1 + sentence.addressLength).map { sentence.bytes.u1($0) }, as: UTF8.self)
      let name = sentence.isProprietary || address.count < 5 ? address : String(address.dropFirst(2))
      return (name, isTyped ? counting.values : nil)
    }
    if let ubx = frame.ubx { return (name(of: ubx.identity), values(of: ubx)) }
    if let rtcm = frame.rtcm3 { return (rtcm.messageNumber.map(String.init) ?? "?", values(of: rtcm)) }
    return ("?", nil)
  }

  private static func name(of identity: MessageIdentity) -> String {
    [identity.messageClass, identity.messageID].map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
      .joined(separator: "-")
  }

  private static func values(of frame: UBXFrame) -> Int? {
    guard let layout = MessageLayout.of(frame) else { return nil }
    var cursor = FieldCursor(layout)
    var values = 0
    while let place = cursor.next(in: frame.payload) {
      if place.field.isReserved { continue }
      // A text is one value.
      values += place.field.type == .ch ? 1 : place.field.values(within: frame.payload.byteCount - place.offset)
    }
    return values
  }

  /// Of a multiple signal message the header is read: twelve values.
  private static func values(of frame: RTCM3Frame) -> Int? {
    if MSMHeader(frame) != nil { return 12 }
    if let position = StationPosition(frame) { return position.antennaHeight == nil ? 11 : 12 }
    if StationEquipment(frame) != nil { return frame.messageNumber == 1033 ? 7 : 3 }
    if let biases = GLONASSBiases(frame) { return 2 + (0..<4).count { biases.has($0) } }
    return nil
  }
}
