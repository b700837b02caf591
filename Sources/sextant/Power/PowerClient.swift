import FileSystem
import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant power`: asks for a state, and writes each change with its time.
struct PowerClient: ReceiverClient, ~Copyable {
  /// Why the request was not carried out.
  private(set) var failure: CommandFailure?

  private let path: String
  private let request: PowerRequest
  private let log: AppendOnlyFile?
  private let started: Instant
  private let limit: SearchLimit
  private var lines: [String] = []
  /// Whether the receiver is known, and was asked.
  private(set) var hasAsked = false
  private var isDone = false
  private var hasFix: Bool?
  private var question: SessionTicket?
  private var uptimeQuestion: SessionTicket?

  init(_ source: Source, _ request: PowerRequest, log: String?, seconds: Double?) throws {
    // What can fail comes first: a value that owns a descriptor cannot be left half made.
    if let log {
      self.init(source, request, try AppendOnlyFile(log), seconds)
    } else {
      self.init(source, request, nil, seconds)
    }
  }

  private init(_ source: Source, _ request: PowerRequest, _ log: consuming AppendOnlyFile?, _ seconds: Double?) {
    started = SystemClock.monotonic
    limit = SearchLimit(seconds: seconds, from: started)
    path = if case .device(let path) = source { path } else { "built-in simulator" }
    self.request = request
    self.log = log
  }

  var deadline: Instant? { limit.deadline(hasAnswered: hasAsked) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard case .mode = request, !report.isUpdate, report.fix.hasPosition != hasFix else { return }
    hasFix = report.fix.hasPosition
    write(report.fix.hasPosition ? "tracking" : "acquisition", at: now)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .lost: write("gone", at: now)
    case .ended: fail("a file takes no orders; name a receiver's device")
    case .session(let report): receive(report, connection, &poller, at: now)
    case .finished(let ticket, let outcome) where ticket == question: showMode(outcome, connection)
    case .finished(let ticket, let outcome) where ticket == uptimeQuestion:
      lines.append(Uptime.state(Uptime.seconds(outcome), asked: now.seconds(since: started)))
    default: break
    }
    if let text = text(of: event, path: path, baud: nil) { printNotice(text) }
  }

  private mutating func receive(
    _ report: SessionReport, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch report {
    case .configured(let refused):
      ask(connection, &poller, at: now)
      if case .mode(let mode) = request, refused == 0, failure == nil { write(Self.words(of: mode), at: now) }
      if refused > 0 { fail("the receiver refused the mode; docs/power.md says what each can do") }
    case .configurationFailed: fail("the receiver refuses to be configured")
    case .notIdentified: fail("no u-blox receiver: it takes no orders")
    case .asleep(let until):
      let length = until.map { " for \(Int($0.seconds(since: now).rounded())) s" } ?? " until it is woken"
      write("asleep" + length, at: now)
      // One that waits to be woken is left so.
      if case .sleep(nil) = request { isDone = true }
    case .awake(let cause):
      write("awake " + Self.words(of: cause), at: now)
      if case .sleep = request { isDone = true }
    case .silent: write("silent", at: now)
    case .back: write("heard again", at: now)
    case .wasReset: write("was reset", at: now)
    case .resetToWake: write("reset to wake it", at: now)
    case .doesNotSleep: fail("the receiver does not sleep")
    case .cannotSleep: fail("this receiver cannot be put to sleep at this port")
    case .doesNotWake: fail("the receiver does not wake; check its supply, or switch it off and on")
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    for line in lines {
      try Output.write(line)
      try log?.append(line)
    }
    lines = []
    return isDone || limit.isOver(hasAnswered: hasAsked, at: now)
  }

  mutating func resize() {}

  private mutating func ask(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard !hasAsked, let description = connection.description else { return }
    hasAsked = true
    switch request {
    case .status:
      lines += Self.capabilities(of: description, device: path)
      uptimeQuestion = connection.submit(Uptime.question, &poller, at: now)
      question = connection.submit(PowerSave.poll(for: description), &poller, at: now)
    case .wake:
      write("awake", at: now)
      isDone = true
    case .sleep(let seconds):
      connection.sleep(for: seconds.map { Milliseconds(seconds: $0) }, &poller, at: now)
    // The switch is no receiver's affair.
    case .off, .on: break
    case .mode(let mode):
      if !mode.isPossible(on: description) { fail("this receiver has no such mode; docs/power.md says what it has") }
    }
  }

  private mutating func showMode(_ outcome: Outcome, _ connection: ReceiverConnection) {
    var mode: String?
    if case .answered(let payload) = outcome, let description = connection.description {
      mode = PowerSave.name(ofReply: payload, from: description)
    }
    lines.append("mode              \(mode ?? "not told")\n")
    isDone = true
  }

  private static func capabilities(of description: ReceiverDescription, device: String) -> [String] {
    let names: [(Capability, String)] = [
      (.backup, "backup"), (.powerSaveCyclic, "cyclic"), (.powerSaveOnOff, "onoff"), (.batching, "batching"),
    ]
    let able = names.filter { description.can($0.0) }.map(\.1).joined(separator: ", ")
    return [
      "device            \(device)\n", "receiver          \(name(of: description))\n", "can               \(able)\n",
    ]
  }

  private mutating func fail(_ text: String) {
    failure = failure ?? CommandFailure(exitCode: CommandFailure.unavailable, description: "\(path): \(text)")
    isDone = true
  }

  /// A line of the log: `2026-05-28T12:00:00.000Z 12.345 asleep for 60 s`.
  private mutating func write(_ state: String, at now: Instant) {
    lines.append(Self.line(state, secondsSinceStart: now.seconds(since: started)))
  }

  static func line(_ state: String, secondsSinceStart: Double) -> String {
    var time = JSONLine()
    time.timestamp(UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds))
    time.put(raw: UInt8(ascii: " "))
    time.decimal(secondsSinceStart, digits: 3)
    return "\(time.text) \(state)\n"
  }

  private static func words(of mode: PowerSave) -> String {
    switch mode {
    case .continuous: "continuous"
    case .cyclic(let seconds): "cyclic tracking every \(seconds) s"
    case .onOff(let seconds): "on/off every \(seconds) s"
    }
  }

  private static func words(of cause: WakeCause) -> String {
    switch cause {
    case .requested: "because it was woken"
    case .time: "because its time was over"
    case .unrequested: "although nobody woke it"
    }
  }
}
