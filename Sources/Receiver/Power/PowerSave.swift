// SPDX-License-Identifier: Apache-2.0

import UBX

/// A power save mode, in which a receiver saves power by itself between fixes.
public enum PowerSave: Sendable, Hashable {
  /// No power save.
  case continuous
  /// Cyclic tracking: a fix every 1…10 seconds, with less power in between.
  case cyclic(everySeconds: Int)
  /// On/off operation: sleep between fixes, more than 10 seconds apart.
  case onOff(periodSeconds: Int)

  /// Whether RAM, and bytes to the receiver, are lost between two fixes.
  public var sleepsBetweenFixes: Bool { if case .onOff = self { true } else { false } }

  /// Whether a receiver has this mode; all have `continuous`.
  public func isPossible(on receiver: ReceiverDescription) -> Bool {
    switch self {
    case .continuous: true
    case .cyclic(let seconds):
      1...10 ~= seconds && receiver.can(.powerSaveCyclic)
    case .onOff(let seconds):
      11...(receiver.isSuperE ? 65_535 : 604_800) ~= seconds && receiver.can(.powerSaveOnOff)
    }
  }

  /// Returns the command that switches on/off operation on in RAM and battery-backed memory, after `BackupStore` has stored
  /// everything else; nil for other modes.
  func switching(for receiver: ReceiverDescription) -> Command? {
    guard sleepsBetweenFixes else { return nil }
    if receiver.can(.valset) { return Configuration.valset(items(isOn: true), layers: 0b11) }
    var command = BackupStore.saving
    var bytes: [UInt8] = []
    for case .message(let identity, _, let change) in messageSettings(for: receiver, isOn: true) {
      switch change {
      case .payload(let payload): bytes += frameBytes(identity, payload)
      // The reserved byte is to be 8 (u-blox 6 and 7 receiver descriptions, CFG-RXM).
      case .lowPower(let mode): bytes += frameBytes(identity, [8, mode])
      default: continue
      }
      command.companions.append(identity)
    }
    // The receiver may fall asleep between the two: the acknowledgement is missing then, and both are sent again.
    command.bytes = bytes + command.bytes
    return command
  }

  /// Returns the mode as CFG messages, the mode after its parameters.
  func messageSettings(for receiver: ReceiverDescription, isOn: Bool) -> [Setting] {
    if receiver.isSuperE {
      return [.message(.cfgPMS, selector: [], .payload(isOn ? preset : PowerSave.continuous.preset))]
    }
    let lowPower = Setting.message(.cfgRXM, selector: [], .lowPower(isOn && self != .continuous ? 1 : 0))
    return self == .continuous ? [lowPower] : [.message(.cfgPM2, selector: [], .powerSave(self)), lowPower]
  }

  /// Returns the mode as items (CFG-PM), CFG-PM-OPERATEMODE last. The period of cyclic tracking is CFG-RATE-MEAS.
  func items(isOn: Bool) -> [ConfigurationPair] {
    let mode: UInt64
    var pairs: [ConfigurationPair] = []
    switch self {
    case .continuous: mode = 0
    case .onOff(let seconds):
      mode = 1
      pairs = [
        ConfigurationPair(id: 0x40D0_0002, bits: UInt64(seconds)),
        ConfigurationPair(id: 0x40D0_0003, bits: UInt64(seconds)),
        ConfigurationPair(id: 0x30D0_0005, bits: 0), ConfigurationPair(id: 0x10D0_000A, bits: 1),
        ConfigurationPair(id: 0x10D0_0008, bits: 0),
      ]
    case .cyclic: mode = 2
    }
    return pairs + [ConfigurationPair(id: 0x20D0_0001, bits: isOn ? mode : 0)]
  }

  /// CFG-PMS (M8 interface description, "power mode setup"): 0 full power, 1 balanced, 2 an interval above 5 s.
  private var preset: [UInt8] {
    var payload = [UInt8](repeating: 0, count: 8)
    switch self {
    case .continuous: break
    case .cyclic(let seconds), .onOff(let seconds):
      payload[1] = seconds > 5 ? 2 : 1
      if seconds > 5 { payload.set(u2: UInt16(clamping: seconds), at: 2) }
    }
    return payload
  }

  /// Returns CFG-PM2 with this mode and period and the rest unchanged; nil if `found` is another message.
  func applied(toPM2 found: [UInt8]) -> [UInt8]? {
    guard found.count >= 44 else { return nil }
    var payload = found
    var flags = payload.u4(4)
    switch self {
    case .continuous: return payload
    case .cyclic(let seconds):
      flags = flags & ~(3 << 17) | 1 << 17
      payload.set(u4: UInt32(seconds) * 1000, at: 8)
    case .onOff(let seconds):
      // Renew ephemerides (bit 12), and switch off without satellites (bit 16).
      flags = flags & ~(3 << 17) & ~(1 << 16) | 1 << 12
      payload.set(u4: UInt32(seconds) * 1000, at: 8)
      payload.set(u4: UInt32(seconds) * 1000, at: 12)
      payload.set(u2: 0, at: 20)
    }
    payload.set(u4: flags, at: 4)
    return payload
  }
}

extension ReceiverDescription {
  /// Whether it is M8 with protocol version 23, which has its own power modes in CFG-PMS.
  var isSuperE: Bool { generation == .m8 && protocolVersion?.major == 23 }
}

extension PowerSave {
  /// Returns the poll of a receiver's mode: CFG-PMS on Super-E, CFG-RXM before items, CFG-PM-OPERATEMODE after.
  public static func poll(for receiver: ReceiverDescription) -> Command {
    if receiver.can(.valset) {
      return Configuration.valget([0x20D0_0001])
    }
    return .poll(receiver.isSuperE ? .cfgPMS : .cfgRXM)
  }

  /// Returns the name of the mode in a reply; nil if it is another reply.
  public static func name(ofReply payload: [UInt8], from receiver: ReceiverDescription) -> String? {
    let names: [UInt64: String]
    let value: UInt64
    if receiver.can(.valset) {
      guard let pair = Configuration.pairs(payload).first(where: { $0.id == 0x20D0_0001 }) else { return nil }
      (value, names) = (pair.bits, [0: "continuous", 1: "on/off", 2: "cyclic tracking"])
    } else {
      guard payload.count >= 2 else { return nil }
      value = UInt64(payload[1])
      names =
        receiver.isSuperE
        ? [
          0: "continuous", 1: "Super-E, balanced", 2: "Super-E, at an interval", 3: "Super-E, 1 Hz", 4: "Super-E, 2 Hz",
          5: "Super-E, 4 Hz", 0xFF: "Super-E, by settings of its own",
        ] : [0: "continuous", 1: "power save", 4: "eco"]
    }
    return names[value] ?? "unknown (\(value))"
  }
}
