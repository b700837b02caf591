// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

// Septentrio's text commands: the reply repeats the command and has the values in force, then comes the prompt of the port
// (recordings of a mosaic-G5, firmware 1.1.0). The blocks of SBF are not simulated.
extension VirtualReceiver {
  private static let signals =
    "GPSL1CA+GPSL2PY+GPSL2C+GPSL5+GPSL1C+GLOL1CA+GLOL2P+GLOL2CA+GLOL3+GALE1BC+GALE6BC+GALE5a+GALE5b+GEOL1+GEOL5"
    + "+BDSB1I+BDSB2I+BDSB3I+BDSB1C+BDSB2a+BDSB2b+QZSL1CA+QZSL2C+QZSL5+QZSL6+QZSL1C+QZSL1S+QZSL1CB+NAVICL5"
  private static let features =
    "SBAS+DGNSSRover+RTKRover+RTKBase+RTCMv3x+xPPSOutput+TimedEvent+InternalLogging+APME+RAIM+MovingBase+MeasAv+IM"
    + "+DSK1+GalOSNMA+UnrestrictedMotion+PPPGalileoHAS-SIS"
  /// Settings as they were recorded, by the name behind `get` and `set`.
  private static let recorded: [String: String] = [
    "SignalTracking":
      "GPSL1CA+GPSL2PY+GPSL2C+GPSL5+GLOL1CA+GLOL2CA+GALE1BC+GALE6BC+GALE5a+GALE5b+GEOL1+BDSB1I+BDSB2I+BDSB3I+BDSB1C"
      + "+BDSB2a+QZSL1CA+QZSL2C+QZSL5+NAVICL5",
    "PPSParameters": "sec1, Low2High, 0.00, GPS, 60, 5.000000",
    "PVTMode": "Rover, StandAlone+DGNSS+RTKFixed, auto", "ElevationMask": "PVT, 5", "CalibCommonDelay": "0.000",
    "SBFOutput": "Stream1, none, none, off",
    "SatelliteTracking": "G01+G02+G03",
  ]
  /// The short names of commands.
  private static let mnemonics = [
    "grc": "getReceiverCapabilities", "sno": "setNMEAOutput", "gno": "getNMEAOutput", "scs": "setCOMSettings",
    "erst": "exeResetReceiver", "eccf": "exeCopyConfigFile",
  ]

  private var promptBytes: [UInt8] { Array("\(transmitter.isUSB ? "USB1" : "COM1")>".utf8) }

  mutating func receiveSeptentrio(_ line: String) {
    if line.hasPrefix("SSSSSSSSSS") { return respond(promptBytes, after: Milliseconds(1)) }
    let words = line.split(separator: ",", omittingEmptySubsequences: false).map { word in
      String(word.drop { $0 == " " })
    }
    let name = words.first.map { Self.mnemonics[$0] ?? $0 } ?? ""
    guard !disturbances.refuses(at: now), let values = performSeptentrio(name, Array(words.dropFirst())) else {
      return respond(Array("$R? \(line): Invalid command!\r\n".utf8) + promptBytes, after: Milliseconds(1))
    }
    let subject = name.dropFirst(3)
    let lines = values.isEmpty ? ["  \(subject)\r\n"] : values.map { "  \(subject), \($0)\r\n" }
    let text = "$R: \(line)\r\n" + lines.joined()
    let isChange = name == "setCOMSettings"
    if isChange, let rate = family?.current.values["nextRate"].flatMap({ UInt32($0) }) {
      // It is answered at the new rate.
      return changeFamilyRate(to: rate, acknowledging: Array(text.utf8) + promptBytes, after: Milliseconds(2))
    }
    if family?.losesAcknowledgement() == true { return }
    respond(Array(text.utf8) + promptBytes, after: Milliseconds(name.hasPrefix("set") ? 2 : 1))
  }

  /// Returns the values of each line of the reply; nil for an unknown command.
  private mutating func performSeptentrio(_ name: String, _ words: [String]) -> [String]? {
    if name == "getNMEAOutput" {
      let streams = words.isEmpty || words == ["all"] ? Self.streams : words
      return streams.allSatisfy(Self.streams.contains) ? streams.map { output($0) } : nil
    }
    return value(name, words).map { $0.isEmpty ? [] : [$0] }
  }

  private mutating func value(_ name: String, _ words: [String]) -> String? {
    let subject = String(name.dropFirst(3))
    switch name {
    case "getReceiverCapabilities": return "Main, \(Self.signals), DSK1+COM1+COM2+USB1+USB2, \(Self.features), 50, 50"
    case "exeSBFOnce" where words.count == 2: return words.joined(separator: ", ")
    case "exeCopyConfigFile": return copyConfiguration(words)
    case "exeResetReceiver":
      guard let level = words.first?.lowercased(), ["soft", "hard", "upgrade"].contains(level) else { return nil }
      let erased = (words.dropFirst().first ?? "none").split(separator: "+")
      let kind: FamilyState.RestartKind =
        erased.contains("SatData") ? .cold : erased.contains("PVTData") ? .warm : .hot
      act(.restart(kind), after: Milliseconds(5))
      return words.joined(separator: ", ")
    case "setNMEAOutput": return setOutput(words)
    case "setCOMSettings":
      guard words.count >= 2, let rate = UInt32(words[1].drop { !$0.isNumber }),
        family?.traits.baudRates.contains(rate) == true
      else { return nil }
      if words[0] == "COM1", !transmitter.isUSB { family?.current.values["nextRate"] = "\(rate)" }
      return "\(words[0]), baud\(rate), bits8, No, bit1, none"
    case "setSatelliteTracking": return words.first == "GPS" ? Self.satellites : words.first
    default:
      guard let present = family?.current.values[subject] ?? Self.recorded[subject] else { return nil }
      if name.hasPrefix("get") { return present }
      guard name.hasPrefix("set") else { return nil }
      let values = subject == "SignalTracking" ? known(words) : merged(words, present)
      family?.current.values[subject] = values
      return values
    }
  }

  /// G37 is not in the recorded list.
  private static let satellites =
    (1...39).filter { $0 != 37 }.map { "G\($0 < 10 ? "0" : "")\($0)" }.joined(separator: "+")

  /// An empty word keeps a value; a number gets the decimals of the former one.
  private func merged(_ words: [String], _ present: String) -> String {
    let former = present.split(separator: ",").map { String($0.drop { $0 == " " }) }
    return former.indices.map { index in
      guard words.indices.contains(index), !words[index].isEmpty else { return former[index] }
      guard let point = former[index].firstIndex(of: "."), Int(words[index]) != nil else { return words[index] }
      return words[index] + "." + String(repeating: "0", count: former[index][point...].count - 1)
    }.joined(separator: ", ")
  }

  /// The wanted signals that there are, in the order of the receiver.
  private func known(_ words: [String]) -> String {
    let wanted = Set((words.first ?? "").split(separator: "+"))
    return Self.signals.split(separator: "+").filter { wanted.contains($0) }.joined(separator: "+")
  }

  private mutating func copyConfiguration(_ words: [String]) -> String? {
    guard words.count == 2, let family else { return nil }
    switch words.map({ $0.lowercased() }) {
    case ["current", "boot"]: self.family?.stored = family.current
    case ["boot", "current"]: self.family?.current = family.stored
    case ["rxdefault", "current"]: self.family?.current = family.defaults
    case ["rxdefault", "boot"]: self.family?.stored = family.defaults
    default: return nil
    }
    applyFamily()
    return words.joined(separator: ", ")
  }

  private static let streams = (1...10).map { "Stream\($0)" }

  /// The port, the sentences and the interval of a stream, behind its name.
  private func output(_ stream: String) -> String {
    family?.current.values["NMEAOutput \(stream)"] ?? "\(stream), none, none, off"
  }

  /// `setNMEAOutput, Stream1, COM1, GGA+RMC, sec1`.
  private mutating func setOutput(_ words: [String]) -> String? {
    guard let stream = words.first, Self.streams.contains(stream) else { return nil }
    let values = merged(words, output(stream))
    let parts = Self.parts(values)
    guard parts.count == 4, Self.period(parts[3]) != nil else { return nil }
    family?.current.values["NMEAOutput \(stream)"] = values
    sendStreams()
    return values
  }

  /// The shortest interval at the port sets the time between epochs.
  private mutating func sendStreams() {
    let port = transmitter.isUSB ? "USB1" : "COM1"
    let sent = Self.streams.map { Self.parts(output($0)) }.filter { $0[1].uppercased() == port }.compactMap { parts in
      Self.period(parts[3]).flatMap { period in period > 0 && parts[2] != "none" ? (parts[2], period) : nil }
    }
    family?.current.rates = [:]
    if let shortest = sent.map(\.1).min() {
      family?.current.periodMilliseconds = shortest
      for (names, period) in sent {
        for name in names.split(separator: "+") { family?.current.rates[String(name)] = Int(period / shortest) }
      }
    }
    applyFamily()
  }

  private static func parts(_ values: String) -> [Substring] {
    values.split(separator: ",").map { $0.drop { $0 == " " } }
  }

  /// The milliseconds of `msec100`, `sec1` or `min1`; 0 for `off`.
  private static func period(_ word: Substring) -> UInt32? {
    if word == "off" { return 0 }
    let units: [(String, UInt32)] = [("msec", 1), ("sec", 1000), ("min", 60_000)]
    for (unit, factor) in units where word.hasPrefix(unit) {
      guard let count = UInt32(word.dropFirst(unit.count)), 1...1000 ~= count else { return nil }
      let period = count * factor
      return 20...60_000 ~= period ? period : nil
    }
    return nil
  }
}
