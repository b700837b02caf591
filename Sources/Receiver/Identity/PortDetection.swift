// SPDX-License-Identifier: Apache-2.0

// The receiver's port at the other end of the line, from the bytes that it counts at each.
extension Identification {
  /// Returns the only port that received bytes or, if the receiver does not count them, the only one that sent some.
  static func port(_ communication: [UInt8]) -> ReceiverPortNumber? {
    let ports = counts(communication)
    let used = ports.contains { $0.received > 0 } ? ports.filter { $0.received > 0 } : ports.filter { $0.sent > 0 }
    if used.count == 1 { return used[0].port }
    return ports.count == 1 ? ports[0].port : nil
  }

  /// Returns the port that received most bytes in between or, if they are not counted, sent most.
  static func port(before: [UInt8], after: [UInt8]) -> ReceiverPortNumber? {
    let first = counts(before)
    let grown = counts(after).map { now in
      let then = first.first { $0.port == now.port }
      return (
        port: now.port, received: now.received &- (then?.received ?? 0), sent: now.sent &- (then?.sent ?? 0)
      )
    }
    let most = grown.max { ($0.received, $0.sent) < ($1.received, $1.sent) }
    return most.flatMap { $0.received > 0 || $0.sent > 0 ? $0.port : nil }
  }

  /// MON-COMMS: 40 bytes for each port from offset 8 on; portId at 0, txBytes at 4, rxBytes at 12.
  private static func counts(
    _ payload: [UInt8]
  ) -> [(port: ReceiverPortNumber, received: UInt32, sent: UInt32)] {
    guard payload.count >= 8 else { return [] }
    return (0..<Int(payload[1])).compactMap { index in
      let at = 8 + 40 * index
      guard at + 40 <= payload.count, let port = ReceiverPortNumber(communication: payload.u2(at)) else { return nil }
      return (port, payload.u4(at + 12), payload.u4(at + 4))
    }
  }
}
