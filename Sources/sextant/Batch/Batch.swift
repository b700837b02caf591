// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Receiver

/// `sextant batch`: fixes are stored in the receiver while line and host are idle.
struct Batch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Store fixes in the receiver, and read them.",
    discussion: """
      start     the receiver stores its fixes and sends nothing, also after this
                command has ended
      status    print the number of stored fixes
      retrieve  print the fixes as TPV lines, oldest first, each once; lost fixes
                are reported with their number

      A receiver without memory for batches, but with flash (M8 with flash, F9, X20), logs a position a second there, until \
      it is restarted. The log survives a loss of power. `start` refuses if there is a log; --erase erases it first.

      A MediaTek or Airoha receiver with the logger LOCUS stores a fix a second in it. Earlier records are neither printed \
      nor erased; start --erase erases them.

      Received and delivered fixes are noted in the state folder (SEXTANT_STATE_DIR), so that an interrupted retrieval can be \
      continued, also after kill -9. docs/reference/batching.md lists the receivers and their capacities.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "The number of fixes to store. The receiver uses less if it has less memory.")
  var size = 300

  @Flag(help: "Also store heights above sea level and all accuracies. The capacity is smaller.")
  var extended = false

  @Flag(help: "start: erase an existing log in flash, or the earlier records of a logger.")
  var erase = false

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: "End without a result after this many seconds.")
  var seconds = 180.0

  @Argument(help: "start, status or retrieve.")
  var action: BatchRequest

  func validate() throws {
    if !(1...65_535 ~= size) { throw ValidationError("--size must be a number from 1 to 65535.") }
    try ReceiverOptions.check(seconds: seconds, below: 1e6)
  }

  func run() throws {
    let choice = try receiver.choose(for: .sending)
    guard let folder = stateFolder() else {
      throw CommandFailure(.configuration, "there is no state folder; set SEXTANT_STATE_DIR to a folder")
    }
    var client = try BatchClient(choice.source, action, json: json, erases: erase, folder: folder + "/batch")
    if action == .start, client.undelivered > 0 {
      throw CommandFailure(
        .unavailable, "\(client.undelivered) fixes of the last batch were received and not printed; retrieve them first"
      )
    }
    // The check precedes the command to the receiver, which is silent from then on.
    if action == .start { try client.checkRoom() }
    // A reader that was killed left a batch to be read, which the restoration would switch off.
    if action == .start { try CrashRecovery.restore(choice) }
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.restoresAtEnd = false
    let (action, batch) = (action, BatchConfiguration(epochs: size, isExtended: extended, erasesEarlier: erase))
    settings.desired = { description in
      guard action == .start else { return .silent }
      if description.can(.batching) { return .batching(batch, for: description) }
      return description.can(.flashLog) ? .logging(for: description) : .silent
    }
    settings.unfinishedFrame = client.unfinishedFrame
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    try loop.run()
    if !loop.client.isDone {
      throw CommandFailure(
        .unavailable,
        loop.isInterrupted ? "interrupted before the receiver had replied" : "the receiver stopped replying; try again")
    }
  }
}

/// The action of `sextant batch`.
enum BatchRequest: String, ExpressibleByArgument, CaseIterable, Sendable {
  case start, status, retrieve
}
