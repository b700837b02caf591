import ArgumentParser
import Receiver

/// `sextant batch`: fixes kept in the receiver's memory while the line and the host rest.
struct Batch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Have a receiver keep its fixes, and read them out.",
    discussion: """
      start       the receiver keeps its fixes and says nothing any more, also when this command has ended
      status      how many fixes wait
      retrieve    print them as TPV lines, oldest first, each once; what is lost is told with its number

      A receiver that has no such memory but flash (M8 with flash, F9, X20) logs there instead, a position a second, until it is \
      started anew; what it logged outlives its supply. `start` refuses while something is logged; --erase erases it first.

      What was received and what was delivered is kept in the state folder (SEXTANT_STATE_DIR), so that a retrieval that \
      was interrupted, also by kill -9, is gone on with. docs/batching.md says which receivers can, and how much they hold.
      """)

  @Option(help: "The receiver's device; without it GNSS_DEVICE, or the first receiver that is plugged in.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Option(help: "Fixes to hold; the receiver holds fewer when that is too many.")
  var size = 300

  @Flag(help: "Keep heights above sea level and all accuracies, too; then fewer fit.")
  var extended = false

  @Flag(help: "With start: erase what a receiver has logged in its flash.")
  var erase = false

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: "Give up after this many seconds without an end.")
  var seconds = 180.0

  @Argument(help: "start, status or retrieve.")
  var action: BatchRequest

  func validate() throws {
    if !(1...65_535 ~= size) { throw ValidationError("--size is a number from 1 to 65535.") }
    if !(seconds > 0 && seconds < 1e6) { throw ValidationError("--seconds is a time above 0.") }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
  }

  func run() throws {
    let choice = try Source.chosen(named: device, for: .sending)
    let source = choice.source
    guard let folder = stateFolder() else {
      throw CommandFailure(
        exitCode: CommandFailure.configuration,
        description: "no place to keep what was delivered; set SEXTANT_STATE_DIR to a folder")
    }
    var client = try BatchClient(source, action, json: json, erases: erase, folder: folder + "/batch")
    if action == .start, client.undelivered > 0 {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(client.undelivered) fixes of the last batch were received and not printed; retrieve them first")
    }
    // Before the receiver is told: one that batches says nothing any more.
    if action == .start { try client.checkRoom() }
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.restoresAtEnd = false
    let (action, batch) = (action, BatchConfiguration(epochs: size, isExtended: extended))
    settings.desired = { description in
      guard action == .start else { return .silent }
      if description.can(.batching) { return .batching(batch, for: description) }
      return description.can(.flashLog) ? .logging(for: description) : .silent
    }
    settings.unfinishedFrame = client.unfinishedFrame
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: seconds, client: client)
    try loop.run()
    if let failure = loop.client.failure { throw failure }
    if !loop.client.isDone {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: loop.isInterrupted
          ? "interrupted before the receiver had answered" : "the receiver did not answer to the end; try again")
    }
  }
}

/// What is asked for.
enum BatchRequest: String, ExpressibleByArgument, CaseIterable, Sendable {
  case start, status, retrieve
}
