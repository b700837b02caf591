// SPDX-License-Identifier: Apache-2.0
import UBX

// The user's words as settings of this receiver.
extension SettingsEdit {
  mutating func add(
    _ word: SettingWord, _ owner: Int, _ receiver: ReceiverDescription, _ port: ReceiverPortNumber?, usesItems: Bool
  ) throws(SettingProblem) {
    var desired = DesiredConfiguration()
    switch word.meaning {
    case .measurementPeriod(let period): desired.measurementPeriodMilliseconds = period
    case .model(let model): desired.dynamicModel = model
    case .constellations(let constellations):
      // GPS and QZSS share their signals. With only one of them enabled the receiver takes satellites of the one for
      // those of the other (interface descriptions, CFG-GNSS).
      let needsQZSS = constellations.contains(.gps) && !constellations.contains(.qzss)
      desired.constellations = needsQZSS ? constellations + [.qzss] : constellations
      if usesItems { return addItems(of: constellations, owner) }
    case .messages(let messages): return try add(messages, word.name, owner, port, usesItems: usesItems)
    case .writesNMEA(let writes): desired.writesNMEA = writes
    case .portRate(let rate): return try setLineRate(rate, word.name, port)
    case .item(let pair): return try add(pair, word.name, owner, receiver, port)
    case .field(let record, let value): return try add(value, of: record, word.name, owner, receiver, port)
    }
    let settings = usesItems ? desired.itemSettings(port ?? .uart1) : desired.messageSettings(for: receiver)
    for setting in settings { entries.append(Entry(setting: setting, owner: owner)) }
  }

  private mutating func addItems(of constellations: [DesiredConfiguration.Constellation], _ owner: Int) {
    for one in DesiredConfiguration.Constellation.allCases {
      let isOn = constellations.contains(one)
      // A receiver without QZSS has the desired state if only GPS was requested.
      let followsGPS = one == .qzss && constellations.contains(.gps) && !isOn
      let pair = ConfigurationPair(id: one.enablingKey, bits: isOn || followsGPS ? 1 : 0)
      entries.append(Entry(setting: .item(pair), owner: owner, isOffIfMissing: !isOn))
    }
  }

  private mutating func add(
    _ messages: [DesiredConfiguration.MessageRate], _ name: String, _ owner: Int, _ port: ReceiverPortNumber?,
    usesItems: Bool
  ) throws(SettingProblem) {
    for one in messages {
      let message = one.message
      guard usesItems else {
        let selector = [message.messageClass, message.messageID]
        entries.append(Entry(setting: .message(.cfgMSG, selector: selector, .messageRate(one.rate)), owner: owner))
        continue
      }
      guard let key = MessageOutput.key(of: message, on: port ?? .uart1) else {
        throw SettingProblem("\(name): no item switches \(MessageNames.name(message))")
      }
      entries.append(Entry(setting: .item(ConfigurationPair(id: key, bits: UInt64(one.rate))), owner: owner))
    }
  }

  private mutating func add(
    _ pair: ConfigurationPair, _ name: String, _ owner: Int, _ receiver: ReceiverDescription,
    _ port: ReceiverPortNumber?
  ) throws(SettingProblem) {
    try SettingsReading.check(receiver, hasItems: true)
    let own = port ?? .uart1
    if pair.id == own.rateKey { return try setLineRate(UInt32(truncatingIfNeeded: pair.bits), name, port) }
    if pair.bits == 0, pair.id == own.inputProtocolKey(1) || pair.id == own.outputProtocolKey(1) {
      throw Self.cutsLine(name)
    }
    entries.append(Entry(setting: .item(pair), owner: owner))
  }

  private mutating func add(
    _ value: Setting.FieldValue, of record: ConfigurationRecord, _ name: String, _ owner: Int,
    _ receiver: ReceiverDescription, _ port: ReceiverPortNumber?
  ) throws(SettingProblem) {
    try SettingsReading.check(receiver, hasItems: false)
    if record.identity == .cfgPRT, value.field.path.lowercased() == "baudrate" {
      guard let rate = UInt32(value.text) else { throw SettingProblem("\(name)=\(value.text): not a baud rate") }
      if record.selector.isEmpty || port.map({ record.selector == [$0.rawValue] }) ?? false {
        return try setLineRate(rate, name, port)
      }
      if port == nil { portRates.append(PortRate(entry: entries.count, selector: record.selector, rate: rate)) }
    }
    entries.append(
      Entry(setting: .message(record.identity, selector: record.selector, .fields([value])), owner: owner))
  }

  mutating func setLineRate(_ rate: UInt32, _ name: String, _ port: ReceiverPortNumber?) throws(SettingProblem) {
    guard hasRate, port.map({ $0.rateKey != nil }) ?? true else { throw Self.hasNoRate(name) }
    guard (4800...8_000_000).contains(rate) else {
      throw SettingProblem("\(name): a baud rate is at least 4800 and at most 8000000")
    }
    lineRate = LineRate(rate: rate, name: name)
  }

  static func hasNoRate(_ name: String) -> SettingProblem { SettingProblem("\(name): this line has no rate") }

  static func cutsLine(_ name: String) -> SettingProblem {
    SettingProblem("\(name): this command uses UBX on that port; switch it off over another port")
  }
}
