// SPDX-License-Identifier: Apache-2.0
import UBX

extension PowerSave {
  /// Returns the poll of a receiver's mode: CFG-PMS on Super-E, CFG-RXM before items, CFG-PM-OPERATEMODE after.
  public static func poll(for receiver: ReceiverDescription) -> Command {
    if receiver.can(.valset) {
      return Configuration.valget([ConfigurationPair(id: 0x20D0_0001, bits: 0)])
    }
    return .poll(receiver.isSuperE ? .cfgPMS : .cfgRXM)
  }

  /// Returns the name of the mode in a reply; nil if it is no such reply.
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
