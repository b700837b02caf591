// SPDX-License-Identifier: Apache-2.0

import GPSD
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import UBX
import WireBytes

/// `sextant power`: sends the request, and prints each change of the state with its time.
struct PowerClient: ReceiverClient, ~Copyable {
  /// Why the request was not performed.
  private(set) var failure: CommandFailure?

  private let path: String
  private let request: PowerRequest
  private let log: AppendOnlyFile?
  private let started: Instant
  private let seconds: Double?
  private var limit: SearchLimit
  private var lines: [String] = []
  private var progress = Progress.waiting
  private var isDone = false
  private var hasFix: Bool?
  private var modeTicket: SessionTicket?
  private var uptimeTicket: SessionTicket?

  private enum Progress {
    /// Until the receiver is identified.
    case waiting
    case sent
    case asleep(until: Instant?)
    /// The device disappeared while the receiver was asleep.
    case gone
  }

  /// Whether the receiver was identified and the request was sent.
  var hasSentRequest: Bool { if case .waiting = progress { false } else { true } }
  /// Whether the command waits for a receiver that may never reply.
  private var isSearching: Bool {
    switch progress {
    case .waiting, .gone: true
    case .sent, .asleep: false
    }
  }

  init(_ source: Source, _ request: PowerRequest, log: String?, seconds: Double?) throws {
    // Operations that can fail come first: a value that owns a descriptor must not be left half initialised.
    if let log {
      self.init(source, request, try AppendOnlyFile(log), seconds)
    } else {
      self.init(source, request, nil, seconds)
    }
  }

  private init(_ source: Source, _ request: PowerRequest, _ log: consuming AppendOnlyFile?, _ seconds: Double?) {
    started = SystemClock.monotonic
    self.seconds = seconds
    limit = SearchLimit(seconds: seconds, from: started)
    path = source.name
    self.request = request
    self.log = log
  }

  var deadline: Instant? { limit.deadline(hasReplied: !isSearching) }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    guard case .mode = request, !report.isUpdate, report.fix.hasPosition != hasFix else { return }
    hasFix = report.fix.hasPosition
    write(report.fix.hasPosition ? "tracking" : "acquisition", at: now)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .lost: lose(at: now)
    case .ended: fail(Reason.file)
    case .session(let report): receive(report, connection, &poller, at: now)
    case .finished(let ticket, let outcome) where ticket == modeTicket: showMode(outcome, connection)
    case .finished(let ticket, let outcome) where ticket == uptimeTicket:
      lines.append(Uptime.state(Uptime.seconds(outcome), elapsed: now.seconds(since: started)))
    default: break
    }
    // A failure is printed at the end, and by itself.
    if failure == nil, let text = event.notice(path: path, baud: nil) { printNotice(text) }
  }

  private mutating func receive(
    _ report: SessionReport, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch report {
    case .configured(let refused):
      if case .gone = progress {
        write("awake since the device returned", at: now)
        isDone = true
      }
      sendRequest(connection, &poller, at: now)
      if case .mode(let mode) = request, refused == 0, failure == nil { write(Self.text(of: mode), at: now) }
      if refused > 0 { fail("the receiver refused the mode; docs/guides/power-at-the-bench.md lists the modes") }
    case .configurationFailed(let isRefused): fail(SessionReport.configurationFailure(isRefused: isRefused))
    case .notIdentified: fail("no u-blox receiver, and none of another known family; it accepts no commands")
    case .asleep(let until):
      let length = until.map { " for \(Int(clamping: $0.seconds(since: now).rounded())) s" } ?? " until it is woken"
      write("asleep" + length, at: now)
      progress = .asleep(until: until)
      // The command leaves a receiver asleep that sleeps until it is woken.
      if case .sleep(nil) = request { isDone = true }
    case .awake(let cause):
      write("awake " + Self.text(of: cause), at: now)
      if case .sleep = request { isDone = true }
    case .silent: write("silent", at: now)
    case .back: write("detected again", at: now)
    case .wasReset: write("was reset", at: now)
    case .resetToWake: write("reset to wake it", at: now)
    case .doesNotSleep: fail("the receiver does not go to sleep")
    case .cannotSleep:
      let isTimed = connection.description?.can(.timedSleep) == true && connection.description?.can(.standby) == false
      fail(
        isTimed
          ? "this receiver sleeps for a given time only, which sleep SECONDS requests"
          : "this receiver cannot be put to sleep at this port")
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
    guard !isDone, limit.isOver(hasReplied: !isSearching, at: now) else { return isDone }
    if case .gone = progress { fail("\(Reason.disconnected), and did not return") }
    return true
  }

  /// The next session sends a request again that the receiver has not performed, and reports a sleep that is over.
  private mutating func lose(at now: Instant) {
    write("gone", at: now)
    switch progress {
    case .asleep(let until):
      progress = .gone
      limit = SearchLimit(seconds: seconds, from: max(now, until ?? now))
    case .sent:
      guard case .sleep = request else { return }
      progress = .waiting
      limit = SearchLimit(seconds: seconds, from: now)
    case .waiting, .gone: break
    }
  }

  private mutating func sendRequest(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard case .waiting = progress, let description = connection.description else { return }
    progress = .sent
    for remark in request.remarks(for: description) { printNotice("\(path): \(remark)") }
    switch request {
    case .status:
      lines += Self.capabilities(of: description, device: path)
      if description.family != nil {
        lines.append("state             awake\n")
        isDone = true
        break
      }
      uptimeTicket = connection.submit(Uptime.poll, &poller, at: now)
      modeTicket = connection.submit(PowerSave.poll(for: description), &poller, at: now)
    case .wake:
      write("awake", at: now)
      isDone = true
    case .sleep(let seconds):
      // The end of another session wakes the receiver; the user wants it asleep until it is woken. One of u-blox whose settings have
      // to be restored is woken for that.
      if seconds == nil, description.family != nil || !connection.needsRestoring { connection.restoreAtEnd(false) }
      connection.sleep(for: seconds.map { Milliseconds(seconds: $0) }, &poller, at: now)
    // The supply is switched without a receiver.
    case .off, .on: break
    case .mode(let mode):
      if !mode.isPossible(on: description) {
        fail("this receiver does not have this mode; docs/guides/power-at-the-bench.md lists the modes")
      }
    }
  }

  private mutating func showMode(_ outcome: Outcome, _ connection: ReceiverConnection) {
    var mode: String?
    if case .answered(let payload) = outcome, let description = connection.description {
      mode = PowerSave.name(ofReply: payload, from: description)
    }
    lines.append("mode              \(mode ?? "not reported")\n")
    isDone = true
  }

  private static func capabilities(of description: ReceiverDescription, device: String) -> [String] {
    let names: [(Capability, String)] = [
      (.backup, "backup"), (.powerSaveCyclic, "cyclic"), (.powerSaveOnOff, "onoff"), (.batching, "batching"),
      (.standby, "standby"), (.timedSleep, "timedSleep"),
    ]
    let supported = names.filter { description.can($0.0) }.map(\.1).joined(separator: ", ")
    return [
      "device            \(device)\n", "receiver          \(description.summary)\n",
      "capabilities      \(supported)\n",
    ]
  }

  private mutating func fail(_ text: String) {
    failure = failure ?? CommandFailure(.unavailable, "\(path): \(text)")
    isDone = true
  }

  /// Writes a line: `2026-05-28T12:00:00.000Z 12.345 asleep for 60 s`.
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

  private static func text(of mode: PowerSave) -> String {
    switch mode {
    case .continuous: "continuous"
    case .cyclic(let seconds): "cyclic tracking every \(seconds) s"
    case .onOff(let seconds): "on/off every \(seconds) s"
    }
  }

  private static func text(of cause: WakeCause) -> String {
    switch cause {
    case .requested: "because it was woken"
    case .time: "because its time was over"
    case .unrequested: "without a request"
    }
  }
}

/// The time limit for a receiver that does not reply, for a command without a duration.
struct SearchLimit {
  /// The time of a complete `power status`: a sleeping receiver is woken at each rate that its line may have.
  static let length = Milliseconds(30_000)

  /// Nil for a command with a duration.
  private let end: Instant?

  /// - Parameters:
  ///   - seconds: the duration of the command, if the user gave one.
  ///   - start: the start of the command.
  init(seconds: Double?, from start: Instant) { end = seconds == nil ? start + Self.length : nil }

  /// When to check again without an event.
  func deadline(hasReplied: Bool) -> Instant? { hasReplied ? nil : end }

  /// Whether the time for a reply is over.
  func isOver(hasReplied: Bool, at now: Instant) -> Bool {
    guard let end = deadline(hasReplied: hasReplied) else { return false }
    return now >= end
  }
}

/// The time since the start of a receiver: NAV-STATUS, msss at 12 (interface descriptions, "Milliseconds since Startup
/// / Reset"). A receiver that wakes from backup restarts it.
enum Uptime {
  static let poll = Command.poll(MessageIdentity(0x01, 0x03))

  /// Returns seconds; nil without a reply.
  static func seconds(_ outcome: Outcome) -> Double? {
    guard case .answered(let payload) = outcome, payload.count >= 16 else { return nil }
    return Double((0..<4).reduce(UInt32(0)) { $0 | UInt32(payload[12 + $1]) << UInt32(8 * $1) }) / 1000
  }

  /// Returns the line with the state.
  ///
  /// - Parameters:
  ///   - uptime: the time since the start of the receiver, seconds.
  ///   - elapsed: the time since the start of the command, seconds.
  static func state(_ uptime: Double?, elapsed: Double) -> String {
    // The reported time is as old as the last epoch.
    guard let uptime, uptime + 1 < elapsed else { return "state             awake\n" }
    return
      "state             awake since this command: it was asleep or off; `sextant power sleep 0` restores the sleep\n"
  }
}
