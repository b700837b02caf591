// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Septentrio's text commands (as recorded: mosaic-G5).
struct Septentrio: FamilyLanguage {
  /// The command is repeated in the reply, whatever the receiver.
  var probes: [Command] {
    [
      Command(
        line: "getReceiverCapabilities", FamilyAnswer(.text("R: getReceiverCapabilities")), attempts: 2,
        timeout: Milliseconds(400))
    ]
  }

  /// It sends nothing as found, at any of these.
  var rates: PortRates {
    PortRates(usual: [115_200, 230_400, 460_800, 921_600], others: [9600, 19_200, 38_400, 57_600])
  }
  var isSilentAsFound: Bool { true }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered = outcome else { return nil }
    return ReceiverDescription(
      family: .septentrio, model: nil, firmware: nil, hardware: "", capabilities: [.restart])
  }

  /// The receiver replies to `SSSSSSSSSS` with only its prompt (recorded). The prompt names the port.
  func furtherPolls(after found: ReceiverDescription) -> [Command] {
    [Command(line: "SSSSSSSSSS", FamilyAnswer(.text(Self.prompt)), attempts: 1)]
  }

  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {
    guard case .answered(let prompt) = outcome else { return }
    description = description.adding(port: String(decoding: prompt.dropFirst(Self.prompt.utf8.count), as: UTF8.self))
  }

  /// The beginning of a prompt (`ReplyScanner`).
  private static let prompt = ">"

  // MARK: Sentences (mosaic reference guides, setNMEAOutput: stream, port, messages, interval)

  /// The sentences that a user can set.
  private static let sentences = [
    "GGA", "GLL", "GNS", "GRS", "GSA", "GST", "GSV", "HDT", "RMC", "ROT", "VTG", "ZDA",
  ]
  /// The intervals in whole seconds. The receiver also has intervals in minutes and in milliseconds.
  private static let seconds: [UInt8] = [1, 2, 5, 10, 15, 30, 60]
  private static let off = "off"
  /// A stream that sends a sentence when its values are new.
  private static let onChange = "OnChange"

  func polls(of kind: ReceiverValue.Kind) -> [Command] {
    guard kind == .messages else { return [] }
    let text = "getNMEAOutput"
    let reply = FamilyAnswer(.lines(Self.values, end: Self.prompt), .septentrio(text))
    return [Command(line: text, reply, attempts: 2)]
  }

  private static let values = "NMEAOutput, "
  var sharesStreams: Bool { true }

  /// `NMEAOutput, Stream1, USB1, GGA+RMC, sec1` for each stream, of all ports. The sentences that no stream sends to the port
  /// have the streams that are not in use. Of a sentence in several streams, the fastest is first.
  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? {
    guard kind == .messages, let port = receiver.port, let reply = replies.first ?? nil else { return nil }
    var list: [SentenceRate] = []
    var free: [UInt8] = []
    for line in reply.split(separator: UInt8(ascii: "\n")) {
      let fields = SentenceFields(Array(line))
      guard let name = fields[1], name.hasPrefix(Self.stream),
        let number = UInt8(name.dropFirst(Self.stream.utf8.count)),
        let interval = fields[4]
      else { continue }
      if fields[2] == Self.none, fields[3] == Self.none { free.append(number) }
      guard fields[2] == port, fields[3] != Self.none, let rate = Self.rate(interval) else { continue }
      for sentence in (fields[3] ?? "").split(separator: "+") {
        var one = SentenceRate(String(sentence), rate)
        one.stream = SentenceStream(number: number, interval: interval)
        list.append(one)
      }
    }
    list.sort { ($0.rate, $0.stream?.number ?? 0) < ($1.rate, $1.stream?.number ?? 0) }
    let absent = Self.sentences.filter { sentence in !list.contains { $0.formatter == sentence } }
    for (index, sentence) in absent.enumerated() {
      var one = SentenceRate(sentence, 0)
      one.stream = free.isEmpty ? nil : SentenceStream(number: free[index % free.count], interval: Self.off)
      list.append(one)
    }
    return .messages(list)
  }

  private static let stream = "Stream"
  private static let none = "none"

  /// The period of an interval in seconds, as the rate of a sentence: 1 for a shorter one, nil for none.
  private static func rate(_ interval: String) -> UInt8? {
    if interval == onChange { return 1 }
    let digits = interval.drop { !$0.isNumber }
    guard let count = UInt32(digits), count > 0 else { return nil }
    switch interval.dropLast(digits.count) {
    case "msec": return 1
    case "sec": return UInt8(clamping: count)
    case "min": return UInt8(clamping: min(count, 60) * 60)
    default: return nil
    }
  }

  /// Each stream of the port whose sentences change gets all of them, so that it can be written again.
  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? {
    guard case .messages(let wanted) = value, let port = receiver.port else { return nil }
    var present: [SentenceRate] = []
    if case .messages(let list)? = found { present = list }
    var list = present
    var done: Set<String> = []
    for one in wanted {
      guard one.rate == 0 || one.stream != nil || Self.seconds.contains(one.rate),
        one.stream != nil || Self.sentences.contains(one.formatter)
      else { return nil }
      guard done.insert(one.formatter).inserted else { continue }
      var open = wanted.filter { $0.formatter == one.formatter }
      let there = list.indices.filter { list[$0].formatter == one.formatter }
      let isSingle = open.count == 1 && there.count == 1
      if open.count == 1, isSingle || one.stream == nil, let first = there.first, list[first].rate == one.rate {
        continue
      }
      // Unchanged sentences stay, sentences with another rate take the places of the rest, and further ones are appended.
      var places: [Int] = []
      for index in there {
        if let same = open.firstIndex(where: { $0.rate == list[index].rate && $0.stream == list[index].stream }) {
          open.remove(at: same)
        } else {
          list[index].rate = 0
          places.append(index)
        }
      }
      for one in open {
        guard let next = Self.placed(one, in: list, from: found == nil ? nil : present) else { return nil }
        if places.isEmpty { list.append(next) } else { list[places.removeFirst()] = next }
      }
    }
    return Self.commands(list, from: found == nil ? nil : present, at: port)
  }

  /// A sentence with the stream that sends it: the one that it had, or one of the port with this interval, or one that is not in use. Nil
  /// without any.
  private static func placed(
    _ one: SentenceRate, in list: [SentenceRate], from present: [SentenceRate]?
  ) -> SentenceRate? {
    var next = one
    // The stream that it had may be another port's by now.
    let isTaken = one.stream.map { stream in
      present.map { !$0.contains { $0.stream?.number == stream.number } } ?? false
    }
    guard one.rate > 0, isTaken ?? true else { return next }
    let inUse = list.filter { $0.rate > 0 }
    let interval = one.stream?.interval ?? "sec\(one.rate)"
    let unused = present.map { $0.filter { $0.rate == 0 }.compactMap { $0.stream?.number } } ?? Array(1...10)
    let free = unused.first { number in !inUse.contains { $0.stream?.number == number } }
    let same = inUse.first { other in
      guard other.rate == one.rate, let present = other.stream?.interval else { return false }
      return one.stream == nil ? present != onChange : present == interval
    }?.stream
    guard let stream = same ?? free.map({ SentenceStream(number: $0, interval: interval) }) else { return nil }
    next.stream = stream
    return next
  }

  private static func commands(_ list: [SentenceRate], from present: [SentenceRate]?, at port: String) -> [Command] {
    let numbers = Set((list + (present ?? [])).compactMap { $0.stream?.number })
    return numbers.sorted().compactMap { number in
      let text = text(ofStream: number, list, at: port)
      if let present, text == self.text(ofStream: number, present, at: port) { return nil }
      return Command(line: text, FamilyAnswer(nil, .septentrio(text)))
    }
  }

  private static func text(ofStream number: UInt8, _ list: [SentenceRate], at port: String) -> String {
    let sent = list.filter { $0.rate > 0 && $0.stream?.number == number }
    guard let interval = sent.first?.stream?.interval else { return "setNMEAOutput, Stream\(number), none, none, off" }
    return "setNMEAOutput, Stream\(number), \(port), \(sent.map(\.formatter).joined(separator: "+")), \(interval)"
  }

  // MARK: Actions

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    let text =
      switch action {
      case .save: "exeCopyConfigFile, Current, Boot"
      case .hotRestart: "exeResetReceiver, soft, none"
      case .warmRestart: "exeResetReceiver, soft, PVTData"
      case .coldRestart: "exeResetReceiver, hard, SatData"
      case .factoryReset: ""
      }
    guard !text.isEmpty else { return nil }
    return [Command(line: text, FamilyAnswer(nil, .septentrio(text)))]
  }

  var lackOfMeasurements: String { "it sends RTCM 3 as a static receiver only, and sextant does not decode SBF" }

  /// The first lines of replies; those behind them are left out.
  var publishableTexts: [String] {
    let commands = [
      "getReceiverCapabilities", "getNMEAOutput", "setNMEAOutput", "exeCopyConfigFile", "exeResetReceiver",
    ]
    return commands + commands.flatMap { ["$R: \($0)", "$R? \($0)"] }
  }
}
