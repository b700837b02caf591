// SPDX-License-Identifier: Apache-2.0

import UBX

/// One setting of a receiver, and its desired value.
///
/// Receivers before protocol version 27 have settings in CFG messages, of which a part is changed and the rest is sent back
/// as it was; later ones in items with a key.
package enum Setting: Sendable, Equatable {
  /// A CFG message: its class and id, the payload of its poll, and the change.
  case message(MessageIdentity, selector: [UInt8], Change)
  /// A configuration item of the RAM layer, and its value.
  case item(ConfigurationPair)

  /// How a CFG message's payload changes.
  package enum Change: Sendable, Equatable {
    case port(DesiredConfiguration)
    /// The protocols of a port, by the masks of CFG-PRT.
    case portProtocols(input: UInt16, output: UInt16)
    case messageRate(UInt8)
    case measurementPeriod(UInt16)
    case dynamicModel(UInt8)
    case constellations([UInt8])
    /// Acknowledgements of assistance messages, CFG-NAVX5 ackAiding.
    case answersToAssistance(Bool)
    /// Fields by name.
    case fields([FieldValue])
    case powerSave(PowerSave)
    case lowPower(UInt8)
    case batch(BatchConfiguration)
    /// The whole payload, to restore what was found.
    case payload([UInt8])
  }

  /// A value for a field of a CFG message.
  package struct FieldValue: Sendable, Equatable {
    package var field: FieldPath
    package var text: String

    package init(field: FieldPath, text: String) {
      self.field = field
      self.text = text
    }
  }
}

extension Setting.Change {
  /// Returns `found` with the change; nil if `found` is another message.
  ///
  /// - Parameters:
  ///   - identity: the message.
  ///   - port: the number of the line's port, by CFG-PRT.
  package func applied(to found: [UInt8], _ identity: MessageIdentity, port: Int) -> [UInt8]? {
    var payload = found
    switch self {
    case .port(let desired):
      guard payload.count >= 20 else { return nil }
      payload.set(u2: payload.u2(12) | 1 | (desired.readsRTCM3 == true ? 1 << 5 : 0), at: 12)
      var output = payload.u2(14) | 1
      if let writes = desired.writesNMEA { output = writes ? output | 2 : output & ~2 }
      payload.set(u2: output, at: 14)
    case .portProtocols(let input, let output):
      guard payload.count >= 20 else { return nil }
      payload.set(u2: input, at: 12)
      payload.set(u2: output, at: 14)
    case .messageRate(let rate):
      if payload.count == 3 {
        payload[2] = rate
      } else {
        guard payload.count >= 8, port < 6 else { return nil }
        payload[2 + port] = rate
      }
    case .measurementPeriod(let milliseconds):
      guard payload.count >= 6 else { return nil }
      payload.set(u2: milliseconds, at: 0)
    case .dynamicModel(let model):
      guard payload.count >= 36 else { return nil }
      // Only fields in the mask are applied.
      payload.set(u2: 1, at: 0)
      payload[2] = model
    case .constellations(let wanted):
      guard payload.count >= 4, payload.count >= 4 + 8 * Int(payload[3]) else { return nil }
      for block in 0..<Int(payload[3]) {
        let at = 4 + 8 * block
        let isOn = wanted.contains(payload[at])
        payload[at + 4] = payload[at + 4] & ~1 | (isOn ? 1 : 0)
      }
    case .answersToAssistance(let isOn):
      guard payload.count >= 40 else { return nil }
      payload[17] = isOn ? 1 : 0
      ApplicationMask.set(.cfgNAVX5, for: ["ackAiding"], in: &payload)
    case .fields(let values):
      let fields = PayloadFields.list(identity, payload)
      for value in values {
        guard let field = fields.first(where: { $0.path.lowercased() == value.field.path.lowercased() }) else {
          return nil
        }
        do { try PayloadFields.set(field, element: value.field.element, value.text, in: &payload) } catch { return nil }
      }
      ApplicationMask.set(identity, for: values.map(\.field.path), in: &payload)
    case .powerSave(let mode): return mode.applied(toPM2: found)
    case .lowPower(let mode):
      guard payload.count >= 2 else { return nil }
      payload[1] = mode
    case .batch(let desired): return desired.applied(to: found)
    case .payload(let whole): payload = whole
    }
    return payload
  }

  /// Returns the change that restores `found`.
  package func undoing(_ found: [UInt8]) -> Setting.Change {
    switch self {
    case .dynamicModel where found.count > 2: .dynamicModel(found[2])
    case .answersToAssistance where found.count > 17: .answersToAssistance(found[17] != 0)
    case .measurementPeriod: .measurementPeriod(found.u2(0))
    // Without the rate, which is restored by `PortRateChange`.
    case .port where found.count >= 20: .portProtocols(input: found.u2(12), output: found.u2(14))
    default: .payload(found)
    }
  }

  /// Whether two payloads have the same values, without the parts that the receiver fills in.
  package func isSame(_ a: [UInt8], _ b: [UInt8], _ identity: MessageIdentity) -> Bool {
    switch self {
    case .dynamicModel: a.count > 2 && b.count > 2 && a[2] == b[2]
    case .measurementPeriod: a.u2(0) == b.u2(0)
    case .answersToAssistance: a.count > 17 && b.count > 17 && a[17] == b[17]
    case .fields(let values): Self.isSame(values, PayloadFields.texts(identity, a), PayloadFields.texts(identity, b))
    case .portProtocols: a.count >= 20 && b.count >= 20 && a.u2(12) == b.u2(12) && a.u2(14) == b.u2(14)
    case .lowPower: a.count > 1 && b.count > 1 && a[1] == b[1]
    default: a == b
    }
  }

  private static func isSame(_ values: [Setting.FieldValue], _ a: [String: String], _ b: [String: String]) -> Bool {
    values.allSatisfy { value in
      let name = value.field.path.lowercased()
      return a[name] != nil && a[name] == b[name]
    }
  }
}

extension DesiredConfiguration {
  /// The time between two measurements, in milliseconds: in cyclic tracking it is the period of the mode.
  package var wantedMeasurementPeriod: UInt16? {
    if case .cyclic(let seconds)? = powerSave {
      UInt16(clamping: seconds * 1000)
    } else {
      measurementPeriodMilliseconds
    }
  }

  /// Returns the configuration as CFG messages.
  package func messageSettings(for receiver: ReceiverDescription) -> [Setting] {
    var settings: [Setting] = []
    if writesNMEA != nil || readsRTCM3 != nil {
      settings.append(.message(.cfgPRT, selector: [], .port(self)))
    }
    if let period = wantedMeasurementPeriod {
      settings.append(.message(.cfgRATE, selector: [], .measurementPeriod(period)))
    }
    if let dynamicModel {
      settings.append(.message(.cfgNAV5, selector: [], .dynamicModel(dynamicModel.rawValue)))
    }
    if let constellations {
      settings.append(.message(.cfgGNSS, selector: [], .constellations(constellations.map(\.rawValue))))
    }
    // The batch is on before the messages are off: a fix that is stored and sent is recognised by its time; one that is
    // neither is lost.
    if let batch, batch.isOn { settings.append(.message(.cfgBATCH, selector: [], .batch(batch))) }
    for message in messages {
      let selector = [message.message.messageClass, message.message.messageID]
      settings.append(.message(.cfgMSG, selector: selector, .messageRate(message.rate)))
    }
    if let batch, !batch.isOn { settings.append(.message(.cfgBATCH, selector: [], .batch(batch))) }
    if let powerSave { settings += powerSave.messageSettings(for: receiver, isOn: isPowerSaveOn) }
    return settings
  }

  /// Returns the configuration as items for a port (interface descriptions, CFG-MSGOUT, CFG-UART1OUTPROT, CFG-RATE,
  /// CFG-NAVSPG, CFG-SIGNAL).
  package func itemSettings(_ port: ReceiverPortNumber) -> [Setting] {
    var pairs: [ConfigurationPair] = []
    // Without a desired value, or with a rate alone, the output protocol is not changed either.
    var withoutRate = self
    withoutRate.portRate = nil
    withoutRate.keepsPortRate = false
    withoutRate.leastPortRate = nil
    if withoutRate == .nothing { return [] }
    pairs.append(ConfigurationPair(id: port.outputProtocolKey(1), bits: 1))
    if let writesNMEA { pairs.append(ConfigurationPair(id: port.outputProtocolKey(2), bits: writesNMEA ? 1 : 0)) }
    if let readsRTCM3 { pairs.append(ConfigurationPair(id: port.inputProtocolKey(4), bits: readsRTCM3 ? 1 : 0)) }
    if let readsSPARTN {
      pairs.append(ConfigurationPair(id: port.inputProtocolKey(5), bits: readsSPARTN ? 1 : 0))
      // CFG-SPARTN-USE_SOURCE: 0 is IP, 1 is L-band.
      if readsSPARTN { pairs.append(ConfigurationPair(id: 0x20A7_0001, bits: 0)) }
    }
    if let period = wantedMeasurementPeriod {
      pairs.append(ConfigurationPair(id: 0x3021_0001, bits: UInt64(period)))
    }
    if let dynamicModel { pairs.append(ConfigurationPair(id: 0x2011_0021, bits: UInt64(dynamicModel.rawValue))) }
    if let constellations {
      for one in Constellation.allCases {
        pairs.append(ConfigurationPair(id: one.enablingKey, bits: constellations.contains(one) ? 1 : 0))
      }
    }
    for one in withoutConstellations ?? [] { pairs.append(ConfigurationPair(id: one.enablingKey, bits: 0)) }
    for message in messages {
      guard let key = MessageOutput.key(of: message.message, on: port) else { continue }
      pairs.append(ConfigurationPair(id: key, bits: UInt64(message.rate)))
    }
    if let batch { pairs += batch.items }
    if let base { pairs += base.items(port) }
    if let powerSave { pairs += powerSave.items(isOn: isPowerSaveOn) }
    return pairs.map { .item($0) }
  }
}

extension DesiredConfiguration.Constellation {
  /// The key of the constellation's switch in CFG-SIGNAL.
  package var enablingKey: UInt32 {
    switch self {
    case .gps: 0x1031_001F
    case .sbas: 0x1031_0020
    case .galileo: 0x1031_0021
    case .beiDou: 0x1031_0022
    case .qzss: 0x1031_0024
    case .glonass: 0x1031_0025
    case .navIC: 0x1031_0026
    }
  }
}

/// A field of a record by its name, such as `dynModel`, `groups[2].flags` or `rate[1]`, and one of its values.
public struct FieldPath: Sendable, Hashable {
  package var path: String
  package var element: Int?

  /// Reads a path: `[n]` at the end names one of several values.
  package init?(_ text: some StringProtocol) {
    guard !text.isEmpty else { return nil }
    guard text.last == "]", let open = text.lastIndex(of: "[") else {
      path = String(text)
      return
    }
    guard let element = Int(text[text.index(after: open)...].dropLast()), element >= 0 else { return nil }
    path = String(text[..<open])
    self.element = element
  }

  package var text: String { element.map { "\(path)[\($0)]" } ?? path }
}

extension Setting {
  /// Whether both have the same key, whatever the value.
  package func isOfSame(_ other: Setting) -> Bool {
    switch (self, other) {
    case (.message(let a, let first, _), .message(let b, let second, _)): a == b && first == second
    case (.item(let a), .item(let b)): a.id == b.id
    default: false
    }
  }

  /// Whether it is the rate of this message.
  package func isRate(of wanted: MessageIdentity) -> Bool {
    switch self {
    case .message(.cfgMSG, let selector, _): selector == [wanted.messageClass, wanted.messageID]
    case .message: false
    case .item(let pair): MessageOutput.key(of: wanted, on: .i2c).map { pair.id >= $0 && pair.id < $0 + 5 } ?? false
    }
  }
}

/// The masks that select the fields of a CFG message that a receiver applies (interface descriptions, CFG-NAV5 mask, CFG-NAVX5
/// mask1 and mask2).
package enum ApplicationMask {
  /// CFG-NAV5 mask: the bit of each field's group.
  private static let nav5: [(fields: [String], bit: UInt16)] = [
    (["dynmodel"], 0), (["minelev"], 1), (["fixmode", "fixedalt", "fixedaltvar"], 2), (["drlimit"], 3),
    (["pdop", "pacc"], 4), (["tdop", "tacc"], 5), (["staticholdthresh", "staticholdmaxdist"], 6), (["dgnsstimeout"], 7),
    (["cnothreshnumsvs", "cnothresh"], 8), (["utcstandard"], 10),
  ]
  /// CFG-NAVX5 mask1.
  private static let navx5: [(fields: [String], bit: UInt16)] = [
    (["minsvs", "maxsvs"], 2), (["mincno"], 3), (["inifix3d"], 6), (["wknrollover"], 9), (["ackaiding"], 10),
    (["useppp"], 13), (["aopcfg", "aoporbmaxerr"], 14),
  ]
  /// CFG-NAVX5 mask2.
  private static let navx5Second: [(fields: [String], bit: UInt16)] = [(["useadr"], 6), (["sigattencompmode"], 7)]

  /// Sets the masks so that these fields, and no others, are applied.
  package static func set(_ identity: MessageIdentity, for fields: [String], in payload: inout [UInt8]) {
    switch identity {
    case .cfgNAV5 where payload.count >= 2: payload.set(u2: mask(nav5, fields), at: 0)
    case .cfgNAVX5 where payload.count >= 8:
      payload.set(u2: mask(navx5, fields), at: 2)
      payload.set(u4: UInt32(mask(navx5Second, fields)), at: 4)
    default: break
    }
  }

  /// Whether a field is a mask, which is not a setting.
  package static func isMask(_ identity: MessageIdentity, _ path: String) -> Bool {
    identity == .cfgNAV5 && path == "mask" || identity == .cfgNAVX5 && (path == "mask1" || path == "mask2")
  }

  private static func mask(_ table: [(fields: [String], bit: UInt16)], _ fields: [String]) -> UInt16 {
    let fields = fields.map { $0.lowercased() }
    return table.reduce(0) { mask, row in row.fields.contains { fields.contains($0) } ? mask | 1 << row.bit : mask }
  }
}
