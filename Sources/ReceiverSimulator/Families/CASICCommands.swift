// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import UBX
import WireBytes

// CASIC's commands: PCAS sentences, which are not acknowledged (CASIC protocol specification), and frames, which are
// acknowledged by 05 01 and refused by 05 00 (recordings of an AT632 and an ATGM332D-5N71).
extension VirtualReceiver {
  private static let pcasSentences = [
    "GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "TXT", "DHV", "LPS", "", "", "UTC", "GST",
  ]
  private static let casicSentences: [UInt8: String] = [
    0x00: "GGA", 0x01: "GLL", 0x02: "GSA", 0x03: "GSV", 0x04: "RMC", 0x05: "VTG", 0x07: "GST", 0x08: "ZDA", 0x0D: "DHV",
  ]

  private var isVersion6: Bool { model == .at6668 }

  // MARK: Sentences

  mutating func receivePCAS(_ fields: FamilyFields) {
    guard !disturbances.refuses(at: now), let family else { return }
    switch fields.address {
    case "PCAS00": self.family?.stored = family.current
    case "PCAS01":
      let rates: [UInt32] = [4800, 9600, 19_200, 38_400, 57_600, 115_200]
      if let index = fields.number(0), rates.indices ~= index { changeFamilyRate(to: rates[index]) }
    case "PCAS02":
      guard let period = fields.number(0), [1000, 500, 250, 200, 100].contains(period) else { return }
      self.family?.current.periodMilliseconds = UInt32(period)
      applyFamily()
    case "PCAS03":
      for (index, name) in Self.pcasSentences.enumerated() where !name.isEmpty {
        // An empty field keeps the value.
        if let rate = fields.number(index), 0...9 ~= rate { self.family?.current.rates[name] = rate }
      }
    case "PCAS04": setSystemsPCAS(fields)
    case "PCAS06": identifyPCAS(fields)
    case "PCAS10": restartPCAS(fields)
    // PCAS12, standby, has an effect on one "low-power" part only; PCAS05, 11 and 15 have none here.
    default: break
    }
  }

  private mutating func setSystemsPCAS(_ fields: FamilyFields) {
    guard let mask = fields.number(0), 1...7 ~= mask else { return }
    // A mask is limited to the hardware.
    let limited = SystemTable(.gps, .beiDou, .glonass).systems(mask: UInt32(mask)).intersection(traits.systems)
    guard !limited.isEmpty else { return }
    family?.current.systems = limited
    restartSearch()
  }

  private mutating func identifyPCAS(_ fields: FamilyFields) {
    switch fields[0] {
    case "0": respond("GPTXT,01,01,02,SW=\(traits.software)", after: Milliseconds(20))
    // An ATGM332D did not reply to the query of the hardware.
    case "1" where isVersion6: respond("GPTXT,01,01,02,HW=\(traits.hardware)", after: Milliseconds(20))
    default: break
    }
  }

  private mutating func restartPCAS(_ fields: FamilyFields) {
    guard let kind = fields.number(0), 0...3 ~= kind else { return }
    restartCASIC(kind)
  }

  private mutating func restartCASIC(_ kind: Int) {
    if kind == 3, let family {
      self.family?.current = family.defaults
      self.family?.stored = family.defaults
    }
    act(.restart(kind == 0 ? .hot : kind == 1 ? .warm : .cold), after: Milliseconds(10))
  }

  // MARK: Frames

  /// Replies to a frame at the next tick of 100 ms, one frame a tick.
  mutating func receiveCASIC(_ identity: UInt16, _ payload: [UInt8]) {
    let at = tick(100, offset: 95, after: family?.repliedAt)
    guard identity >> 8 == 0x06 else { return refuseCASIC(identity, at: at) }
    guard !disturbances.refuses(at: now) else { return refuseCASIC(identity, at: at) }
    if payload.isEmpty { return pollCASIC(identity, at: at) }
    switch identity {
    case 0x0600 where payload.count >= 8: setPortCASIC(identity, payload, at: at)
    case 0x0601 where payload.count >= 4: setMessageCASIC(identity, payload, at: at)
    case 0x0602 where payload.count >= 4: restartCASIC(Int(min(payload[3], 3)))
    case 0x0604 where payload.count >= 4:
      let period = UInt32(payload.u2(0))
      guard 100...1000 ~= period else { return refuseCASIC(identity, at: at) }
      family?.current.periodMilliseconds = period
      applyFamily()
      acceptCASIC(identity, at: at)
    case 0x0605: saveCASIC(identity, payload, at: at)
    case 0x0603, 0x0607, 0x060A, 0x060F, 0x0616:
      family?.current.values["\(identity)"] = payload.hexadecimalDigits.uppercased()
      acceptCASIC(identity, at: at)
    default: refuseCASIC(identity, at: at)
    }
  }

  private mutating func acceptCASIC(_ identity: UInt16, at instant: Instant) { verdict(0x0501, identity, at: instant) }
  private mutating func refuseCASIC(_ identity: UInt16, at instant: Instant) { verdict(0x0500, identity, at: instant) }

  private mutating func verdict(_ verdict: UInt16, _ identity: UInt16, at instant: Instant) {
    if family?.losesAcknowledgement() == true || family?.quirks.contains(.unacknowledgedFrames) == true { return }
    family?.reply(Self.verdict(verdict, identity), at: instant)
  }

  private static func verdict(_ verdict: UInt16, _ identity: UInt16) -> [UInt8] {
    FrameLayout.casic.frame(verdict, [UInt8(identity >> 8), UInt8(truncatingIfNeeded: identity), 0, 0])
  }

  /// Some receivers answer u-blox's MON-VER in part (gpsd's log of an L76K).
  mutating func sendPartOfVersion() {
    guard let quirks = family?.quirks else { return }
    if quirks.contains(.acknowledgedVersion) {
      return respond(frameBytes(MessageIdentity(0x05, 0x01), [0x0A, 0x04]), after: Milliseconds(20))
    }
    let texts = [("\(traits.software)", 30), ("\(traits.hardware)", 10)].flatMap { text, size in
      Array(text.utf8.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - text.utf8.count))
    }
    let frame = frameBytes(MessageIdentity(0x0A, 0x04), texts)
    respond(quirks.contains(.cutVersion) ? Array(frame.prefix(20)) : frame, after: Milliseconds(20))
  }

  /// The values of a recorded AT632 that the simulation has no use of.
  private static let recorded: [UInt16: String] = [
    0x0603: "40420F00A08601000500000400000000",
    0x0616: "0100000000000000000000000000000040420F002C010000983A0000",
    0x060F: "01000000A90CC800010C0800", 0x060A: "045008051200F401",
  ]

  private mutating func pollCASIC(_ identity: UInt16, at instant: Instant) {
    guard let family else { return }
    let data: [UInt8]
    switch identity {
    // Port 0, all protocols, 8N1.
    case 0x0600: data = [0, 0x33] + littleEndianBytes(UInt16(0x08C0)) + littleEndianBytes(family.current.baudRate)
    case 0x0604: data = littleEndianBytes(UInt16(truncatingIfNeeded: family.current.periodMilliseconds)) + [1, 1]
    default:
      guard isVersion6, let text = family.current.values["\(identity)"] ?? Self.recorded[identity] else {
        return refuseCASIC(identity, at: instant)
      }
      data = [UInt8](hexadecimalDigits: text) ?? []
    }
    self.family?.reply(FrameLayout.casic.frame(identity, data), at: instant)
    acceptCASIC(identity, at: instant + Milliseconds(1))
  }

  private mutating func setPortCASIC(_ identity: UInt16, _ payload: [UInt8], at instant: Instant) {
    let rate = payload.u4(4)
    guard family?.traits.baudRates.contains(rate) == true else { return refuseCASIC(identity, at: instant) }
    let isSilent = family?.quirks.contains(.unacknowledgedFrames) == true
    changeFamilyRate(
      to: rate, acknowledging: isSilent ? [] : Self.verdict(0x0501, identity), after: Milliseconds(2))
  }

  private mutating func setMessageCASIC(_ identity: UInt16, _ payload: [UInt8], at instant: Instant) {
    let rate = Int(payload.u2(2))
    if payload[0] == 0x4E {
      guard let name = Self.casicSentences[payload[1]] else { return refuseCASIC(identity, at: instant) }
      family?.current.rates[name] = min(rate, 255)
      return acceptCASIC(identity, at: instant)
    }
    // V5 has no MON-VER. V6 sends a message with the rate 0xFFFF once, with the next epoch.
    guard isVersion6 else { return refuseCASIC(identity, at: instant) }
    acceptCASIC(identity, at: instant)
    guard payload[0] == 0x0A, payload[1] == 0x04, rate == 0xFFFF else { return }
    let texts = ["SW=\(traits.software)", "\(traits.hardware)"].flatMap { text in
      Array(text.utf8.prefix(32)) + [UInt8](repeating: 0, count: max(0, 32 - text.utf8.count))
    }
    family?.withEpoch.append(FrameLayout.casic.frame(0x0A04, texts))
  }

  private mutating func saveCASIC(_ identity: UInt16, _ payload: [UInt8], at instant: Instant) {
    guard payload.count >= 4, let family else { return refuseCASIC(identity, at: instant) }
    switch payload[2] {
    // 0 restores the defaults, 1 saves, 2 loads.
    case 1 where payload.u2(0) != 0: self.family?.stored = family.current
    case 2: return act(.restart(.hot), after: Milliseconds(10))
    case 0:
      self.family?.current = family.defaults
      applyFamily()
    default: break
    }
    acceptCASIC(identity, at: instant)
  }
}
