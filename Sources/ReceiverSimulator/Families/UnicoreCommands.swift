// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import RTCM3
import WireBytes

// The text commands of Unicore's Nebulas firmware. Lines are read at ticks of 50 ms; all acknowledgements of a tick come
// before the data, one line each 3 ms. The checksum of replies includes the first character (recordings of a UM980).
extension VirtualReceiver {
  private static let unicoreSentences = ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "ZDA", "GST"]
  private static let spacing = 0.00305

  mutating func receiveLine(_ line: String) {
    family?.waiting.append(line)
    guard family?.waitingAt == nil else { return }
    let at = tick(50, offset: 19, least: 20)
    family?.waitingAt = at
  }

  /// Performs the lines that were received before the tick.
  mutating func performWaiting() {
    let lines = family?.waiting ?? []
    family?.waiting = []
    family?.waitingAt = nil
    guard !disturbances.isFrozen(at: now) else { return }
    var data: [[UInt8]] = []
    var verdicts: [String] = []
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      guard let verb = words.first?.uppercased() else { continue }
      // The sentences of other makers, and their probes, have no reply.
      guard verb.utf8.allSatisfy({ 0x41...0x5A ~= $0 || 0x30...0x39 ~= $0 }) else { continue }
      let refuses = disturbances.refuses(at: now)
      guard !refuses, let more = performUnicore(verb, words) else {
        if Self.isUnicore(verb) { verdicts.append("command,\(line),response: PARSING FAILD NO MATCHING FUNC  \(verb)") }
        continue
      }
      verdicts.append("command,\(line),response: OK")
      data += more
    }
    var at = now
    for text in verdicts {
      if family?.losesAcknowledgement() == true { continue }
      family?.reply(Self.line("$" + text), at: at)
      at = at.moved(by: Self.spacing)
    }
    for bytes in data {
      family?.reply(bytes, at: at)
      at = at.moved(by: Self.spacing)
    }
  }

  private static func isUnicore(_ verb: String) -> Bool { verb.count >= 3 }

  /// A line whose checksum includes its first character.
  private static func line(_ text: String) -> [UInt8] {
    Array("\(text)*\(text.utf8.span.exclusiveOr.hexadecimalDigits.uppercased())\r\n".utf8)
  }

  /// Returns the data that follow the acknowledgement; nil for a line that is not a command.
  private mutating func performUnicore(_ verb: String, _ words: [String]) -> [[UInt8]]? {
    switch verb {
    case "VERSIONA": return [versionLine]
    case "VERSIONB": return [version]
    case "CONFIG" where words.count == 1: return configurationLines.map { Self.line("$CONFIG,\($0)") }
    case "CONFIG": return configure(words)
    case "MASK" where words.count == 1: return masks.map { Self.line("$CONFIG,MASK,MASK \($0)") }
    case "MASK", "UNMASK": return mask(words, isMasked: verb == "MASK")
    case "MODE" where words.count == 1: return [Self.line(modeLine)]
    case "MODE": return setMode(words)
    case "UNLOG", "UNLOGALL":
      if let number = words.last.flatMap({ Self.correction($0) }) {
        family?.current.corrections[number] = nil
      } else if let name = words.last(where: { $0.hasPrefix("G") }), let sentence = Self.sentence(name) {
        family?.current.rates[sentence] = 0
      } else {
        family?.current.rates = [:]
        family?.current.corrections = [:]
      }
      return []
    case "UNILOGLIST": return [Array(logList.joined(separator: "\r\n").utf8) + [13, 10]]
    case "SAVECONFIG":
      if let family { self.family?.stored = family.current }
      return []
    case "RESET", "FRESET":
      if verb == "FRESET", let family { self.family?.stored = family.defaults }
      let isWarm = words.dropFirst().contains { $0.uppercased() == "EPHEM" }
      act(.restart(verb == "FRESET" || words.count > 2 ? .cold : isWarm ? .warm : .hot), after: Milliseconds(10))
      return []
    default: return log(verb, words)
    }
  }

  /// The number of an RTCM 3 message; nil for another name.
  private static func correction(_ name: String) -> Int? {
    let name = name.uppercased()
    let numbers = [1005, 1033, 1074, 1084, 1094, 1124, 1019, 1020, 1042, 1046]
    return name.hasPrefix("RTCM") ? Int(name.dropFirst(4)).flatMap { numbers.contains($0) ? $0 : nil } : nil
  }

  /// `MODE BASE [ID] TIME seconds [distance]`, `MODE BASE [ID] x y z` with X, Y, Z or degrees and a height above the sea, `MODE BASE`,
  /// `MODE ROVER …` (N4 manual, MODE). A new mode is in force at once.
  private mutating func setMode(_ words: [String]) -> [[UInt8]]? {
    let words = words.map { $0.uppercased() }
    var text = words.joined(separator: " ")
    var mode = TimeMode.Setting.off
    if words[1] == "BASE" {
      var rest = Array(words.dropFirst(2))
      if rest.count != 3, let first = rest.first, UInt16(first) != nil { rest.removeFirst() }
      if rest.isEmpty {
        text += " TIME 60 2.5 3.5"
        mode = .survey(seconds: 60, metres: .greatestFiniteMagnitude)
      } else if rest[0] == "TIME" {
        guard 2...4 ~= rest.count, let seconds = UInt32(rest[1]), 1...3600 ~= seconds else { return nil }
        // The defaults are shown too.
        text += String(repeating: " 0", count: 4 - rest.count)
        mode = .survey(seconds: seconds, metres: .greatestFiniteMagnitude)
      } else {
        let numbers = rest.compactMap { Double($0) }
        guard rest.count == 3, numbers.count == 3, numbers.allSatisfy(\.isFinite) else { return nil }
        let isGeodetic = abs(numbers[0]) <= 90 && abs(numbers[1]) <= 180 && abs(numbers[2]) <= 30_000
        mode =
          isGeodetic
          ? .position(latitude: numbers[0], longitude: numbers[1], height: numbers[2] + Solution.geoidSeparation)
          : TimeMode.Setting(centre: Earth.Vector(x: numbers[0], y: numbers[1], z: numbers[2]))
      }
    } else if words[1] != "ROVER" {
      return nil
    }
    family?.current.values["mode"] = text
    family?.current.timeMode = mode
    applyFamily()
    return []
  }

  private static func sentence(_ name: String) -> String? {
    let name = String(name.uppercased().suffix(3))
    return unicoreSentences.contains(name) ? name : nil
  }

  /// `GNGGA COM1 1`: a sentence with a period in seconds; the port may be absent.
  private mutating func log(_ verb: String, _ words: [String]) -> [[UInt8]]? {
    if let number = Self.correction(verb) {
      guard let seconds = words.last.flatMap({ Double($0) }), (0.05...3600).contains(seconds) else { return nil }
      family?.current.corrections[number] = UInt32(nearest: seconds * 1000)
      return []
    }
    guard ["GN", "GP"].contains(verb.prefix(2)), let name = Self.sentence(verb), let family else { return nil }
    guard let seconds = words.last.flatMap({ Double($0) }) else { return nil }
    guard (0.05...3600).contains(seconds) else { return nil }
    // The fastest sentence determines the period of the epochs.
    let wanted = UInt32(nearest: seconds * 1000)
    var rates = family.current.rates.filter { $0.value > 0 }.mapValues {
      UInt32(clamping: $0) * settings.epochMilliseconds
    }
    rates[name] = wanted
    let period = max(50, rates.values.min() ?? 1000)
    self.family?.current.periodMilliseconds = period
    self.family?.current.rates = rates.mapValues { Int(max(1, $0 / period)) }
    applyFamily()
    return []
  }

  /// The messages of the host's port with their periods in seconds, in the form of the manual: without a checksum.
  private var logList: [String] {
    guard let family else { return [] }
    var logs = family.current.rates.filter { $0.value > 0 }.map { name, every in
      ("GN" + name, Double(UInt32(clamping: every) * settings.epochMilliseconds) / 1000)
    }
    logs += family.current.corrections.map { ("RTCM\($0)", Double($1) / 1000) }
    let gps = solution.gps
    let list = logs.sorted { $0.0 < $1.0 }.map { "<       \($0) \(hostPort) \($1.decimals(2))" }
    return ["#UNILOGLIST,97,GPS,FINE,\(gps.week),\(gps.millisecondOfWeek),17548,0,18,33;", "<       \(list.count)"]
      + list
  }

  private var configurationLines: [String] {
    let baud = family?.current.baudRate ?? 0
    let pulse = family?.current.values["PPS"] ?? "PPS ENABLE GPS POSITIVE 500000 1000 0 0"
    return [
      "ANTENNA,CONFIG ANTENNA POWERON", "NMEAVERSION,CONFIG NMEAVERSION V410", "VELSTDTHD,CONFIG VELSTDTHD DISABLE 0 0",
      "RTK,CONFIG RTK TIMEOUT 120", "RTK,CONFIG RTK RELIABILITY 3 1", "PPP,CONFIG PPP TIMEOUT 120",
      "DGPS,CONFIG DGPS TIMEOUT 300", "RTCMB1CB2A,CONFIG RTCMB1CB2A ENABLE",
      "ANTENNADELTAHEN,CONFIG ANTENNADELTAHEN 0.0000 0.0000 0.0000", "PPS,CONFIG \(pulse)",
      "SIGNALGROUP,CONFIG SIGNALGROUP 1", "ANTIJAM,CONFIG ANTIJAM AUTO", "AGNSS,CONFIG AGNSS DISABLE",
      "LOGSEQ,CONFIG LOGSEQ 1", "CMDFORMAT,CONFIG CMDFORMAT 0",
    ] + ["COM1", "COM2", "COM3"].map { "\($0),CONFIG \($0) \($0 == hostPort ? baud : otherRate($0))" }
  }

  /// The host is at COM3 (recordings).
  private var hostPort: String { family?.quirks.contains(.firstPort) == true ? "COM1" : "COM3" }

  private func otherRate(_ port: String) -> UInt32 {
    family?.current.values[port].flatMap { $0.split(separator: " ").last }.flatMap { UInt32($0) } ?? 115_200
  }

  private mutating func configure(_ words: [String]) -> [[UInt8]]? {
    let name = words[1].uppercased()
    if name == hostPort {
      guard words.count >= 3, let rate = UInt32(words[2]), family?.traits.baudRates.contains(rate) == true else {
        return nil
      }
      changeFamilyRate(to: rate)
    } else {
      family?.current.values[name] = words.dropFirst().joined(separator: " ")
    }
    return []
  }

  private static let systemNames = ["GPS", "BDS", "GLO", "GAL"]
  private static let namedSystems = SystemTable(.gps, .beiDou, .glonass, .galileo)

  private var masks: [String] {
    let isOn = Self.namedSystems.flags(of: family?.current.systems ?? [])
    return zip(Self.systemNames, isOn).filter { !$0.1 }.map(\.0) + ["5.0"]
  }

  private mutating func mask(_ words: [String], isMasked: Bool) -> [[UInt8]]? {
    if words.count >= 2, let place = Self.systemNames.firstIndex(of: words[1].uppercased()) {
      let system = Self.namedSystems.places[place]
      if isMasked { family?.current.systems.remove(system) } else { family?.current.systems.insert(system) }
      applyFamily()
    }
    return []
  }

  private var modeLine: String {
    let gps = solution.gps
    let text = family?.current.values["mode"] ?? "MODE ROVER SURVEY"
    return "#MODE,97,GPS,FINE,\(gps.week),\(gps.millisecondOfWeek),17548,0,18,200;\(text),"
  }

  /// A log, whose checksum is a CRC of eight digits without the `#`.
  private var versionLine: [UInt8] {
    let gps = solution.gps
    let text =
      "VERSIONA,97,GPS,FINE,\(gps.week),\(gps.millisecondOfWeek),0,0,18,200;\"UM980\",\"\(traits.software)\","
      + "\"HRPT00-S10C-P\",\"0000000000000000\",\"ff27e1f35a9b5d0b\",\"2023/11/24\""
    let sum = FrameLayout.crc32(Array(text.utf8)[...]).hexadecimalDigits.uppercased()
    return Array("#\(text)*\(sum)\r\n".utf8)
  }

  /// The binary VERSION: a header of 24 bytes, 308 of data and a CRC of 32 bits.
  private var version: [UInt8] {
    let gps = solution.gps
    var frame: [UInt8] = [0xAA, 0x44, 0xB5, 0x61]
    frame.append(u2: 37)
    frame.append(u2: 308)
    frame += [0, 0xA0]
    frame.append(u2: UInt16(truncatingIfNeeded: gps.week))
    frame.append(u4: gps.millisecondOfWeek)
    frame.append(u4: 17_548)
    frame += [0, 18]
    frame.append(u2: 643)
    // 18 is the UM980.
    frame.append(u4: 18)
    for (text, size) in [("17548", 33), ("HRPT00-S10C-P", 129), ("", 66), ("ff27e1f35a9b5d0b", 33), ("2023/11/24", 43)]
    {
      frame += Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
    }
    return frame + littleEndianBytes(FrameLayout.crc32(frame[...]))
  }
}
