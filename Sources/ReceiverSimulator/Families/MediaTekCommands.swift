// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA

/// The order of PMTK314's fields (Quectel L80 GPS Protocol Specification).
private let pmtkSentences: [Int: String] = [
  0: "GLL", 1: "RMC", 2: "VTG", 3: "GGA", 4: "GSA", 5: "GSV", 6: "GRS", 7: "GST", 17: "ZDA",
]

// MediaTek's commands. Each is acknowledged with its number and 3 for done, 2 for failed, 1 for unsupported or 0 for
// invalid; queries reply with a packet of their own.
extension VirtualReceiver {
  private static let pmtkLatency = Milliseconds(20)

  mutating func receivePMTK(_ fields: FamilyFields) {
    if fields.address == "PQBAUD" { return receivePQBAUD(fields) }
    if fields.address == "PGCMD" { return receivePGCMD(fields) }
    guard fields.address.hasPrefix("PMTK"), let command = Int(fields.address.dropFirst(4)) else { return }
    guard !disturbances.refuses(at: now) else { return acknowledgePMTK(command, 2) }
    switch command {
    case 0: acknowledgePMTK(command, 3)
    case 101, 102, 103, 104: restartPMTK(command)
    case 161: sleepPMTK(fields)
    case 225: cyclePMTK(fields)
    case 183...187, 622: logPMTK(command, fields)
    case 220, 300: setPeriodPMTK(command, fields)
    case 251: setBaudPMTK(fields)
    case 291:
      acknowledgePMTK(command, 3)
      // It does not wake by its timer (Adafruit forum 45252).
      act(.sleep(nil, byLine: false), after: Self.pmtkLatency)
    case 314: setMessagesPMTK(fields)
    case 353: setSystemsPMTK(fields)
    case 120, 127, 223, 286, 301, 313, 335, 352, 386, 740, 741, 869, 886:
      if command == 869, fields[0] == "0" { return respond("PMTK869,2,1", after: Self.pmtkLatency) }
      family?.current.values["\(command)"] = fields.rest(from: 0)
      acknowledgePMTK(command, 3)
    case 262: acknowledgePMTK(command, model == .mt3333 ? 3 : 1)
    case 400:
      let period = settings.epochMilliseconds
      respond("PMTK500,\(period),0,0,0.0,0.0", after: Self.pmtkLatency)
    case 401: respond("PMTK501,\(family?.current.values["301"] ?? "2")", after: Self.pmtkLatency)
    case 413: respond("PMTK513,\(family?.current.values["313"] ?? "1")", after: Self.pmtkLatency)
    case 414: respond("PMTK514,\(messagesPMTK)", after: Self.pmtkLatency)
    case 605: identifyPMTK()
    default: acknowledgePMTK(command, 1)
    }
  }

  private mutating func acknowledgePMTK(_ command: Int, _ flag: Int) {
    acknowledge("PMTK001,\(command),\(flag)", after: Self.pmtkLatency)
  }

  private mutating func identifyPMTK() {
    let product = model == .mt3333 ? "PA1010D" : "PA6H"
    let isShort = family?.quirks.contains(.shortRelease) == true
    respond("PMTK705,\(traits.software),\(traits.hardware),\(product)\(isShort ? "" : ",1.0")", after: Self.pmtkLatency)
  }

  private mutating func restartPMTK(_ command: Int) {
    if command == 104, let family {
      // All settings, the rate included.
      self.family?.current = family.defaults
    }
    act(.restart(command == 101 ? .hot : command == 102 ? .warm : .cold), after: Milliseconds(10))
  }

  private mutating func sleepPMTK(_ fields: FamilyFields) {
    guard ["0", "1"].contains(fields[0]) else { return acknowledgePMTK(161, 0) }
    acknowledgePMTK(161, 3)
    guard !disturbances.ignoresSleep(at: now) else { return }
    act(.sleep(nil, byLine: true), after: Self.pmtkLatency)
  }

  private mutating func cyclePMTK(_ fields: FamilyFields) {
    let times = fields.numbers() ?? []
    switch times.first {
    case 0:
      family?.cycle = nil
      family?.action = nil
      acknowledgePMTK(225, 3)
    case 1 where times.count >= 3, 2 where times.count >= 3:
      guard 1000...518_400_000 ~= times[1], 1000...518_400_000 ~= times[2] else { return acknowledgePMTK(225, 0) }
      beginCycle(run: UInt64(times[1]), sleep: UInt64(times[2]), byLine: times[0] == 2)
    case 4:
      // The board has no wake pin: only the supply ends it.
      acknowledgePMTK(225, 3)
      act(.sleep(nil, byLine: false), after: Self.pmtkLatency)
    // The intervals of AlwaysLocate are not published.
    case 8, 9: beginCycle(run: 5000, sleep: 15_000, byLine: times[0] == 8)
    default: acknowledgePMTK(225, 0)
    }
  }

  private mutating func beginCycle(run: UInt64, sleep: UInt64, byLine: Bool) {
    acknowledgePMTK(225, 3)
    family?.cycle = FamilyState.Cycle(
      run: Milliseconds(run), sleep: Milliseconds(sleep), isWokenByLine: byLine)
    act(.sleep(Milliseconds(sleep), byLine: byLine), after: Milliseconds(run))
  }

  private mutating func setPeriodPMTK(_ command: Int, _ fields: FamilyFields) {
    guard let period = fields.number(0), 100...10_000 ~= period else { return acknowledgePMTK(command, 0) }
    family?.current.periodMilliseconds = UInt32(period)
    applyFamily()
    acknowledgePMTK(command, 3)
  }

  private mutating func setBaudPMTK(_ fields: FamilyFields) {
    guard let number = fields.number(0), let family else { return acknowledgePMTK(251, 0) }
    let rate = number == 0 ? family.defaults.baudRate : UInt32(clamping: number)
    guard family.traits.baudRates.contains(rate) else { return acknowledgePMTK(251, 0) }
    // Input is lost while the port changes.
    changeFamilyRate(to: rate, acknowledging: sentenceBytes("PMTK001,251,3"), after: Milliseconds(30))
    reception.silentUntil = now + Milliseconds(100)
  }

  /// Quectel's command for the rate, which some firmware takes when it is repeated only.
  private mutating func receivePQBAUD(_ fields: FamilyFields) {
    guard fields[0] == "W", let rate = UInt32(fields[1]), let family, family.traits.baudRates.contains(rate) else {
      return respond("PQBAUD,W,ERROR", after: Self.pmtkLatency)
    }
    let isRepeated = family.baudRequest == fields.text
    self.family?.baudRequest = fields.text
    if family.quirks.contains(.baudTwice), !isRepeated { return }
    changeFamilyRate(to: rate, acknowledging: sentenceBytes("PQBAUD,W,OK"), after: Milliseconds(30))
  }

  private mutating func receivePGCMD(_ fields: FamilyFields) {
    guard fields[0] == "33" else { return }
    respond("PGACK,33,\(fields[1])", after: Self.pmtkLatency)
    if fields[1] == "1" { respond("PGTOP,11,3", after: Self.pmtkLatency) }
  }

  private mutating func setMessagesPMTK(_ fields: FamilyFields) {
    if fields[0] == "-1" {
      let rates = family?.defaults.rates ?? [:]
      family?.current.rates = rates
      return acknowledgePMTK(314, 3)
    }
    guard let rates = fields.numbers(), 17...22 ~= rates.count, rates.allSatisfy({ 0...5 ~= $0 }) else {
      return acknowledgePMTK(314, 0)
    }
    for (index, rate) in rates.enumerated() {
      if let name = pmtkSentences[index] { family?.current.rates[name] = rate }
    }
    acknowledgePMTK(314, 3)
  }

  private var messagesPMTK: String {
    (0..<19).map { index in "\(pmtkSentences[index].flatMap { family?.current.rates[$0] } ?? 0)" }.joined(
      separator: ",")
  }

  private mutating func setSystemsPMTK(_ fields: FamilyFields) {
    guard model == .mt3333 else { return acknowledgePMTK(353, 1) }
    guard let flags = fields.numbers(), flags.count >= 2, flags.allSatisfy({ 0...1 ~= $0 }) else {
      return acknowledgePMTK(353, 0)
    }
    let systems = SystemTable(.gps, .glonass).systems(flags: flags.map { $0 == 1 })
    guard !systems.isEmpty else { return acknowledgePMTK(353, 2) }
    family?.current.systems = systems
    acknowledgePMTK(353, 3)
    restartSearch()
  }

  private mutating func logPMTK(_ command: Int, _ fields: FamilyFields) {
    if family?.quirks.contains(.noLogger) == true { return acknowledgePMTK(command, 1) }
    switch command {
    case 183:
      if let family { respond(family.log.status, after: Self.pmtkLatency) }
      return acknowledgePMTK(183, 3)
    case 184 where fields[0] == "1": family?.log.erase()
    case 185 where fields[0] == "0": family?.log.start()
    case 185 where fields[0] == "1": family?.log.stop()
    case 186: if solution.hasFix { family?.log.record(solution, always: true) }
    case 187:
      guard fields[0] == "1", let seconds = fields.number(1), 1...65_535 ~= seconds else {
        return acknowledgePMTK(187, 0)
      }
      family?.log.set(interval: seconds)
    case 622:
      guard let lines = family?.log.dump(usedOnly: fields[0] == "1") else { return }
      for line in lines + ["PMTK001,622,3"] {
        if let bytes = family?.altered(sentenceBytes(line)) { spool.append(.frame(bytes)) }
      }
      return
    default: return acknowledgePMTK(command, 0)
    }
    acknowledgePMTK(command, 3)
  }
}
