// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import ReceiverRuntime
import WireBytes

/// The state that was sent to a client of `Stream` about its receiver, and the number of bytes lost because it reads
/// too slowly.
struct ByteStream: Sendable {
  /// The number of the receiver.
  let receiver: Int
  /// Whether the client could open the device itself, and needs no other permission.
  let isByDevice: Bool
  private var reported = ReceiverStatus(device: "", isOpen: false)
  private var hasReported = false
  /// The number of bytes that were not sent since the last message.
  private var lostBytes = 0

  init(receiver: Int, isByDevice: Bool) {
    self.receiver = receiver
    self.isByDevice = isByDevice
  }

  /// Returns the parameters of a message: bytes in base64, the number of bytes lost before them, and the changes of the
  /// receiver. Nil if there is nothing to send. The caller must call `wasSent` if the message is accepted.
  func message(_ bytes: String, _ status: ReceiverStatus) -> JSON? {
    var members = [JSON.Member("bytes", .string(bytes))]
    if lostBytes > 0 { members.append(JSON.Member("lostBytes", .integer(Int64(lostBytes)))) }
    if !hasReported || status.device != reported.device {
      members.append(JSON.Member("device", .string(status.device)))
    }
    if let baud = status.baud, baud != reported.baud { members.append(JSON.Member("baud", .integer(Int64(baud)))) }
    if !hasReported || status.isOpen != reported.isOpen { members.append(JSON.Member("isOpen", .bool(status.isOpen))) }
    if let fault = status.fault, fault != reported.fault { members.append(JSON.Member("fault", .string(fault))) }
    if status.identity != reported.identity, let identity = Self.identity(status.identity) {
      members.append(JSON.Member("identity", identity))
    }
    return bytes.isEmpty && members.count == 1 ? nil : .object(members)
  }

  mutating func noteSent(_ status: ReceiverStatus) {
    hasReported = true
    reported = status
    lostBytes = 0
  }

  mutating func lost(bytes: Int) { lostBytes += bytes }

  private static func identity(_ identity: LineIdentity) -> JSON? {
    switch identity {
    case .unknown: return nil
    case .unidentified: return ["strings": .array([])]
    case .identified(let receiver):
      var members = [JSON.Member("strings", .array(receiver.strings.map { .string($0) }))]
      if let id = receiver.uniqueID { members.append(JSON.Member("uniqueId", .string(id.hexadecimalDigits))) }
      return .object(members)
    }
  }
}
