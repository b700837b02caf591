// SPDX-License-Identifier: Apache-2.0

/// Settings of a receiver of another maker in the user's words. The names are those that work on every receiver.
package enum FamilySettings {
  /// The names, in the order of the output.
  package static let names = ["rate", "constellations", "messages", "nmea", "baud"]

  /// The work of a command on a receiver: the names, each with its task; the rate of the line is apart.
  package struct Request: Sendable {
    package var names: [String] = []
    package var tasks: [ReceiverTask] = []
    /// The new rate of the line, in baud, and its name.
    package var baud: UInt32?
    /// Whether the rate of the line is read.
    package var readsBaud = false
    /// Names that the receiver does not have.
    package var missing: [String] = []
    /// Whether the rest is set without what the receiver does not have or refuses.
    package var isPartial = false
    /// The rates that the line can be set to and that are proposed.
    private let rates: [UInt32]

    /// - Parameter receiver: the receiver of the command; nil for one without settings.
    package init(on receiver: ReceiverDescription? = nil) {
      rates = EpochPeriod.usualRates.filter { receiver?.takesRate($0) == true }
    }

    /// The requested time between fixes, in milliseconds.
    package var period: UInt16? {
      for case .set(.period(let milliseconds)) in tasks { return milliseconds }
      return nil
    }

    /// Returns why the line cannot carry the requested rate of fixes; nil if it can, or if the rate does not rise.
    ///
    /// - Parameters:
    ///   - present: the present time between fixes, in milliseconds.
    ///   - line: the line with that time.
    package func problem(present: UInt16, _ line: MeasuredLine) -> SettingProblem? {
      guard let period, let at = tasks.firstIndex(of: .set(.period(period))) else { return nil }
      var change = EpochPeriod()
      change.change(EpochPeriod.items[0], from: UInt64(present), to: UInt64(period))
      let problem = change.problem(line, at: baud ?? line.rate, rates: rates, hasReplies: false)
      return problem.map { SettingProblem("\(names[at]): \($0)") }
    }

    /// Puts values that the receiver changes with another one behind that.
    fileprivate mutating func order(on receiver: ReceiverDescription) {
      guard let language = receiver.family?.language else { return }
      let isCause = tasks.map { if case .set(let value) = $0 { !language.affected(by: value).isEmpty } else { false } }
      let order = tasks.indices.filter { isCause[$0] } + tasks.indices.filter { !isCause[$0] }
      (names, tasks) = (order.map { names[$0] }, order.map { tasks[$0] })
    }

    /// An action.
    package init(_ action: ReceiverAction) {
      self.init()
      names = [action.rawValue]
      tasks = [.act(action)]
    }
  }

  /// Returns the request that changes settings.
  ///
  /// - Parameter rate: the present rate of the line, which every receiver has.
  package static func changing(
    _ words: [SettingWord], on receiver: ReceiverDescription, at rate: UInt32?
  ) -> Request {
    var request = Request(on: receiver)
    func add(_ word: SettingWord, _ value: ReceiverValue?) {
      guard let value else { return request.missing.append(word.name) }
      guard receiver.takes(value) else {
        let text = receiver.takes(usual(value.kind)) ? "=" + lacking(value, on: receiver) : ""
        return request.missing.append(word.name + text)
      }
      if let rare = unverifiable(value, on: receiver) { return request.missing.append("\(word.name)=\(rare)") }
      request.names.append(word.name)
      request.tasks.append(.set(value))
    }
    for word in words {
      switch word.meaning {
      case .measurementPeriod(let milliseconds): add(word, .period(milliseconds))
      case .constellations(let list): add(word, .constellations(list))
      case .writesNMEA(let isOn): add(word, .output(isOn))
      case .messages(let list):
        let rates = list.map { one in formatter(one).map { SentenceRate($0, one.rate) } }
        if let other = zip(list, rates).first(where: { $0.1 == nil })?.0 {
          request.missing.append("\(word.name)=\(MessageNames.name(other.message))")
        } else {
          add(word, .messages(rates.compactMap(\.self)))
        }
      case .portRate(let wanted):
        if wanted == rate || receiver.takesRate(wanted) {
          request.baud = wanted
        } else {
          request.missing.append("\(word.name)=\(wanted)")
        }
      case .model, .item, .field: request.missing.append(word.name)
      }
    }
    request.order(on: receiver)
    return request
  }

  /// Returns the request that restores a file: all that the receiver has. What it lacks of a value is left out too.
  ///
  /// - Parameter rate: the present rate of the line, which every receiver has.
  package static func restoring(
    _ words: [SettingWord], on receiver: ReceiverDescription, at rate: UInt32?
  ) -> Request {
    var request = changing(words, on: receiver, at: rate)
    request.isPartial = true
    for word in words {
      guard case .messages(let list) = word.meaning else { continue }
      let rates = list.compactMap { one in formatter(one).map { SentenceRate($0, one.rate) } }
      let kept = rates.filter { receiver.takes(.messages([$0])) }
      guard kept.count < list.count, !kept.isEmpty else { continue }
      request.names.append(word.name)
      request.tasks.append(.set(.messages(kept)))
    }
    return request
  }

  /// Whether a value can be set as it is stored.
  package static func canRestore(_ value: ReceiverValue, on receiver: ReceiverDescription) -> Bool {
    if case .messages = value { receiver.takes(usual(.messages)) } else { receiver.takes(value) }
  }

  /// A value that each receiver takes whose family has a command for the kind.
  private static func usual(_ kind: ReceiverValue.Kind) -> ReceiverValue {
    switch kind {
    case .period: .period(1000)
    case .constellations: .constellations([.gps])
    case .messages, .output, .logger, .mode, .measurements: .messages([SentenceRate("GGA", 1)])
    }
  }

  /// The part of a value that the receiver does not take, in the form in which it can be set.
  private static func lacking(_ value: ReceiverValue, on receiver: ReceiverDescription) -> String {
    guard case .messages(let list) = value else { return text(value) }
    return list.filter { !receiver.takes(.messages([$0])) }
      .map { $0.rate == 1 ? $0.formatter : "\($0.formatter)@\($0.rate)" }.joined(separator: ",")
  }

  /// The first sentence whose rate could not be seen after its change, with the limit; nil without one. A receiver that does not report its
  /// rates would be observed for minutes.
  private static func unverifiable(_ value: ReceiverValue, on receiver: ReceiverDescription) -> String? {
    guard case .messages(let list) = value, receiver.isObserved(.messages),
      let rare = list.first(where: { $0.rate > SentenceRate.rarestVerified })
    else { return nil }
    return "\(rare.formatter)@\(rare.rate) (its rates are observed, so \(SentenceRate.rarestVerified) is the rarest)"
  }

  /// The formatter of a sentence by its message; nil for another message.
  private static func formatter(_ one: DesiredConfiguration.MessageRate) -> String? {
    let mark = "NMEA-"
    let name = MessageNames.name(one.message)
    return name.hasPrefix(mark) ? String(name.dropFirst(mark.count)) : nil
  }

  /// Returns the request that reads settings.
  ///
  /// - Parameters:
  ///   - words: names; empty for all.
  ///   - isForFile: whether rare sentences are observed too.
  package static func reading(_ words: [String], isForFile: Bool = false) -> Request {
    var request = Request()
    for word in words.isEmpty ? names : words {
      let name = word.lowercased()
      if name == "baud" {
        request.readsBaud = true
      } else if let kind = ReceiverValue.Kind(rawValue: name), ![.logger, .mode, .measurements].contains(kind) {
        request.names.append(name)
        request.tasks.append(isForFile && kind == .messages ? .observe(kind) : .read(kind))
      } else {
        request.missing.append(word)
      }
    }
    return request
  }

  /// The value of a name, in the form in which it can be set.
  package static func value(_ value: ReceiverValue) -> SettingValue {
    SettingValue(name: value.kind.rawValue, text: text(value), unit: "")
  }

  /// The value for a file, from which it is restored. Sentences that are off have the rate 0: what is switched on later is then switched
  /// off by the restoration.
  package static func stored(_ value: ReceiverValue, of receiver: ReceiverDescription) -> SettingValue {
    guard case .messages(let list) = whole(value, of: receiver) else { return self.value(value) }
    return SettingValue(name: value.kind.rawValue, text: text(list), unit: unseen(value, of: receiver) ?? "")
  }

  /// The value that restores an observed one, or one that was read. A receiver whose sentences are observed does not report those that are
  /// off: they are added with the rate 0. Sentences without a command are left out.
  package static func whole(_ value: ReceiverValue, of receiver: ReceiverDescription) -> ReceiverValue {
    guard case .messages(var list) = value else { return value }
    let usual = receiver.reports(.messages) ? [] : ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GST"]
    list += usual.filter { name in !list.contains { $0.formatter == name } }.map { SentenceRate($0, 0) }
    return .messages(list.filter { receiver.takes(.messages([$0])) })
  }

  /// The sentences that an observation does not show, in words; nil if it shows each.
  package static func unseen(_ value: ReceiverValue, of receiver: ReceiverDescription) -> String? {
    guard case .messages = value, !receiver.reports(.messages),
      receiver.takes(.messages([SentenceRate("GGA", SentenceRate.rarestObserved + 1)]))
    else { return nil }
    return "without sentences that come less often than every \(SentenceRate.rarestObserved) "
      + (receiver.countsSeconds ? "seconds" : "fixes")
  }

  /// The sentences that the receiver sends and that a file does not have, or not as they are: messages without a name, sentences whose
  /// interval is not a whole number of seconds, and sentences of several streams.
  package static func unstored(_ value: ReceiverValue, of receiver: ReceiverDescription) -> [String] {
    guard case .messages(let list) = value else { return [] }
    var names: [String] = []
    for (index, one) in list.enumerated() where one.rate > 0 {
      let isSettable = receiver.takes(.messages([SentenceRate(one.formatter, one.rate)]))
      let isExact = one.stream.map { $0.interval.hasPrefix("sec") || $0.interval.hasPrefix("min") } ?? true
      let isRepeated = list[..<index].contains { $0.formatter == one.formatter && $0.rate > 0 }
      if isSettable, isExact, !isRepeated, MessageNames.message(one.formatter) != nil { continue }
      let name = one.isSentence ? one.formatter : "message \(one.formatter)"
      names.append(([name] + [one.stream?.interval].compactMap(\.self)).joined(separator: " "))
    }
    return names
  }

  package static func baud(_ rate: UInt32) -> SettingValue { SettingValue(name: "baud", text: "\(rate)", unit: "") }

  private static func text(_ value: ReceiverValue) -> String {
    switch value {
    case .period(let milliseconds):
      milliseconds > 0 && 1000 % milliseconds == 0 ? "\(1000 / milliseconds)Hz" : "\(milliseconds)ms"
    case .constellations(let list):
      ConstellationNames.all.filter { list.contains($0.constellation) }.map(\.name).joined(separator: "+")
    case .messages(let list), .measurements(let list): text(list.filter { $0.rate > 0 })
    case .output(let isOn): isOn ? "on" : "off"
    case .logger(let state): state.isOn ? "on" : "off"
    case .mode(let mode): mode.words.joined(separator: " ")
    }
  }

  /// The sentences that can be set: others have no name. Of one in several streams the fastest is the first.
  private static func text(_ list: [SentenceRate]) -> String {
    list.enumerated().filter { index, one in !list[..<index].contains { $0.formatter == one.formatter } }.map(\.element)
      .filter { $0.isSentence && MessageNames.message($0.formatter) != nil }
      .map { $0.rate == 1 ? $0.formatter : "\($0.formatter)@\($0.rate)" }.joined(separator: ",")
  }
}
