// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import WireBytes

/// `sextant check`: tries what Sextant does with a receiver, and compares what it measures with what it assumes.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Compare a receiver with what Sextant assumes of it, and leave it as it was.",
    discussion: """
      Identifies the receiver, measures its replies, changes fix rate, messages, constellations and baud rate for a moment, \
      puts it to sleep, wakes it, measures the time to a fix, and stores a few fixes in its memory, where it can. Nothing is \
      saved. The receiver is restored, also after ^C; after a kill or an unplug the next command restores it. The command takes \
      one to three minutes. Give the receiver an open sky, and let it have a fix first.

      --out writes the dialogue and the measurements to a file that you can post in an issue. It has no position and no serial \
      number: only messages that are on a list are in it, others by name.

      Standard output has a line for each difference, standard error the progress. The exit code is 0 if everything is as assumed, \
      1 if something differs.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "Write the dialogue without positions, and the measurements, to this file.")
  var out: String?

  @Flag(
    help: """
      Restart the receiver too: warm, after which it needs half a minute for a fix, and hot where it cannot sleep. A receiver of \
      another maker may lose settings that were not saved, and gets those again that it reports or that its output shows.
      """)
  var yes = false

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    var sequence = CheckSequence(path: choice.source.name, restarts: yes, isAtTerminal: isInputTerminal())
    // A file that cannot be written is reported before the receiver is used.
    try write(sequence)
    try CrashRecovery.restore(choice)
    while let part = sequence.next() {
      try Self.print(sequence.takeFindings())
      if part == .powerLoss, !Self.askForPowerLoss() {
        sequence.leaveOutPowerLoss()
      } else {
        try make(part, of: &sequence, choice)
      }
    }
    try Self.print(sequence.takeFindings())
    try write(sequence)
    if let failure = sequence.failure { throw failure }
  }

  /// Asks the user to interrupt the supply. Returns whether that was done.
  private static func askForPowerLoss() -> Bool {
    printRaw(
      "Interrupt the receiver's supply for ten seconds, then press Enter; settings that were not saved may be lost. "
        + "To leave this out, type n and press Enter: ")
    return readLine().map { !$0.lowercased().hasPrefix("n") } ?? false
  }

  private func make(_ part: CheckPart, of sequence: inout CheckSequence, _ choice: Source.Choice) throws {
    let run = CheckRun(part, sequence.state, path: choice.source.name, at: SystemClock.monotonic)
    let client = CheckClient(run, isBound: choice.baud != nil)
    var loop = try ReceiverLoop(choice, part.settings(of: sequence.state), seconds: nil, client: client)
    var failure: (any Error)?
    do { try loop.run() } catch { failure = error }
    let (isInterrupted, isOrderly) = (loop.isInterrupted, failure == nil && !loop.isCut)
    let done = loop.takeClient().takeRun()
    sequence.receive(done, isInterrupted: isInterrupted, isOrderly: isOrderly, at: SystemClock.monotonic)
    try Self.print(sequence.takeFindings())
    try write(sequence)
    if let failure { throw failure }
  }

  private func write(_ sequence: CheckSequence) throws {
    guard let out else { return }
    do throws(FileError) { try UserFile.replace(out, with: sequence.text) } catch {
      throw CommandFailure(error.isForbidden ? .noPermission : .cannotCreate, error.description)
    }
  }

  /// Prints findings: a difference on standard output, others on standard error.
  fileprivate static func print(_ findings: ArraySlice<CheckFinding>) throws {
    for finding in findings {
      if finding.deviation == nil { printNotice(finding.text) } else { try Output.write(finding.text + "\n") }
    }
  }
}

/// Performs the actions of one part on a connection: the session's end restores the receiver, and after a kill its crash-recovery record
/// does.
struct CheckClient: ReceiverClient, ~Copyable {
  private var run: CheckRun
  private let isBound: Bool
  /// The last request.
  private var ticket: SessionTicket?
  private let sent = SentBytes()

  /// The bytes that the session sent since the last event.
  private final class SentBytes { var writes: [(bytes: [UInt8], at: Instant)] = [] }

  init(_ run: CheckRun, isBound: Bool) { (self.run, self.isBound) = (run, isBound) }

  var failure: CommandFailure? { run.failure }
  var deadline: Instant? { run.deadline }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    takeSent()
    run.receive(bytes, at: now)
  }

  mutating func receive(_ epoch: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    run.receive(epoch, at: now)
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if case .opened = event { connection.onSend = { [sent] in sent.writes.append(($0, SystemClock.monotonic)) } }
    if case .finished(let finished, _) = event, finished != ticket { return }
    takeSent()
    run.receive(event, on: line(connection), at: now)
    perform(connection, &poller, at: now)
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    takeSent()
    run.endRound(on: line(connection), at: now)
    perform(connection, &poller, at: now)
    try Check.print(run.takeFindings())
    return run.isOver
  }

  mutating func interrupt(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) -> Bool {
    takeSent()
    defer { perform(connection, &poller, at: now) }
    return run.interrupt(at: now)
  }

  mutating func reportSlowEnd(_ text: String) {}

  consuming func takeRun() -> CheckRun {
    takeSent()
    return run
  }

  private mutating func takeSent() {
    for (bytes, at) in sent.writes { run.send(bytes, at: at) }
    sent.writes = []
  }

  /// A line that is gone performs nothing, and its loss is the next event.
  private mutating func perform(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    while let action = run.nextAction() {
      switch action {
      case .submit(let command): ticket = connection.submit(command, &poller, at: now)
      case .perform(let tasks, let values): ticket = connection.perform(tasks, restoring: values, &poller, at: now)
      case .set(let desired): connection.set(desired, &poller, at: now)
      case .sleep(let time): connection.sleep(for: time, &poller, at: now)
      case .wakeUp: connection.wakeUp(&poller, at: now)
      case .retrieveBatch: connection.retrieveBatch(BatchJournal(), &poller, at: now)
      case .notify(let text): printNotice(text)
      }
    }
  }

  private func line(_ connection: ReceiverConnection) -> CheckedLine {
    CheckedLine(
      isOpen: connection.isOpen, isBound: isBound, description: connection.description, port: connection.port,
      rate: connection.rate, configuredRate: connection.configuredRate)
  }
}
