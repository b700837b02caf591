// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import ReceiverRuntime
import WireBytes

// The bytes of receivers: Stream of org.sextant.Location.
extension LocationServer {
  func stream(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    let device = call.parameters.text("device")
    guard device.isValid else { return connection.reply(id, .failure(.invalidParameter("device"))) }
    guard let index = receiver(named: device.value) else {
      let error = VarlinkError("org.sextant.Location.NoReceiver", JSON(omittingNil: ["device": device.value]))
      return connection.reply(id, .failure(error))
    }
    // The bytes contain the full position. A user who may open the device has permission for them.
    let isByDevice = mayOpen(receivers[index], connection) || isInReceiversGroup(connection)
    guard let program = addStreamProgram(id, connection, isByDevice: isByDevice) else { return }
    connection.role = .stream(id, program, ByteStream(receiver: index, isByDevice: isByDevice))
    guard isByDevice || isStreamPermitted(to: program) else { return fail(connection, id, "Denied") }
    // The receiver sends every epoch while a program requests locations of the best accuracy.
    demandUpdates(program)
    send("", count: 0, connection)
  }

  /// Returns the number of the receiver with a name: the name in the status, or any path of the same device. Without a
  /// name, returns the receiver in use.
  func receiver(named name: String?) -> Int? {
    guard let name else { return receivers.isEmpty ? nil : 0 }
    return receivers.firstIndex { $0.device == name || $0.isAt(name) }
  }

  /// Whether the user of a connection could open a receiver's device.
  func mayOpen(_ receiver: ReceiverStatus, _ connection: Connection) -> Bool {
    mayOpen(receiver.access, connection)
  }

  func mayOpen(_ access: NodeAccess?, _ connection: Connection) -> Bool {
    Lease.User(number: connection.credentials.user, groups: connection.groups).mayOpen(access, own: geteuid())
  }

  /// Whether the user of a connection could open the receivers: root, a member of their group, or a user with access to one of them.
  func mayOpenReceivers(_ connection: Connection) -> Bool {
    connection.credentials.user == 0 || isInReceiversGroup(connection)
      || receivers.contains { mayOpen($0, connection) }
  }

  /// Whether the user of a connection is a member of the receivers' group, which has access to each receiver through
  /// the udev rules.
  private func isInReceiversGroup(_ connection: Connection) -> Bool {
    GroupDatabase.number(of: GPSDListener.receiversGroup).map(connection.groups.contains) ?? false
  }

  /// Forwards received bytes.
  func receive(_ bytes: RawSpan, of receiver: Int) {
    clock.receive(bytes, of: receiver)
    gpsd.receive(bytes, of: receiver, servesClock: clock.serves(receiver), at: SystemClock.monotonic)
    var text: String?
    for connection in connections(where: \.isStream) {
      guard case .stream(let call, let program, let stream) = connection.role, stream.receiver == receiver else {
        continue
      }
      guard stream.isByDevice || isStreamPermitted(to: program) else {
        fail(connection, call, "Denied")
        continue
      }
      let encoded = text ?? Base64.text(of: bytes)
      text = encoded
      send(encoded, count: bytes.byteCount, connection)
    }
  }

  /// Ends the streams of a receiver that is removed.
  func endStreams(of receiver: Int) {
    for connection in connections(where: \.isStream) {
      guard case .stream(let call, _, let stream) = connection.role, stream.receiver == receiver else { continue }
      fail(connection, call, "NoReceiver", ["device": .string(receivers[receiver].device)])
    }
  }

  /// Sends bytes of a receiver, and the changes of its state. A client that reads too slowly gets the number of lost
  /// bytes.
  func send(_ bytes: String, count: Int, _ connection: Connection) {
    guard case .stream(let call, let program, var stream) = connection.role,
      receivers.indices.contains(stream.receiver),
      let message = stream.message(bytes, receivers[stream.receiver])
    else { return }
    if connection.isQueued(call, .success(message, continues: true)) {
      stream.noteSent(receivers[stream.receiver])
      if count > 0 { connection.delivered += 1 }
    } else if count > 0 {
      stream.lost(bytes: count)
      connection.dropped += 1
    }
    connection.role = .stream(call, program, stream)
  }
}

extension ReceiverStatus {
  /// The device's node; nil for a recording.
  var node: String? {
    switch line.flatMap({ try? LineAddress($0) }) ?? (try? LineAddress(device)) {
    case .port(let path)?: path.isEmpty ? nil : path
    case .i2c(let bus, _)?: bus
    case .network?, .replay?, .simulator?, nil: nil
    }
  }

  /// The access of its node; nil without a node, and if the node is not the device that a user has named.
  var access: NodeAccess? {
    guard let node else { return nil }
    if let pin { return pin.access(at: node) }
    return try? NodeAccess(ofPath: node)
  }

  /// Whether a name is a path of its device.
  func isAt(_ name: String) -> Bool {
    guard case .port(let path)? = try? LineAddress(name), let node, case .port? = try? LineAddress(line ?? device)
    else {
      return false
    }
    return path == node || FileLookup.areSame(path, node)
  }
}

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
    let message = JSON(omittingNil: [
      "bytes": bytes, "lostBytes": lostBytes > 0 ? lostBytes : nil,
      "device": hasReported && status.device == reported.device ? nil : status.device,
      "baud": status.baud == reported.baud ? nil : status.baud,
      "isOpen": hasReported && status.isOpen == reported.isOpen ? nil : status.isOpen,
      "fault": status.fault == reported.fault ? nil : status.fault,
      "identity": status.identity == reported.identity ? nil : Self.identity(status.identity),
    ])
    return message == ["bytes": ""] ? nil : message
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
      return JSON(omittingNil: ["strings": receiver.strings, "uniqueId": receiver.uniqueID?.hexadecimalDigits])
    }
  }
}
