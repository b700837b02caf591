// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import WireBytes

// Allystar's frames: a poll is answered by its message without an acknowledgement, a write by 05 01 or 05 00 (recordings
// of a TAU1201 and a TAU951M).
extension VirtualReceiver {
  private static let allystarSentences: [UInt8: String] = [
    0x00: "GGA", 0x01: "GLL", 0x02: "GSA", 0x04: "GSV", 0x05: "RMC", 0x06: "VTG", 0x07: "ZDA", 0x20: "TXT",
  ]

  mutating func receiveAllystar(_ identity: UInt16, _ payload: [UInt8]) {
    guard let family else { return }
    if disturbances.refuses(at: now), !payload.isEmpty { return acknowledge(identity, isDone: false) }
    switch identity {
    case 0x0A04: identify()
    case 0x0600: setPort(payload, identity)
    case 0x0601 where payload.count >= 3:
      guard payload[0] == 0xF0, let name = Self.allystarSentences[payload[1]] else {
        return acknowledge(identity, isDone: false)
      }
      self.family?.current.rates[name] = Int(payload[2])
      acknowledge(identity)
    case 0x0609 where payload.count >= 4: saveAllystar(payload, identity)
    case 0x0640 where !payload.isEmpty:
      // Not acknowledged. 0 resets and keeps the clock (recording); 1 cold, 2 warm, 3 hot (several public programs).
      act(.restart(payload[0] == 1 ? .cold : payload[0] == 2 ? .warm : .hot), after: Milliseconds(2))
    case 0x0641 where payload.count >= 5:
      acknowledge(identity)
      act(.sleep(Milliseconds(UInt64(payload.u4(0))), byLine: false), after: Milliseconds(5))
    case 0x060C where !payload.isEmpty: setSystems(payload, identity)
    case 0x060C: send(identity, littleEndianBytes(systemMask))
    case 0x0607 where payload.isEmpty, 0x060B where payload.isEmpty, 0x0612 where payload.isEmpty,
      0x0614 where payload.isEmpty:
      let digits = family.current.values["\(identity)"] ?? Self.recordedAllystar[identity] ?? ""
      send(identity, [UInt8](hexadecimalDigits: digits) ?? [])
    case 0x0607, 0x060B, 0x0612, 0x0614, 0x0643:
      self.family?.current.values["\(identity)"] = payload.hexadecimalDigits.uppercased()
      acknowledge(identity)
    default: acknowledge(identity, isDone: false)
    }
  }

  private static let recordedAllystar: [UInt16: String] = [
    0x0607: "40420F0012020000A0860100010D00", 0x060B: "35FA8E3CC2B8B23D", 0x0612: "00000000", 0x0614: "00000000",
  ]

  private mutating func send(_ identity: UInt16, _ payload: [UInt8]) {
    respond(FrameLayout.allystar.frame(identity, payload), after: Milliseconds(2))
  }

  private mutating func acknowledge(_ identity: UInt16, isDone: Bool = true) {
    if family?.losesAcknowledgement() == true { return }
    respond(verdict(identity, isDone), after: Milliseconds(3))
  }

  private func verdict(_ identity: UInt16, _ isDone: Bool) -> [UInt8] {
    FrameLayout.allystar.frame(
      isDone ? 0x0501 : 0x0500, [UInt8(identity >> 8), UInt8(truncatingIfNeeded: identity)])
  }

  private mutating func identify() {
    let texts = ["\(traits.software)", "\(traits.hardware)"].flatMap { text in
      Array(text.utf8.prefix(16)) + [UInt8](repeating: 0, count: max(0, 16 - text.utf8.count))
    }
    respond([13, 10] + FrameLayout.allystar.frame(0x0A04, texts), after: Milliseconds(4))
  }

  private mutating func setPort(_ payload: [UInt8], _ identity: UInt16) {
    guard let family else { return }
    guard payload.count >= 8 else {
      return send(identity, [payload.first ?? 0, 0, 0, 0] + littleEndianBytes(family.current.baudRate))
    }
    let rate = payload.u4(4)
    guard family.traits.baudRates.contains(rate) else { return acknowledge(identity, isDone: false) }
    // Port 0 is the one that the request arrives at, here port 1.
    guard payload[0] <= 1 else { return acknowledge(identity) }
    changeFamilyRate(to: rate, acknowledging: verdict(identity, true), after: Milliseconds(3))
  }

  private static let allystarSystems = SystemTable(.gps, .glonass, .beiDou, [], .galileo)

  private var systemMask: UInt32 {
    Self.allystarSystems.mask(of: family?.current.systems ?? [])
      | (family?.current.values["mask"].flatMap { UInt32($0) } ?? 0x0082_3700) & ~0x17
  }

  /// A mask is limited to the hardware.
  private mutating func setSystems(_ payload: [UInt8], _ identity: UInt16) {
    guard payload.count >= 4 else { return acknowledge(identity, isDone: false) }
    let mask = payload.u4(0)
    let systems = Self.allystarSystems.systems(mask: mask)
    guard !systems.isEmpty else { return acknowledge(identity, isDone: false) }
    family?.current.systems = systems
    family?.current.values["mask"] = "\(mask & 0x0082_3737)"
    acknowledge(identity)
    restartSearch()
  }

  private mutating func saveAllystar(_ payload: [UInt8], _ identity: UInt16) {
    guard let family else { return }
    // 0 saves, 1 loads, 2 clears without an acknowledgement (jclark/satpulse).
    switch payload[0] {
    case 0: self.family?.stored = family.current
    case 1: self.family?.current = family.stored
    default:
      self.family?.stored = family.defaults
      return
    }
    applyFamily()
    acknowledge(identity)
  }
}
