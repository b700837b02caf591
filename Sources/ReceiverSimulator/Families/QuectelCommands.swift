// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import WireBytes

// Quectel's PQTM commands: `<name>,OK` with the values of a query, or `<name>,ERROR,<n>`. Latencies and values are those
// of the recordings of an LG290P.
extension VirtualReceiver {
  /// Settings that can be read and written, and have no effect in the simulation.
  private static let pqtmDefaults: [String: String] = [
    "PQTMCFGPPS2": "1,1,100,2,1,0,1000,0,1,0,0,0", "PQTMCFGELETHD": "5.0", "PQTMCFGSIGNAL": "07,03,0F,3F,0F,01",
    "PQTMCFGRTCM": "4,0,-90.0,07,06,1,0",
    "PQTMCFGRSID": "290", "PQTMCFGPROT": "1,1,00000007,00000007", "PQTMCFGPPS": "1,1,100,2,1,0",
  ]

  mutating func receivePQTM(_ fields: FamilyFields) {
    let name = fields.address
    guard name.hasPrefix("PQTM") else { return }
    guard !disturbances.refuses(at: now) else { return answer(name, ["\(name),ERROR,2"]) }
    switch name {
    case "PQTMVERNO": answer(name, ["\(name),\(traits.software)"])
    case "PQTMUNIQID": answer(name, ["\(name),OK,8,0000183B31B3C252"])
    case "PQTMLSTMSG":
      let own = ["PQTMTXT", "PQTMPVT"].filter { family?.current.rates[$0] ?? 0 > 0 }
      answer(name, own.map { "\(name),OK,1,1,\($0),1,1" } + ["\(name),OK,End"])
    case "PQTMCFGUART": port(fields)
    case "PQTMCFGFIXRATE": setPeriodPQTM(fields)
    case "PQTMCFGMSGRATE": setMessagePQTM(fields)
    case "PQTMCFGCNST": setSystemsPQTM(fields)
    case "PQTMCFGRCVRMODE": setModePQTM(fields)
    case "PQTMCFGSVIN": setSurveyPQTM(fields)
    case "PQTMSAVEPAR":
      if let family { self.family?.stored = family.current }
      answer(name, ["\(name),OK"])
    case "PQTMRESTOREPAR":
      // In force after a restart.
      if let family { self.family?.stored = family.defaults }
      answer(name, ["\(name),OK"])
    case "PQTMHOT", "PQTMSRR": act(.restart(.hot), after: Milliseconds(5))
    case "PQTMWARM": act(.restart(.warm), after: Milliseconds(5))
    case "PQTMCOLD": act(.restart(.cold), after: Milliseconds(5))
    case "PQTMGNSSSTOP":
      answer(name, ["\(name),OK"])
      act(.stop, after: Milliseconds(5))
    case "PQTMGNSSSTART":
      answer(name, ["\(name),OK"])
      if !engine.isRunning { startEngine() }
    default: storePQTM(fields)
    }
  }

  /// Replies in order: the first query after 2 ms. Those that come before its reply are answered with the next epoch.
  private mutating func answer(_ name: String, _ lines: [String], isWrite: Bool = false) {
    guard let family else { return }
    let isBusy = family.deadline != nil
    var at = now + Milliseconds(isWrite ? 3 : 2)
    if isBusy {
      // A stopped engine has no epochs.
      at = max(at, family.repliedAt.moved(by: 0.0007))
      if let next = nextEpoch, family.repliedAt < next { at = next.moved(by: 0.006) }
    }
    for (index, line) in lines.enumerated() {
      let bytes = sentenceBytes(line)
      self.family?.reply(bytes, at: at.moved(by: 0.0007 * Double(index)))
    }
  }

  private mutating func acknowledgeWrite(_ name: String) {
    if family?.losesAcknowledgement() == true { return }
    answer(name, ["\(name),OK"], isWrite: true)
  }

  private mutating func fail(_ name: String) { answer(name, ["\(name),ERROR,1"], isWrite: true) }

  private mutating func port(_ fields: FamilyFields) {
    guard let family else { return }
    if fields[0] == "R" { return answer(fields.address, ["PQTMCFGUART,OK,1,\(family.current.baudRate),8,0,1,0"]) }
    // The number of the port may be absent.
    guard fields[0] == "W", let rate = UInt32(fields[1]).flatMap({ $0 > 8 ? $0 : UInt32(fields[2]) }),
      family.traits.baudRates.contains(rate)
    else { return fail(fields.address) }
    changeFamilyRate(to: rate, acknowledging: sentenceBytes("\(fields.address),OK"), after: Milliseconds(2))
  }

  /// The period is in force after it was saved, and a restart.
  private mutating func setPeriodPQTM(_ fields: FamilyFields) {
    guard let family else { return }
    let written = family.current.values["period"] ?? "\(family.current.periodMilliseconds)"
    if fields[0] == "R" { return answer(fields.address, ["PQTMCFGFIXRATE,OK,\(written)"]) }
    guard fields[0] == "W", let period = fields.number(1), [50, 100, 200, 500, 1000].contains(period) else {
      return fail(fields.address)
    }
    self.family?.current.values["period"] = "\(period)"
    acknowledgeWrite(fields.address)
  }

  private static let systemsPQTM = SystemTable(.gps, .glonass, .galileo, .beiDou)

  private mutating func setSystemsPQTM(_ fields: FamilyFields) {
    guard let family else { return }
    let flags = Self.systemsPQTM.flags(of: family.current.systems).map { $0 ? "1" : "0" }
    let written = family.current.values["systems"] ?? (flags + ["1", "1"]).joined(separator: ",")
    if fields[0] == "R" { return answer(fields.address, ["PQTMCFGCNST,OK,\(written)"]) }
    guard fields[0] == "W", let wanted = fields.numbers(from: 1), wanted.count == 6,
      wanted.allSatisfy({ 0...1 ~= $0 }), wanted[..<4].contains(1)
    else { return fail(fields.address) }
    self.family?.current.values["systems"] = fields.rest(from: 1)
    acknowledgeWrite(fields.address)
  }

  private mutating func setMessagePQTM(_ fields: FamilyFields) {
    // The port is left out, or `1,1`.
    let hasPort = fields.number(1) != nil
    let (name, rate) = (fields[hasPort ? 3 : 1], fields.number(hasPort ? 4 : 2))
    let known = ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "ZDA", "GST", "GBS", "GNS", "PQTMEPE", "PQTMPVT", "PQTMTXT"]
    if let number = Self.pqtmCorrections[name] {
      let offset = fields.count > (hasPort ? 5 : 3) ? fields.number(hasPort ? 5 : 3) ?? -1 : nil
      return setCorrectionPQTM(fields, name, number, rate, offset)
    }
    // A message of the other mode is refused.
    if name == Self.surveyStatus, family?.isBase != true {
      return answer(fields.address, ["\(fields.address),ERROR,3"])
    }
    guard (known + [Self.surveyStatus]).contains(name) else { return fail(fields.address) }
    let own = name == "PQTMEPE" ? "EPE" : name
    if fields[0] == "R" {
      return answer(fields.address, ["PQTMCFGMSGRATE,OK,\(name),\(family?.current.rates[own] ?? 0)"])
    }
    guard fields[0] == "W", let rate, 0...20 ~= rate else { return fail(fields.address) }
    family?.current.rates[own] = rate
    acknowledgeWrite(fields.address)
  }

  // MARK: Base station (LG290P(03), LGx80P(03) GNSS Protocol Specification)

  static let surveyStatus = "PQTMSVINSTATUS"
  private static let pqtmCorrections: [String: Int] = [
    "RTCM3-1005": 1005, "RTCM3-107X": 1074, "RTCM3-108X": 1084, "RTCM3-109X": 1094, "RTCM3-111X": 1114,
    "RTCM3-112X": 1124,
    "RTCM3-113X": 1134, "RTCM3-1019": 1019, "RTCM3-1020": 1020, "RTCM3-1042": 1042, "RTCM3-1046": 1046,
  ]
  /// The messages that a base sends without a further command.
  private static let pqtmBase = [1005, 1074, 1084, 1094, 1124]

  /// The mode is in force after it was saved, and a restart.
  private mutating func setModePQTM(_ fields: FamilyFields) {
    if fields[0] == "R" {
      return answer(fields.address, ["PQTMCFGRCVRMODE,OK,\(family?.current.values["mode"] ?? "1")"])
    }
    guard fields[0] == "W", fields.count == 2, ["1", "2"].contains(fields[1]) else { return fail(fields.address) }
    family?.current.values["mode"] = fields[1]
    acknowledgeWrite(fields.address)
  }

  private mutating func setSurveyPQTM(_ fields: FamilyFields) {
    let none = "0,0,0.0,0.0000,0.0000,0.0000"
    if fields[0] == "R" {
      // A last field that the specification does not have, as recorded.
      return answer(fields.address, ["PQTMCFGSVIN,OK,\(family?.current.values["survey"] ?? none),0.0"])
    }
    guard fields[0] == "W", fields.count == 7, let mode = fields.number(1), 0...2 ~= mode,
      let seconds = fields.number(2), 0...86_400 ~= seconds,
      (3...6).allSatisfy({ Double(fields[$0])?.isFinite == true })
    else { return fail(fields.address) }
    family?.current.values["survey"] = fields.rest(from: 1)
    acknowledgeWrite(fields.address)
  }

  /// All MSM have one rate, and a time offset; ephemerides have no rate (specification, table 6 and its notes).
  private mutating func setCorrectionPQTM(
    _ fields: FamilyFields, _ name: String, _ number: Int, _ rate: Int?, _ offset: Int?
  ) {
    let isMSM = name.hasSuffix("X")
    if fields[0] == "R" {
      let rate = (family?.current.corrections[number] ?? 0) / settings.epochMilliseconds
      return answer(fields.address, ["PQTMCFGMSGRATE,OK,\(name),\(rate)\(isMSM ? ",0" : "")"])
    }
    let isEphemeris = 1019...1046 ~= number
    guard fields[0] == "W", let rate, (isEphemeris ? 0...1 : 0...1200) ~= rate,
      isMSM ? 0..<max(rate, 1) ~= offset ?? 0 : offset == nil
    else { return fail(fields.address) }
    let period = UInt32(rate) * settings.epochMilliseconds
    family?.current.corrections[number] = rate > 0 ? period : nil
    if isMSM, rate > 0 {
      for other in Self.pqtmCorrections.values where other > 1046 && family?.current.corrections[other] != nil {
        family?.current.corrections[other] = period
      }
    }
    acknowledgeWrite(fields.address)
  }

  /// Puts the mode into force: a change of it resets the messages, and a base has an epoch a second.
  private mutating func loadModePQTM() {
    guard let family else { return }
    let isBase = family.current.values["mode"] == "2"
    if isBase != family.isBase {
      self.family?.isBase = isBase
      let numbers = isBase ? Self.pqtmBase : []
      self.family?.current.rates = isBase ? [:] : family.defaults.rates
      self.family?.current.corrections = Dictionary(uniqueKeysWithValues: numbers.map { ($0, 1000) })
      if let current = self.family?.current { self.family?.stored = current }
    }
    if isBase { self.family?.current.periodMilliseconds = 1000 }
    let survey = family.current.values["survey"]?.split(separator: ",").compactMap { Double($0) } ?? []
    self.family?.current.timeMode = isBase && survey.count == 6 ? TimeMode.Setting(quectel: survey) : .off
  }

  /// The state of the survey; nil for a rover.
  var surveyStatusPQTM: String? {
    guard family?.isBase == true, family?.current.rates[Self.surveyStatus] ?? 0 > 0 else { return nil }
    let survey = timeMode.survey
    let isFixed = if case .position = timeMode.setting { true } else { false }
    let place = timeMode.place ?? survey.mean
    let centre = Earth.ecef(latitude: place.latitude, longitude: place.longitude, height: place.height)
    let isKnown = isFixed || survey.observations > 0
    let axes = [centre.x, centre.y, centre.z].map { isKnown ? $0.decimals(4) : "0.0000" }
    let validity = timeMode.place != nil ? 2 : survey.observations > 0 ? 1 : 0
    let duration = if case .survey(let seconds, _) = timeMode.setting { seconds } else { UInt32(0) }
    return
      "\(Self.surveyStatus),1,\(solution.gps.millisecondOfWeek),\(validity),,11,\(survey.observations),\(duration),"
      + axes.joined(separator: ",") + ",\((isFixed ? 0 : survey.deviation).decimals(4))"
  }

  private mutating func storePQTM(_ fields: FamilyFields) {
    let name = fields.address
    guard let value = family?.current.values[name] ?? Self.pqtmDefaults[name] else { return fail(name) }
    if fields[0] == "R" { return answer(name, ["\(name),OK,\(value)"]) }
    guard fields[0] == "W", fields.count > 1 else { return fail(name) }
    family?.current.values[name] = fields.rest(from: 1)
    acknowledgeWrite(name)
  }

  /// Puts what is stored, and in force after a start alone, into force.
  mutating func loadPQTM() {
    guard let values = family?.current.values else { return }
    let period = values["period"].flatMap { UInt32($0) } ?? family?.defaults.periodMilliseconds
    if let period { family?.current.periodMilliseconds = period }
    loadModePQTM()
    guard let flags = values["systems"]?.split(separator: ","), flags.count >= 4 else { return }
    family?.current.systems = Self.systemsPQTM.systems(flags: flags.map { $0 == "1" })
  }
}
