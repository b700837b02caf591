// SPDX-License-Identifier: Apache-2.0
import NMEA
import ReceiverStream
import UBX
import WireBytes

/// A list of messages, with the names that `decode --format messages` prints: `NAV-PVT` and `0x27-0x09` of UBX,
/// `GNGGA`, `PUBX00` or only the formatter `GGA` of NMEA, `1077` of RTCM 3, `SPARTN-0-1`.
package struct MessageSelection: Sendable {
  /// A name that does not belong to a message.
  package struct UnknownName: Error {
    package var name: String
  }

  private var identities: Set<UInt16> = []
  private var names: Set<String> = []

  /// Reads names separated by commas, regardless of case.
  package init(_ list: String) throws(UnknownName) {
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.uppercased()
      if let identity = Self.identity(name) {
        identities.insert(identity)
      } else if Self.isName(name) {
        names.insert(name)
      } else {
        throw UnknownName(name: String(part))
      }
    }
  }

  /// The names of UBX messages.
  package static var declaredNames: Set<String> { Set(MessageLayout.all.map { "\($0.name)" }) }

  private static func identity(_ name: String) -> UInt16? {
    if let layout = MessageLayout.all.first(where: { "\($0.name)" == name }) { return layout.identity.key }
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.hasPrefix("0X") && $0.utf8.count == 4 }),
      let messageClass = UInt8(parts[0].dropFirst(2), radix: 16), let id = UInt8(parts[1].dropFirst(2), radix: 16)
    else { return nil }
    return MessageIdentity(messageClass, id).key
  }

  /// Whether a name may belong to a sentence, an RTCM 3 message or a SPARTN message.
  private static func isName(_ name: String) -> Bool {
    if name.hasPrefix("SPARTN-") { return true }
    return (3...12).contains(name.utf8.count)
      && name.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x41 && $0 <= 0x5A }
  }

  /// Whether a frame is a message in the list.
  package func contains(_ frame: borrowing Frame) -> Bool {
    if let ubx = frame.ubx { return identities.contains(ubx.identity.key) }
    if names.isEmpty { return false }
    if let sentence = frame.nmea { return contains(sentence) }
    if let rtcm3 = frame.rtcm3 {
      guard let number = rtcm3.messageNumber else { return false }
      return names.contains("\(number)")
    }
    guard let spartn = frame.spartn else { return false }
    return names.contains("SPARTN-\(spartn.messageType)-\(spartn.subtype)")
  }

  private func contains(_ sentence: Sentence) -> Bool {
    let length = min(sentence.addressLength, 12)
    var address = ""
    for index in 1..<1 + length { address.unicodeScalars.append(Unicode.Scalar(sentence.bytes.u1(index))) }
    address = address.uppercased()
    if names.contains(address) { return true }
    if !sentence.isProprietary { return names.contains(String(address.suffix(3))) }
    // The first field distinguishes the sentences of u-blox.
    var at = 2 + sentence.addressLength
    while at < sentence.bytes.byteCount, address.utf8.count < 12, case let byte = sentence.bytes.u1(at),
      byte >= 0x30, byte <= 0x39
    {
      address.unicodeScalars.append(Unicode.Scalar(byte))
      at += 1
    }
    return names.contains(address)
  }
}
