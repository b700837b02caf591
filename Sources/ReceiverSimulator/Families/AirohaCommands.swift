// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

// Airoha's commands (Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol Specification). `PAIR001,<command>,<result>`: 0 done,
// 2 failed, 3 not supported, 4 parameter error, 5 busy; it precedes the data of a query.
extension VirtualReceiver {
  static let pairLatency = Milliseconds(10)
  private static let pairSentences = ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GRS", "GST", "GNS"]
  /// The sentences that are off above 1 Hz.
  private static let slowSentences = ["VTG", "GLL", "ZDA", "GRS", "GST"]

  mutating func receivePAIR(_ fields: FamilyFields) {
    guard let family, countLock(fields) else { return }
    if fields.address == "PQTMVERNO" {
      var software = family.quirks.contains(.logger) ? "LC76GABNR12A03S,2023/11/20,18:21:40" : "\(traits.software)"
      if family.quirks.contains(.corrections) { software = "LC29HDANR11A07S,2024/07/16,17:50:56" }
      return respond("PQTMVERNO,\(software)", after: Self.pairLatency)
    }
    guard fields.address.hasPrefix("PAIR"), let command = Int(fields.address.dropFirst(4)) else { return }
    if family.quirks.contains(.busyAfterBoot), now.milliseconds(since: bootedAt) < 2000 {
      return acknowledgePAIR(command, 5)
    }
    guard !disturbances.refuses(at: now) else { return acknowledgePAIR(command, 2) }
    switch command {
    case 2:
      acknowledgePAIR(command, 0)
      if !engine.isRunning {
        forgetInStandby()
        startEngine()
      }
    case 3: stopPAIR()
    case 4, 5, 6, 7: restartPAIR(command)
    case 21: query(command, "PAIR021,\(traits.hardware)")
    case 50: setPeriodPAIR(fields)
    case 51: query(command, "PAIR051,\(settings.epochMilliseconds)")
    case 62: setMessagesPAIR(fields)
    case 63: readMessagesPAIR(fields)
    case 66: setSystemsPAIR(fields)
    case 67: query(command, "PAIR067,\(systemsPAIR)")
    case 382:
      self.family?.isLocked = fields[0] == "1"
      acknowledgePAIR(command, 0)
    case 411: query(command, "PAIR411,\(family.current.values["410"] ?? "1")")
    case 491: query(command, "PAIR491,\(family.current.values["490"] ?? "1")")
    case 58, 70, 72, 80, 104, 391, 410, 490, 511, 590, 600:
      self.family?.current.values["\(command)"] = fields.rest(from: 0)
      acknowledgePAIR(command, 0)
    case 432...437 where family.quirks.contains(.corrections): setCorrectionsPAIR(command, fields)
    case 513: savePAIR()
    case 650: sleepPAIR(fields)
    case 864: setBaudPAIR(fields)
    case 865: query(command, "PAIR865,0,0,\(family.stored.baudRate)")
    // LC76GABNR02A01S and older lack the logger.
    case 900...909 where family.quirks.contains(.logger): logPAIR(command, fields)
    default: acknowledgePAIR(command, 3)
    }
  }

  mutating func acknowledgePAIR(_ command: Int, _ result: Int) {
    acknowledge("PAIR001,\(command.digits(3)),\(result)", after: Self.pairLatency)
  }

  mutating func query(_ command: Int, _ data: String) {
    acknowledgePAIR(command, 0)
    respond(data, after: Self.pairLatency)
  }

  /// Counts the lock commands of a bare AG3335, which ignores the first four. Returns false if it ignores this one.
  private mutating func countLock(_ fields: FamilyFields) -> Bool {
    guard let family, family.quirks.contains(.needsLock), !family.isLocked else { return true }
    guard fields.address == "PAIR382", fields[0] == "1" else { return false }
    self.family?.knocks += 1
    return family.knocks >= 4
  }

  private mutating func stopPAIR() {
    acknowledgePAIR(3, 0)
    guard !disturbances.ignoresSleep(at: now) else { return }
    let isDeaf = family?.quirks.contains(.deafAfterStop) == true && family?.isLocked == false
    act(isDeaf ? .sleep(nil, byLine: false) : .stop, after: Self.pairLatency)
  }

  private mutating func restartPAIR(_ command: Int) {
    acknowledgePAIR(command, 0)
    if command == 7, let family {
      self.family?.current = family.defaults
      self.family?.stored = family.defaults
    }
    act(.restart(command == 4 ? .hot : command == 5 ? .warm : .cold), after: Self.pairLatency)
  }

  private mutating func setPeriodPAIR(_ fields: FamilyFields) {
    guard let period = fields.number(0), 100...1000 ~= period else { return acknowledgePAIR(50, 4) }
    family?.current.periodMilliseconds = UInt32(period)
    if period < 1000 {
      for name in Self.slowSentences { family?.current.rates[name] = 0 }
      for name in ["GSA", "GSV"] where family?.current.rates[name] ?? 0 > 0 {
        family?.current.rates[name] = 1000 / period
      }
    }
    applyFamily()
    acknowledgePAIR(50, 0)
  }

  private mutating func setMessagesPAIR(_ fields: FamilyFields) {
    if fields[0] == "-1" {
      let rates = family?.defaults.rates ?? [:]
      family?.current.rates = rates
      return acknowledgePAIR(62, 0)
    }
    guard let id = fields.number(0), Self.pairSentences.indices ~= id, let rate = fields.number(1), 0...20 ~= rate
    else {
      return acknowledgePAIR(62, 4)
    }
    family?.current.rates[Self.pairSentences[id]] = rate
    acknowledgePAIR(62, 0)
  }

  private mutating func readMessagesPAIR(_ fields: FamilyFields) {
    guard let id = fields.number(0), let family else { return acknowledgePAIR(63, 4) }
    let ids = id == -1 ? Array(Self.pairSentences.indices) : [id]
    guard ids.allSatisfy({ Self.pairSentences.indices ~= $0 }) else { return acknowledgePAIR(63, 4) }
    acknowledgePAIR(63, 0)
    for id in ids {
      respond("PAIR063,\(id),\(family.current.rates[Self.pairSentences[id]] ?? 0)", after: Self.pairLatency)
    }
  }

  /// PAIR432: -1 none, 0 MSM4, 1 MSM7; 434: 1005; 436: ephemerides, which are not simulated. The next number is the query.
  private mutating func setCorrectionsPAIR(_ command: Int, _ fields: FamilyFields) {
    guard let family else { return }
    let usual = command <= 433 ? "-1" : "0"
    guard command.isMultiple(of: 2) else {
      return query(command, "PAIR\(command),\(family.current.values["\(command - 1)"] ?? usual)")
    }
    guard let value = fields.number(0), (command == 432 ? -1...1 : 0...1) ~= value else {
      return acknowledgePAIR(command, 4)
    }
    self.family?.current.values["\(command)"] = "\(value)"
    if command == 432 {
      for number in [1074, 1084, 1094, 1124] {
        self.family?.current.corrections[number] = value == 0 ? settings.epochMilliseconds : nil
        self.family?.current.corrections[number + 3] = value == 1 ? settings.epochMilliseconds : nil
      }
    }
    acknowledgePAIR(command, 0)
  }

  private static let systemsPAIR = SystemTable(.gps, .glonass, .galileo, .beiDou)

  private var systemsPAIR: String {
    let flags = Self.systemsPAIR.flags(of: family?.current.systems ?? []).map { $0 ? "1" : "0" }
    return (flags + [family?.current.values["qzss"] ?? "1", "0"]).joined(separator: ",")
  }

  private mutating func setSystemsPAIR(_ fields: FamilyFields) {
    guard let flags = fields.numbers(), flags.count >= 4, flags.allSatisfy({ 0...1 ~= $0 }) else {
      return acknowledgePAIR(66, 4)
    }
    let systems = Self.systemsPAIR.systems(flags: flags.map { $0 == 1 })
    guard systems.contains(.gps) || systems == .beiDou else { return acknowledgePAIR(66, 4) }
    family?.current.systems = systems
    if flags.count > 4 { family?.current.values["qzss"] = "\(flags[4])" }
    acknowledgePAIR(66, 0)
    // It restarts; unsaved settings stay.
    act(.restart(.hot), after: Self.pairLatency)
  }

  private mutating func savePAIR() {
    // Above 1 Hz the engine has to be stopped.
    guard let family, !engine.isRunning || settings.epochMilliseconds >= 1000 else { return acknowledgePAIR(513, 2) }
    let baud = family.stored.baudRate
    self.family?.stored = family.current
    self.family?.stored.baudRate = baud
    acknowledgePAIR(513, 0)
  }

  private mutating func sleepPAIR(_ fields: FamilyFields) {
    guard let seconds = fields.number(0), seconds == 0 || 10...62_208_000 ~= seconds else {
      return acknowledgePAIR(650, 4)
    }
    if family?.quirks.contains(.unacknowledgedBackup) == false { acknowledgePAIR(650, 0) }
    guard !disturbances.ignoresSleep(at: now) else { return }
    act(
      .sleep(seconds == 0 ? nil : Milliseconds(UInt64(seconds) * 1000), byLine: false), after: Milliseconds(50))
  }

  /// The rate is stored at once, and taken at the next start.
  private mutating func setBaudPAIR(_ fields: FamilyFields) {
    guard fields[0] == "0", let rate = UInt32(fields[2]), family?.traits.baudRates.contains(rate) == true else {
      return acknowledgePAIR(864, 4)
    }
    family?.stored.baudRate = rate
    family?.startRate = rate
    acknowledgePAIR(864, 0)
  }
}
