// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// ST's commands (UM2229): each is answered by its name with OK or ERROR.
extension VirtualReceiver {
  private static let pstmLatency = Milliseconds(20)
  /// The bits of the message mask, CDB 201.
  private static let pstmSentences: [(bit: Int, name: String)] = [
    (1, "GGA"), (2, "GSA"), (3, "GST"), (4, "VTG"), (6, "RMC"), (19, "GSV"), (20, "GLL"), (24, "ZDA"),
  ]
  /// The codes of baud rates, CDB 102.
  private static let pstmRates: [UInt32] = [
    300, 600, 1200, 2400, 4800, 9600, 14_400, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600,
  ]

  mutating func receivePSTM(_ fields: FamilyFields) {
    let name = fields.address
    guard name.hasPrefix("PSTM"), let family else { return }
    guard !disturbances.refuses(at: now) else { return verdict(name, false) }
    switch name {
    case "PSTMGETSWVER":
      respond("PSTMVER,\(traits.hardware)", after: Self.pstmLatency)
      if fields[0] == "255" || fields[0] == "6" {
        respond("PSTMVER,BINIMG_\(traits.software)", after: Self.pstmLatency)
      }
    case "PSTMSETPAR": setParameter(fields)
    case "PSTMGETPAR": getParameter(fields)
    case "PSTMSAVEPAR":
      self.family?.stored = family.current
      verdict(name, true)
    case "PSTMRESTOREPAR":
      self.family?.stored = family.defaults
      verdict(name, true)
    case "PSTMCFGMSGL", "PSTMNMEAREQUEST": setMask(fields)
    case "PSTMSETCONSTMASK": setSystemsPSTM(fields)
    case "PSTMSRR": act(.restart(.hot), after: Self.pstmLatency)
    case "PSTMHOT", "PSTMWARM", "PSTMCOLD":
      verdict(name, true)
      act(.restart(name == "PSTMHOT" ? .hot : name == "PSTMWARM" ? .warm : .cold), after: Self.pstmLatency)
    case "PSTMGPSSUSPEND":
      verdict(name, true)
      act(.stop, after: Self.pstmLatency)
    case "PSTMGPSRESTART":
      verdict(name, true)
      if !engine.isRunning { startEngine() }
    case "PSTMFORCESTANDBY":
      guard let seconds = fields.number(0), 1...99_999 ~= seconds else { return verdict(name, false) }
      verdict(name, true)
      guard !disturbances.ignoresSleep(at: now) else { return }
      act(.sleep(Milliseconds(UInt64(seconds) * 1000), byLine: false), after: Self.pstmLatency)
    default: verdict(name, false)
    }
  }

  private mutating func verdict(_ name: String, _ isDone: Bool) {
    acknowledge("\(name)\(isDone ? "OK" : "ERROR")", after: Self.pstmLatency)
  }

  private static func period(_ text: String) -> UInt32? {
    Double(text).flatMap { 0.1...10 ~= $0 ? UInt32(nearest: $0 * 1000) : nil }
  }

  /// `PSTMSETPAR,1<CDB>,<value>`: stored in RAM; the rate and the period are in force after a restart.
  private mutating func setParameter(_ fields: FamilyFields) {
    let id = String(fields[0].suffix(3))
    guard fields[0].count == 4, !fields[1].isEmpty else { return verdict(fields.address, false) }
    switch id {
    case "102":
      guard let code = Int(fields[1], radix: 16), Self.pstmRates.indices ~= code,
        family?.traits.baudRates.contains(Self.pstmRates[code]) == true
      else { return verdict(fields.address, false) }
      family?.current.values["baud"] = "\(Self.pstmRates[code])"
    case "303":
      guard let period = Self.period(fields[1]) else { return verdict(fields.address, false) }
      family?.current.values["period"] = "\(period)"
    case "201":
      guard let mask = UInt64(fields[1], radix: 16) else { return verdict(fields.address, false) }
      setRates(mask)
    default: family?.current.values[id] = fields[1]
    }
    verdict(fields.address, true)
  }

  private mutating func getParameter(_ fields: FamilyFields) {
    guard let family, fields[0].count == 4 else { return verdict(fields.address, false) }
    let id = String(fields[0].suffix(3))
    let value: String?
    switch id {
    case "102":
      let rate = family.current.values["baud"].flatMap { UInt32($0) } ?? family.current.baudRate
      value = Self.pstmRates.firstIndex(of: rate).map { String($0, radix: 16) }
    case "303":
      let period = family.current.values["period"].flatMap { Double($0) } ?? Double(family.current.periodMilliseconds)
      value = "\(period / 1000)"
    case "201": value = String(mask, radix: 16)
    default: value = family.current.values[id]
    }
    guard let value else { return verdict(fields.address, false) }
    respond("PSTMSETPAR,\(fields[0]),\(value)", after: Self.pstmLatency)
  }

  private var mask: UInt64 {
    Self.pstmSentences.reduce(0) { mask, row in
      family?.current.rates[row.name] ?? 0 > 0 ? mask | 1 << UInt64(row.bit) : mask
    }
  }

  private mutating func setRates(_ mask: UInt64) {
    for row in Self.pstmSentences { family?.current.rates[row.name] = mask >> UInt64(row.bit) & 1 == 1 ? 1 : 0 }
  }

  /// `PSTMCFGMSGL,<list>,<rate>,<low>,<high>`.
  private mutating func setMask(_ fields: FamilyFields) {
    let first = fields.address == "PSTMCFGMSGL" ? 2 : 0
    guard let low = UInt64(fields[first], radix: 16) else { return verdict(fields.address, false) }
    setRates(low)
    verdict(fields.address, true)
  }

  private mutating func setSystemsPSTM(_ fields: FamilyFields) {
    guard let mask = fields.number(0), mask > 0 else { return verdict(fields.address, false) }
    // 1 GPS, 2 GLONASS, 8 Galileo, 128 BeiDou.
    let table = SystemTable(.gps, .glonass, [], .galileo, [], [], [], .beiDou)
    let systems = table.systems(mask: UInt32(truncatingIfNeeded: mask))
    // BeiDou and GLONASS share a radio.
    guard !systems.isEmpty, !systems.isSuperset(of: [.glonass, .beiDou]) else { return verdict(fields.address, false) }
    family?.current.systems = systems
    verdict(fields.address, true)
    restartSearch()
  }

  /// Puts what is in force after a start alone into force.
  mutating func loadPSTM() {
    if let rate = family?.current.values["baud"].flatMap({ UInt32($0) }) { family?.current.baudRate = rate }
    if let period = family?.current.values["period"].flatMap({ UInt32($0) }) {
      family?.current.periodMilliseconds = period
    }
  }
}
