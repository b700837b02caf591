// SPDX-License-Identifier: Apache-2.0
import UBX

// The messages of the log in flash.
extension VirtualReceiver {
  mutating func receiveLog(_ id: UInt8, _ payload: [UInt8]) {
    // Any message of this class ends a retrieval.
    if id != 0x08 { spool.removeAll { if case .frame = $0 { true } else { false } } }
    switch id {
    case 0x03:
      log.erase()
      acknowledge(0x21, id, payload.isEmpty)
    case 0x04:
      let isPossible = log.isCreated && payload.count <= 256
      if isPossible { log.append(.text(payload, secondsSince1970: utcMilliseconds(at: now) / 1000)) }
      acknowledge(0x21, id, isPossible)
    case 0x07: acknowledge(0x21, id, log.create(payload))
    case 0x08: if payload.isEmpty { poll(MessageIdentity(0x21, id)) }
    case 0x09: retrieve(payload)
    case 0x0E: findTime(payload)
    default: break
    }
  }

  /// LOG-RETRIEVE: up to 256 entries. It is refused while the log records, or if the log has no such entry.
  private mutating func retrieve(_ payload: [UInt8]) {
    guard payload.count == 12, payload[8] == 0, !settings.logFilter.records else {
      return acknowledge(0x21, 0x09, false)
    }
    let first = Int(payload.u4(0))
    let count = min(Int(payload.u4(4)), 256)
    guard first < log.entries.count, count > 0 else { return acknowledge(0x21, 0x09, false) }
    acknowledge(0x21, 0x09, true)
    for index in first..<min(first + count, log.entries.count) { spool.append(.frame(log.frame(index, &writer))) }
  }

  private mutating func findTime(_ payload: [UInt8]) {
    guard payload.count == 12 else { return acknowledge(0x21, 0x0E, false) }
    let seconds = CivilTime.secondsSince1970(
      year: Int(payload.u2(4)), month: Int(payload[6]), day: Int(payload[7]), hour: Int(payload[8]),
      minute: Int(payload[9]), second: Int(payload[10]))
    var reply: [UInt8] = [1, 1, 0, 0]
    reply.append(log.index(atOrAfter: seconds).map { UInt32($0) } ?? 0xFFFF_FFFF)
    answer(MessageIdentity(0x21, 0x0E), reply)
    acknowledge(0x21, 0x0E, true)
  }
}
