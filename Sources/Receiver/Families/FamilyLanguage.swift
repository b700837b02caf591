// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import RTCM3

/// The commands of a family, as values: an intent becomes commands with their replies.
///
/// Each requirement has a default for a family without the function.
protocol FamilyLanguage: Sendable {
  /// The polls of the identity, one after the other; the first reply identifies the family. They change nothing.
  var probes: [Command] { get }
  /// The probes that a receiver without output gets while its rate is searched.
  var silentPolls: [Command] { get }
  var rates: PortRates { get }
  /// Whether the reply to a probe is a text that the receiver also sends at its start.
  var repliesWithStartText: Bool { get }
  /// The polls of an identified receiver for what the probe's reply does not contain, one after the other.
  func furtherPolls(after found: ReceiverDescription) -> [Command]
  /// The description of a receiver by the reply to a probe; nil if it is another reply.
  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription?
  /// Adds the reply to one of `furtherPolls`.
  func complete(_ description: inout ReceiverDescription, from outcome: Outcome)

  /// The polls of a value; empty where it cannot be read.
  func polls(of kind: ReceiverValue.Kind) -> [Command]
  /// The value by the replies to `polls`, in their order; nil for one without a reply.
  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue?
  /// Whether a receiver of the family sends no sentences before a command switches them on.
  var isSilentAsFound: Bool { get }
  /// Whether the commands of sentences name the talker.
  var namesTalkers: Bool { get }
  /// Whether the commands of sentences have the seconds between two of them, not the fixes.
  var countsSeconds: Bool { get }
  /// The command that lists all that the receiver sends, at each of its ports; nil without one.
  var outputList: Command? { get }
  /// Whether one command sets the rates of all sentences: those that it does not name are off.
  var setsAllSentences: Bool { get }
  /// Whether other ports share what the commands of sentences name: it is read before they are restored.
  var sharesStreams: Bool { get }
  /// The commands that set a value; nil if the family, or this receiver, does not have it.
  ///
  /// - Parameter found: the present value, as far as it is known.
  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]?
  /// The mode in which the receiver sends sentences; nil for a family that sends them in each of its modes.
  var sentenceMode: ReceiverMode? { get }
  /// The mode that a frame without a request shows; nil for a frame that any mode can have.
  func mode(shownBy frame: FamilyFrame) -> ReceiverMode?
  /// The values that the receiver changes by itself with this one. They are read before it is set, for their restoration.
  func affected(by value: ReceiverValue) -> [ReceiverValue.Kind]
  /// The sentence of the restart after which a saved value is in force; nil for one that is in force at once.
  func restart(for kind: ReceiverValue.Kind) -> String?
  /// Whether a session can set a value and restore it exactly.
  func canTakeBack(_ kind: ReceiverValue.Kind) -> Bool
  /// The bytes that change the baud rate of the port to one of `rates`; nil if that is not possible for this session alone.
  ///
  /// - Parameter place: the place of the rate among all, in ascending order.
  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]?
  /// The ports of a receiver whose command names one; empty for the others. A host is at one of them.
  var ports: [FamilyPort] { get }

  /// Whether the receiver can be a base station.
  func canBeBase(_ receiver: ReceiverDescription) -> Bool
  /// The reason why the family cannot be this base station, for people; nil if it can.
  func refusal(ofBase station: BaseStation) -> String?
  /// The values of a base station, in the order in which they are set.
  func values(ofBase station: BaseStation) -> [ReceiverValue]
  /// The longest time in which the receiver is silent while its mode changes.
  var modeChangeTime: Milliseconds { get }

  /// The messages with raw measurements and orbits that a recording switches on, with their rates; empty for a receiver that lacks
  /// them.
  func measurements(of receiver: ReceiverDescription) -> [SentenceRate]
  /// Those messages by the RTCM 3 messages that the line showed; nil for a family that reports them itself.
  ///
  /// - Parameter corrections: the observed messages with their periods in seconds.
  func measurements(observed corrections: [SentenceRate]) -> [SentenceRate]?
  /// The least rate of a serial line for them, in baud; nil where the rate cannot be changed for a session alone.
  var leastRateForMeasurements: UInt32? { get }
  /// The reason why raw measurements of the family's other receivers are not recorded, for people.
  var lackOfMeasurements: String { get }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]?
  /// The commands of an action whose usual ones were refused; nil without any. After one without an acknowledgement only the last is
  /// sent, which takes back the others.
  func commandsAfterRefusal(of action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]?
  /// The command that keeps a receiver awake whose processor sleeps by itself, before it hears a probe; nil for others.
  var keepAwake: Command? { get }
  /// The shortest and the longest time that `sleep` can request.
  func shortestSleep(on receiver: ReceiverDescription) -> Milliseconds
  func longestSleep(on receiver: ReceiverDescription) -> Milliseconds
  /// The request to sleep; nil if it cannot. It is sent once. A refusal counts, and a missing acknowledgement does not: frames show
  /// whether the receiver sleeps.
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command?
  /// The command that starts the engine of a receiver that replies while a command has stopped it; nil where no such command is known to
  /// do nothing to an engine that runs.
  var engineStart: Command? { get }
  /// A query that every receiver of the family replies to.
  var poll: Command { get }
  /// The bytes before `wakeUp`, which may be lost.
  var wakingBytes: [UInt8] { get }
  /// The command whose reply shows an awake receiver.
  var wakeUp: Command { get }
  /// The beginnings of its lines that have no position and no serial number of one device, as on the wire, requests too: a
  /// published dialogue has them. Sentences of loggers and of injected positions are not among them.
  var publishableTexts: [String] { get }
  /// The binary frames of that kind.
  var publishableFrames: Set<UInt16> { get }
  /// The acknowledgement of a sentence that a user sends; nil if nothing is known of it.
  func acknowledgement(ofSentence body: String) -> FamilyAnswer?

  /// The commands that read the logger's memory; nil for a family without one.
  var logger: LoggerCommands? { get }
  /// The memory by the lines of `LoggerCommands.dump`.
  func loggerDump(from lines: [[UInt8]]) -> LoggerDump
  /// Whether the memory keeps its records over a restart of the receiver.
  var keepsLogOverRestart: Bool { get }
}

extension FamilyLanguage {
  var silentPolls: [Command] { [probes[0]] }
  var repliesWithStartText: Bool { false }
  func furtherPolls(after found: ReceiverDescription) -> [Command] { [] }
  func complete(_ description: inout ReceiverDescription, from outcome: Outcome) {}
  func polls(of kind: ReceiverValue.Kind) -> [Command] { [] }
  func value(
    _ kind: ReceiverValue.Kind, from replies: [[UInt8]?], on receiver: ReceiverDescription
  ) -> ReceiverValue? { nil }
  func commands(
    setting value: ReceiverValue, from found: ReceiverValue?, on receiver: ReceiverDescription
  ) -> [Command]? { nil }
  var isSilentAsFound: Bool { false }
  var namesTalkers: Bool { false }
  var countsSeconds: Bool { false }
  var outputList: Command? { nil }
  var setsAllSentences: Bool { false }
  var sharesStreams: Bool { false }
  var sentenceMode: ReceiverMode? { nil }
  func mode(shownBy frame: FamilyFrame) -> ReceiverMode? { nil }
  func affected(by value: ReceiverValue) -> [ReceiverValue.Kind] { [] }
  func restart(for kind: ReceiverValue.Kind) -> String? { nil }
  func canTakeBack(_ kind: ReceiverValue.Kind) -> Bool { restart(for: kind) == nil }
  func rateChange(to rate: UInt32, at place: Int) -> [UInt8]? { nil }
  /// The bytes that change the baud rate of the port; nil if that is not possible, or not for this session alone.
  func rateChange(to rate: UInt32) -> [UInt8]? {
    rates.all.firstIndex(of: rate).flatMap { rateChange(to: rate, at: $0) }
  }
  var ports: [FamilyPort] { [] }
  func canBeBase(_ receiver: ReceiverDescription) -> Bool { false }
  func refusal(ofBase station: BaseStation) -> String? { nil }
  func values(ofBase station: BaseStation) -> [ReceiverValue] { [] }
  var modeChangeTime: Milliseconds { Milliseconds(0) }
  func measurements(of receiver: ReceiverDescription) -> [SentenceRate] { [] }
  func measurements(observed corrections: [SentenceRate]) -> [SentenceRate]? { nil }
  var leastRateForMeasurements: UInt32? { nil }
  var lackOfMeasurements: String { "sextant knows no raw measurements of this family" }
  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? { nil }
  func commandsAfterRefusal(of action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? { nil }
  var keepAwake: Command? { nil }
  func shortestSleep(on receiver: ReceiverDescription) -> Milliseconds { SleepRequest.shortest }
  func longestSleep(on receiver: ReceiverDescription) -> Milliseconds { SleepRequest.longest }
  func sleep(for duration: Milliseconds?, on receiver: ReceiverDescription) -> Command? { nil }
  var wakingBytes: [UInt8] { [13, 10] }
  var engineStart: Command? { nil }
  var poll: Command { probes[0] }
  var wakeUp: Command { probes[0] }
  var publishableTexts: [String] { [] }
  var publishableFrames: Set<UInt16> { [] }
  func acknowledgement(ofSentence body: String) -> FamilyAnswer? { nil }
  var logger: LoggerCommands? { nil }
  func loggerDump(from lines: [[UInt8]]) -> LoggerDump { LoggerDump() }
  var keepsLogOverRestart: Bool { false }
}

/// The rates of a family's ports, in baud.
struct PortRates {
  /// Those at which a receiver is searched first, and those at which it is searched then.
  var usual: [UInt32]
  var others: [UInt32]
  /// Those that it can also be set to.
  var unsearched: [UInt32] = []

  /// All rates in ascending order.
  var all: [UInt32] { (usual + others + unsearched).sorted() }
}

/// A port of a receiver whose command for the baud rate names it.
struct FamilyPort: Sendable {
  /// The name, such as COM3.
  var name: String
  /// The command without the rate, such as `CONFIG COM3`.
  var command: String
  /// Polls the rate of the port, the third word of the reply.
  var poll: Command

  /// The command that sets a rate.
  func change(to rate: UInt32) -> [UInt8] { Command(line: "\(command) \(rate)").bytes }

  /// The rate in the reply to `poll`, in baud; nil without one.
  func rate(from reply: [UInt8]) -> UInt32? {
    reply.split(separator: UInt8(ascii: " ")).dropFirst(2).first.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
  }
}

/// An action on a receiver of another maker.
public enum ReceiverAction: String, Sendable, CaseIterable {
  case save, hotRestart, warmRestart, coldRestart, factoryReset
}

extension Command {
  /// Returns the sentence that a user sends, with the acknowledgement of a family; `$`, checksum and line end are added where
  /// they are missing. Nil for text that is not a sentence.
  public static func sentence(_ text: String, for family: ReceiverFamily?) -> Command? {
    var body = Substring(text)
    if body.first == "$" { body.removeFirst() }
    while let last = body.utf8.last, last == 13 || last == 10 || last == 32 { body.removeLast() }
    if body.utf8.count >= 3, body.dropLast(2).last == "*" { body.removeLast(3) }
    guard !body.isEmpty,
      body.utf8.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "$") && $0 != UInt8(ascii: "*") })
    else { return nil }
    let answer = family?.language?.acknowledgement(ofSentence: String(body))
    return Command(sentence: String(body), answer, attempts: answer == nil ? 1 : 3)
  }

  /// A sentence, `body` without `$` and checksum.
  init(
    sentence body: String, _ answer: FamilyAnswer? = nil, attempts: Int = 3, timeout: Milliseconds = Milliseconds(700)
  ) {
    self.init(raw: sentenceBytes(body), answer, attempts, timeout)
  }

  /// A line of text without a checksum.
  init(line text: String, _ answer: FamilyAnswer? = nil, attempts: Int = 3, timeout: Milliseconds = Milliseconds(700)) {
    self.init(raw: Array("\(text)\r\n".utf8), answer, attempts, timeout)
  }

  /// A frame of a binary protocol.
  init(
    _ layout: FrameLayout, _ identity: UInt16, _ payload: [UInt8] = [], _ answer: FamilyAnswer? = nil,
    attempts: Int = 3, timeout: Milliseconds = Milliseconds(700)
  ) {
    self.init(raw: layout.frame(identity, payload), answer, attempts, timeout)
  }

  private init(raw bytes: [UInt8], _ answer: FamilyAnswer?, _ attempts: Int, _ timeout: Milliseconds) {
    self.init(raw: bytes)
    if let answer { self.answer = .family(answer) }
    self.attempts = attempts
    self.timeout = timeout
  }
}
