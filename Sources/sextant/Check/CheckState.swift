// SPDX-License-Identifier: Apache-2.0
import Receiver

/// The state that the parts of `sextant check` share: the findings, and the receiver as it was found.
struct CheckState {
  /// The receiver's settings, as far as they are reported or seen.
  struct Found {
    /// The rate of the line, in baud; nil without one.
    var rate: UInt32?
    /// Measured; nil for a receiver that sends no epochs.
    var periodSeconds: Double?
    /// The messages of its epochs, and the messages in every epoch.
    var names: Set<String> = []
    var steadyNames: Set<String> = []
    /// The bytes that it sends in a second.
    var bytesPerSecond = 0.0

    /// Whether sentences of satellites name a constellation: GN stands for several.
    var showsConstellations: Bool {
      names.contains { ($0.hasSuffix("GSV") || $0.hasSuffix("GSA")) && !$0.hasPrefix("GN") }
    }
  }

  var report = CheckReport()
  var dialogue = PublishedDialogue()
  /// The number of findings that were taken.
  private var taken = 0
  var description: ReceiverDescription?
  var assumed: CheckAssumptions?
  var found: Found?
  /// The values of another maker's receiver: the time between its fixes and its sentences are observed if it does not report them.
  var values: [ReceiverValue] = []
  /// Whether the check makes a restart or an interruption of the supply, which may lose settings that the output alone shows.
  var comparesOutput = false
  /// The messages of another maker's receiver with their ports and intervals; nil if it does not list them.
  var outputList: [String]?
  /// The reported time between two measurements of a u-blox receiver, in milliseconds.
  var measurementMilliseconds: UInt16?
  var hasFix = false
  /// The longest end of a session that restored something, seconds.
  var restoringSeconds = 0.0
  /// The settings and states that could not be restored, in words.
  var lost: [String] = []
  /// The settings and sentences that neither a reply nor the output shows exactly: nothing proves that they are as before.
  var uncompared: [String] = []

  var periodSeconds: Double { found?.periodSeconds ?? 1 }

  /// Returns the findings since the last call.
  mutating func takeFindings() -> ArraySlice<CheckFinding> {
    defer { taken = report.findings.count }
    return report.findings[taken...]
  }

  /// The found settings that a sleep or a restart may lose: the session writes them again.
  var foundConfiguration: DesiredConfiguration {
    var desired = foundRate
    guard let description, let found else { return desired }
    if description.family == nil {
      desired.measurementPeriodMilliseconds = measurementMilliseconds
      desired.messages = found.steadyNames.sorted().filter { $0.contains("-") }
        .compactMap { MessageNames.message($0) }.map { DesiredConfiguration.MessageRate($0, 1) }
    }
    for value in reportedToRestore {
      if case .period(let milliseconds) = value { desired.measurementPeriodMilliseconds = milliseconds }
      if case .messages(let list) = value { desired.sentences = list }
    }
    return desired
  }

  /// The found rate of the line alone, for the last part.
  var foundRate: DesiredConfiguration {
    var desired = DesiredConfiguration()
    (desired.portRate, desired.keepsPortRate) = (found?.rate, found?.rate != nil)
    return desired
  }
}

/// A setting that is changed for a moment, observed and changed back.
enum CheckTrial {
  /// The time between fixes.
  case rate(milliseconds: UInt16)
  case messages(CheckedMessage, isOn: Bool)
  case constellations
  case baud(UInt32)

  /// The kinds in their order, by the names of their findings.
  enum Kind: String, CaseIterable {
    case rate, messages, constellations, baud

    var later: ArraySlice<Kind> { Self.allCases.drop { $0 != self }.dropFirst() }
  }

  var kind: Kind {
    switch self {
    case .rate: .rate
    case .messages: .messages
    case .constellations: .constellations
    case .baud: .baud
    }
  }

  func desired(of receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration()
    switch self {
    case .rate(let milliseconds): desired.measurementPeriodMilliseconds = milliseconds
    case .messages(.sentence(let formatter), let isOn): desired.sentences = [SentenceRate(formatter, isOn ? 1 : 0)]
    case .messages(.navDOP, let isOn): desired.messages = [DesiredConfiguration.MessageRate(.navDOP, isOn ? 1 : 0)]
    case .constellations where receiver.can(.valset): desired.withoutConstellations = [.galileo, .beiDou, .glonass]
    case .constellations: desired.constellations = receiver.family == nil ? [.gps, .qzss, .sbas] : [.gps]
    case .baud(let rate): desired.portRate = rate
    }
    return desired
  }
}

// The trials that a receiver and its line allow.
extension CheckState {
  enum Plan {
    case make(CheckTrial)
    /// It cannot be made, for this reason.
    case skip(String)
  }

  func plan(_ kind: CheckTrial.Kind, _ receiver: ReceiverDescription, on line: CheckedLine) -> Plan {
    switch kind {
    case .rate: planRate(receiver, on: line)
    case .messages: planMessages(receiver)
    case .constellations: planConstellations(receiver, on: line)
    case .baud: planBaud(receiver, on: line)
    }
  }

  private func planRate(_ receiver: ReceiverDescription, on line: CheckedLine) -> Plan {
    guard let found, let period = found.periodSeconds else { return .skip("the receiver sends no fixes") }
    if receiver.family == nil, let set = measurementMilliseconds,
      abs(Double(set) / 1000 - period) > period * CheckAssumptions.Tolerance.period
    {
      return .skip("the receiver does not send a fix for each measurement")
    }
    let wanted = ([500, 1000, 2000] as [UInt16]).first { milliseconds in
      let seconds = Double(milliseconds) / 1000
      // A faster rate needs room on the line.
      let bytesPerSecond = found.bytesPerSecond * period / seconds
      let isRoomy = seconds > period || line.rate.map { bytesPerSecond < Double($0) / 10 * 0.6 } ?? true
      return isRoomy && abs(seconds - period) > period * CheckAssumptions.Tolerance.period
        && (receiver.family == nil || receiver.takesForATime(.period(milliseconds)))
    }
    if let wanted { return .make(.rate(milliseconds: wanted)) }
    return .skip(
      receiver.family == nil || receiver.takesForATime(.period(500))
        ? "the line is too full for a faster rate, and a slower one is not possible"
        : receiver.takes(.period(500)) ? "it is in force after a save and a restart" : "the family has no command")
  }

  private func planMessages(_ receiver: ReceiverDescription) -> Plan {
    var candidates: [CheckedMessage] = [.navDOP]
    if receiver.family != nil {
      // A position sentence last: without it nothing shows the epochs.
      candidates = ["GLL", "VTG", "ZDA", "GSA", "GGA"].map { .sentence($0) }
        .filter { receiver.takesForATime(.messages([SentenceRate($0.name, 0), SentenceRate($0.name, 1)])) }
    }
    let names = found?.names ?? []
    guard !names.isEmpty || receiver.reports(.messages) else {
      return .skip("the receiver sends none and reports none, so that they could not be restored")
    }
    // Less on the line is possible on a full line too.
    let off = candidates.first { one in names.contains { one.matches($0) } && one != .sentence("GGA") }
    let gga = names.isEmpty ? candidates.last { $0 == .sentence("GGA") } : nil
    guard let chosen = off ?? gga ?? candidates.first else { return .skip("the family has no command for a time") }
    return .make(.messages(chosen, isOn: off == nil))
  }

  /// The longest time between two fixes at which a session sees constellations before it changes them, in seconds.
  private static let longestShown = 1.25

  private func planConstellations(_ receiver: ReceiverDescription, on line: CheckedLine) -> Plan {
    if receiver.family != nil {
      if !receiver.takesForATime(.constellations([.gps])) { return .skip("the family has no command for a time") }
      if receiver.reports(.constellations) { return .make(.constellations) }
      if found?.showsConstellations == false {
        return .skip("the receiver sends no sentences that show them, so that they could not be restored")
      }
      if periodSeconds > Self.longestShown {
        return .skip("its fixes are too rare to show them, so that they could not be restored")
      }
    } else if receiver.generation == .m6 {
      return .skip("GPS alone")
    } else if receiver.can(.valset), line.isBound || line.rate == nil {
      return .skip("at a line whose rate is not searched, no later command would restore them after a kill")
    }
    return .make(.constellations)
  }

  private func planBaud(_ receiver: ReceiverDescription, on line: CheckedLine) -> Plan {
    guard let rate = line.rate, ![.usb, .i2c, .spi].contains(line.port) else { return .skip("the line has no rate") }
    if line.isBound { return .skip("--baud gives the rate") }
    let other = ([115_200, 230_400, 57_600, 38_400, 9600] as [UInt32])
      .first { $0 != rate && (receiver.family == nil || receiver.takesRate($0)) }
    return other.map { .make(.baud($0)) } ?? .skip("the family has no command for a time")
  }
}

/// The comparison with the receiver as it was found, and the commands that write its settings again.
extension CheckState {
  /// The longest time between two fixes at which the observation shows each interval, in seconds.
  private static let longestPeriod = 5.0
  /// The part of a second that an interval of whole seconds may seem to differ by.
  private static let fraction = 0.2

  /// Sets the receiver as it was found.
  mutating func setFound(_ found: Found, _ values: [ReceiverValue], outputList: [String]?) {
    (self.found, self.values, self.outputList) = (found, values, outputList)
    uncompared = []
    guard let description, description.family != nil else { return }
    uncompared = [.messages([]), .constellations([.gps])].filter { (value: ReceiverValue) in
      !values.contains { $0.kind == value.kind } && (value.kind == .messages || description.takes(value))
    }.map(\.kind.rawValue)
    for case .messages(let list) in values where !description.reports(.messages) {
      uncompared += list.filter { !isCertain($0) }.map(\.formatter)
    }
    if comparesOutput, outputList == nil, description.outputList != nil { uncompared.append("the list of messages") }
  }

  private func isSettable(_ one: SentenceRate) -> Bool { description?.takes(.messages([one])) == true }

  /// Whether a sentence that was observed can be compared and written again. Texts are sent at a start, and as the receiver needs them.
  private func isCertain(_ one: SentenceRate) -> Bool {
    one.formatter == "TXT" || one.rate <= SentenceRate.rarestObserved && isSettable(one)
  }

  /// The reason why a restart could lose sentences that cannot be written again; nil if it cannot.
  var obstacleToRestart: String? {
    guard let description, description.family != nil, !description.reports(.messages) else { return nil }
    guard let period = found?.periodSeconds, case .messages(let list)? = values.first(where: { $0.kind == .messages })
    else { return "the receiver sends no fixes, or too rarely to show its sentences" }
    let loss = "a restart may lose sentences that were not saved, and "
    if period > Self.longestPeriod { return loss + "its fixes are too rare to show all of them" }
    if description.countsSeconds, abs(period - max(1, period.rounded())) > Self.fraction {
      return loss + "no command of whole seconds writes an interval of \(Self.text(period)) s again"
    }
    if description.outputList != nil, outputList == nil { return loss + "its list of messages is not complete" }
    let logs = (outputList ?? []).map { String($0.prefix { $0 != " " }) }
    func shows(_ log: String) -> Bool {
      list.contains { log == $0.formatter || log == ($0.talker ?? "GN") + $0.formatter }
    }
    // A message at two ports is listed twice.
    let others = logs.filter { log in !shows(log) || logs.count { $0 == log } > 1 }
    let names = Set(list.filter { !isCertain($0) }.map(\.formatter) + others).sorted()
    return names.isEmpty ? nil : loss + "no command writes \(names.joined(separator: ", ")) exactly again"
  }

  /// Returns the messages in the lines of `ReceiverDescription.outputList`, which begin with their number; nil for an incomplete list.
  static func messages(inList lines: [[UInt8]]) -> [String]? {
    let lines = lines.map { line in
      String(decoding: line, as: UTF8.self).split { $0 == "<" || $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
    guard let first = lines.first, Int(first) == lines.count - 1 else { return nil }
    return lines.dropFirst().sorted()
  }

  /// Adds talkers to observed sentences that do not show them: those of satellites have a talker for each system.
  static func naming(_ value: ReceiverValue, by list: [String]) -> ReceiverValue {
    guard case .messages(var sentences) = value else { return value }
    for index in sentences.indices where sentences[index].talker == nil {
      let talkers = ["GN", "GP"].filter { talker in
        list.contains { $0.hasPrefix(talker + sentences[index].formatter + " ") }
      }
      if talkers.count == 1 { sentences[index].talker = talkers[0] }
    }
    return .messages(sentences)
  }

  /// Compares the reported time between fixes with the measured one, where a sentence comes with each fix.
  mutating func judgeState(reported values: [ReceiverValue], sent: Double?) {
    guard let sent, description?.reports(.period) == true else { return }
    var reported: Double?
    for case .period(let milliseconds) in values { reported = Double(milliseconds) / 1000 }
    for case .messages(let list) in values {
      guard let reported, list.contains(where: { ["GGA", "RMC"].contains($0.formatter) && $0.rate == 1 }) else {
        return
      }
      report.judgeState(reported: reported, sent: sent)
    }
  }

  /// Returns a value that was read or observed, as far as it can be compared and set.
  private func comparable(_ value: ReceiverValue) -> ReceiverValue {
    guard case .messages(let list) = value, let description, !description.reports(.messages) else { return value }
    return .messages(
      list.filter { $0.rate <= SentenceRate.rarestObserved && isSettable($0) && !uncompared.contains($0.formatter) })
  }

  /// The reported values that a sleep or a restart may lose. The others outlive it; the last part compares them.
  private var reportedToRestore: [ReceiverValue] {
    guard let description else { return [] }
    return values.filter {
      [.period, .messages].contains($0.kind) && description.reports($0.kind) && description.takesForATime($0)
    }
  }

  /// The values as the end of a session writes them after a sleep or a restart, and after a kill the next command.
  var valuesToRestore: [ReceiverValue] {
    guard let description else { return [] }
    let observed = values.filter { !description.reports($0.kind) }
    return reportedToRestore + observed.map { FamilySettings.whole(comparable($0), of: description) }
  }

  /// The values that are not as they were found, before and now.
  private func changes(in values: [ReceiverValue]) -> [(before: ReceiverValue, now: ReceiverValue)] {
    values.compactMap { value in
      guard let before = self.values.first(where: { $0.kind == value.kind }).map(comparable) else { return nil }
      let now = comparable(value)
      return before == now ? nil : (before, now)
    }
  }

  /// Returns the tasks that set values again which are not as they were found. Sentences that were not sent then are off again.
  func repairs(of values: [ReceiverValue]) -> [ReceiverTask] {
    changes(in: values).compactMap { before, now in
      let wanted = before.undoing(now, isWhole: true)
      return description?.takes(wanted) == true ? .set(wanted) : nil
    }
  }

  /// Returns the differences from the receiver as it was found, in words.
  func differences(now: Found, values: [ReceiverValue], outputList: [String]?) -> [String] {
    guard let found else { return [] }
    var lost: [String] = []
    if let before = found.rate, let after = now.rate, before != after {
      lost.append("the line has \(after) baud, before \(before)")
    }
    if let before = found.periodSeconds, let after = now.periodSeconds,
      abs(before - after) > before * CheckAssumptions.Tolerance.period
    {
      lost.append("a fix every \(Self.text(after)) s, before every \(Self.text(before)) s")
    } else if found.periodSeconds != nil, now.periodSeconds == nil {
      lost.append("no fixes are sent any more")
    }
    for (before, now) in changes(in: values) {
      guard case .messages(let before) = before, case .messages(let now) = now else {
        lost.append("\(now.kind.rawValue) is not the same")
        continue
      }
      let names = Set(Set(before).symmetricDifference(now).map(\.formatter)).sorted()
      lost.append("messages is not the same: " + names.joined(separator: ", "))
    }
    for kind in Set(self.values.map(\.kind)).subtracting(values.map(\.kind)).map(\.rawValue).sorted() {
      lost.append("\(kind) cannot be read any more")
    }
    if let before = self.outputList, before != outputList {
      let names = Set(before).symmetricDifference(outputList ?? []).sorted()
      lost.append("the list of messages is not the same: " + names.joined(separator: ", "))
    }
    return lost
  }

  private static func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100)" }
}

extension Command {
  /// A poll of the time between two measurements of a u-blox receiver.
  static func measurementPeriod(of receiver: ReceiverDescription) -> Command {
    // CFG-RATE-MEAS.
    receiver.can(.valset) ? .poll(.cfgVALGET, [0, 0, 0, 0, 0x01, 0x00, 0x21, 0x30]) : .poll(.cfgRATE)
  }

  /// The time in the reply, in milliseconds; nil for another payload.
  static func measurementPeriod(in payload: [UInt8], of receiver: ReceiverDescription) -> UInt16? {
    let at = receiver.can(.valset) ? 8 : 0
    return payload.count >= at + 2 ? payload.u2(at) : nil
  }
}
