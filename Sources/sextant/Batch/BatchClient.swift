// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant batch`: sends the request, prints the fixes, and notes them in the journal.
struct BatchClient: ReceiverClient, ~Copyable {
  /// Why the request was not performed.
  private(set) var failure: CommandFailure?
  private(set) var isDone = false

  private let path: String
  private let request: BatchRequest
  private let json: Bool
  private var store: BatchStore
  private var ticket: SessionTicket?
  private var hasSentRequest = false
  private var hasConfigured = false
  /// Fixes that are received and not yet printed.
  private var waiting: [(fix: BatchedFix, after: BatchJournal)] = []
  private var ending: BatchEvent?
  /// The journal to store before the receiver stores fixes again.
  private var atPause: BatchJournal?
  /// Entries that a killed retrieval has received.
  private var earlier: [[UInt8]] = []
  /// Bytes of the first line that a killed retrieval has printed without noting it.
  private var printed: [UInt8] = []
  private var problem: (any Error)?
  private var epochs = 0
  private let erases: Bool
  /// The start of a log in flash.
  private var logStart: FlashLogStart?
  /// The number of records that a logger held before.
  private var loggerHolds = 0

  /// - Parameters:
  ///   - erases: whether a log in flash may be erased.
  ///   - folder: the folder of batches.
  init(_ source: Source, _ request: BatchRequest, json: Bool, erases: Bool, folder: String) throws {
    // Operations that can fail come first: a value that owns a descriptor must not be left half initialised.
    let path = source.name
    self.init(path, try BatchStore(folder: folder, line: path), request, json: json, erases: erases)
  }

  private init(_ path: String, _ store: consuming BatchStore, _ request: BatchRequest, json: Bool, erases: Bool) {
    self.path = path
    self.store = store
    self.request = request
    self.json = json
    self.erases = erases
  }

  /// The number of fixes that a killed retrieval has received and not printed.
  var undelivered: Int { store.undelivered }

  /// Checks that there is space for the beginning of a batch.
  mutating func checkRoom() throws(FileError) { try store.checkRoom() }

  /// The unfinished frame of a killed retrieval.
  var unfinishedFrame: [UInt8]? { request == .retrieve ? store.unfinishedFrame : nil }

  var deadline: Instant? { nil }

  mutating func receive(bytes: RawSpan, at now: Instant) {
    guard request == .retrieve, problem == nil else { return }
    do { try store.receive(bytes) } catch { problem = error }
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    // If the batch cannot be started, the configuration of the receiver is restored.
    case .session(.identified) where request == .start: connection.restoreAtEnd(true)
    case .session(.configured):
      hasConfigured = true
      // A logger is configured once its capacity is known.
      if request != .start || connection.description?.can(.logger) != true {
        sendRequest(connection, &poller, at: now)
      }
    case .session(.batching(let epochs)):
      self.epochs = epochs
      if epochs == 0 {
        fail(
          connection.description?.can(.logger) == true
            ? "its logger runs already, refuses to start or is full" : "the receiver refuses to batch")
      } else if ticket == nil, hasConfigured {
        sendRequest(connection, &poller, at: now)
      }
    case .session(.loggerHolds(let count)): loggerHolds = count
    case .ended: fail("a file stores no fixes; name the device of a receiver")
    case .session(.configurationFailed(let isRefused)):
      fail(SessionReport.configurationFailure(isRefused: isRefused))
    case .session(.notIdentified): fail("no u-blox receiver, and none of another known family; it stores no fixes")
    case .finished(let ticket, let outcome) where ticket == self.ticket:
      if logStart != nil { startLog(outcome, connection, &poller, at: now) } else { take(outcome, connection) }
    case .batch(let event): take(event)
    default: break
    }
    switch event {
    // The result names the receiver, or the failure does.
    case .session(.identified): break
    default: if let text = event.notice(path: path, baud: nil) { printNotice(text) }
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    try deliver()
    if let problem { throw problem }
    if isDone { connection.restoreAtEnd(false) }
    return isDone || failure != nil
  }

  private mutating func sendRequest(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    guard description.can(.batching) || description.can(.flashLog) else {
      return fail("\(description.summary) stores no fixes; docs/reference/batching.md lists the receivers that do")
    }
    guard !hasSentRequest else { return }
    hasSentRequest = true
    switch request {
    case .start where !description.can(.batching):
      logStart = FlashLogStart(for: description, erases: erases)
      startLog(nil, connection, &poller, at: now)
    case .start where description.can(.logger), .status where description.can(.logger):
      ticket = connection.perform([.read(.logger)], &poller, at: now)
    case .start, .status:
      let poll = description.can(.batching) ? BatchStatus.poll : FlashLogStatus.poll
      ticket = connection.submit(poll, &poller, at: now)
    case .retrieve:
      attempt { (client: inout BatchClient) in
        let earlier = try client.store.begin(description, line: client.path)
        let place = Output.position
        if let count = client.store.place?.bytesPrinted(until: place) {
          client.printed = StandardOutput.last(min(count, 4096))
        } else {
          try client.store.save(client.store.journal, at: place)
        }
        client.earlier = earlier
      }
      if problem == nil { connection.retrieveBatch(store.journal, earlier: earlier, &poller, at: now) }
      earlier = []
    }
  }

  /// Continues the start of a log in flash.
  private mutating func startLog(
    _ outcome: Outcome?, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if let outcome { logStart?.receive(outcome) }
    if let command = logStart?.next() { return ticket = connection.submit(command, &poller, at: now) }
    switch logStart?.result {
    case .begun(let status):
      attempt { (client: inout BatchClient) in
        if let description = connection.description {
          _ = try client.store.begin(description, line: client.path)
          try client.store.save(BatchJournal())
          try client.store.finish()
        }
        try Output.write(client.text(of: status))
        client.isDone = true
      }
    case .holds(let count):
      fail("its flash has a log of \(count) entries; retrieve them, then start with --erase")
    case .refused, nil: fail("the receiver refuses to log to its flash")
    }
  }

  private mutating func take(_ outcome: Outcome, _ connection: ReceiverConnection) {
    if case .performed(let results) = outcome {
      guard case .value(.logger(let state))? = results.first, let description = connection.description else {
        return fail("the receiver does not report the state of its logger")
      }
      return attempt { (client: inout BatchClient) in
        _ = try client.store.begin(description, line: client.path)
        if client.request == .start {
          var journal = BatchJournal()
          journal.lastNumber = UInt16(clamping: client.loggerHolds)
          try client.store.save(journal)
        }
        try client.store.finish()
        try Output.write(client.text(of: state))
        client.isDone = true
      }
    }
    if case .answered(let payload) = outcome, connection.description?.can(.batching) == false,
      let status = FlashLogStatus(payload)
    {
      return attempt { (client: inout BatchClient) in
        try Output.write(client.text(of: status))
        client.isDone = true
      }
    }
    guard case .answered(let payload) = outcome, let status = BatchStatus(payload),
      let description = connection.description
    else { return fail("the receiver does not report the state of its batch") }
    attempt { (client: inout BatchClient) in
      if client.request == .start {
        _ = try client.store.begin(description, line: client.path)
        try client.store.save(BatchJournal(status))
        try client.store.finish()
      }
      try Output.write(client.text(of: status))
      client.isDone = true
    }
  }

  private mutating func take(_ event: BatchEvent) {
    switch event {
    case .fix(let fix, let after): waiting.append((fix, after))
    case .lost(let count, .overrun):
      printNotice(
        "\(path): \(count) fix\(count == 1 ? "" : "es") lost because the receiver's memory was full; retrieve sooner")
    case .lost(let count, .pause):
      printNotice("\(path): \(count) fix\(count == 1 ? "" : "es") lost while the receiver's memory was read")
    case .lost(let count, .line):
      printNotice("\(path): \(count) fix\(count == 1 ? "" : "es") lost on the way from the receiver")
    case .startedAnew:
      printNotice("\(path): the receiver restarted; an unknown number of stored fixes is lost")
    case .pauseEnds(let journal): atPause = journal
    case .finished, .cut: ending = event
    }
  }

  /// Prints the received fixes, and notes each after it is printed.
  private mutating func deliver() throws {
    guard problem == nil else { return }
    for (fix, after) in waiting {
      var line = JSONLine()
      line.tpv(fix.fix, device: path)
      try Output.write(OutputPosition.rest(of: Array(line.text.utf8), printed: printed))
      printed = []
      try store.save(after, at: Output.position)
    }
    waiting = []
    if let atPause { try store.save(atPause, at: Output.position) }
    atPause = nil
    switch ending {
    case .finished(_, let after):
      try end(after)
      isDone = true
    case .cut(let after, let isStopped):
      // The rest of the interrupted frame may still arrive.
      try store.save(after, at: Output.position)
      fail(
        "the retrieval was interrupted after \(after.delivered) fixes in all; retrieve again to continue"
          + (isStopped ? ": the receiver records nothing until then" : ""))
    default: break
    }
    ending = nil
  }

  /// Ends a complete retrieval.
  private mutating func end(_ journal: BatchJournal) throws {
    try store.save(journal, at: Output.position)
    try store.finish()
  }

  /// Runs an operation. The first error is thrown at the end of the round.
  private mutating func attempt(_ body: (inout BatchClient) throws -> Void) {
    guard problem == nil else { return }
    do { try body(&self) } catch { problem = error }
  }

  private mutating func fail(_ text: String) {
    failure = failure ?? CommandFailure(.unavailable, "\(path): \(text)")
  }

  private func text(of status: FlashLogStatus) -> String {
    guard json else {
      return request == .start
        ? "logging: the receiver writes to its flash and is silent\n"
        : "waiting: \(status.entries)\nused: \(status.bytes) of \(status.mostBytes) bytes\n"
          + "recording: \(status.isRecording ? "yes" : "no")\n"
    }
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: path)
    line.field("waiting", Int64(status.entries))
    line.field("usedBytes", Int64(status.bytes))
    line.field("mostBytes", Int64(status.mostBytes))
    line.endObject()
    line.endLine()
    return line.text
  }

  /// The records of a batch in a logger that were not printed yet; records from before the batch do not count.
  private func text(of state: LoggerState) -> String {
    let journal = store.journal
    let waiting = journal.lastNumber.map { max(state.records - Int($0) - journal.delivered, 0) } ?? 0
    guard json else {
      return request == .start
        ? "batching: the receiver stores \(epochs) fixes and is silent\n"
        : "waiting: \(waiting)\nlost: \(journal.lost)\nrecords: \(state.records)\nrecording: \(state.isOn ? "yes" : "no")\n"
    }
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: path)
    if request == .start { line.field("size", Int64(epochs)) }
    line.field("waiting", Int64(waiting))
    line.field("lost", Int64(journal.lost))
    line.endObject()
    line.endLine()
    return line.text
  }

  private func text(of status: BatchStatus) -> String {
    guard json else {
      return request == .start
        ? "batching: the receiver stores \(epochs) fixes and is silent\n"
        : "waiting: \(status.fillLevel)\nlost: \(status.drops)\n"
    }
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: path)
    if request == .start { line.field("size", Int64(epochs)) }
    line.field("waiting", Int64(status.fillLevel))
    line.field("lost", Int64(status.drops))
    line.endObject()
    line.endLine()
    return line.text
  }
}
