// SPDX-License-Identifier: Apache-2.0
import Receiver

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

  /// The observed values as the end of a session writes them after a restart.
  var valuesToRestore: [ReceiverValue] {
    guard let description else { return [] }
    return values.filter { !description.reports($0.kind) }.map { FamilySettings.whole(comparable($0), of: description) }
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
