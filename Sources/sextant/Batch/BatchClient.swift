import FileSystem
import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant batch`: what is asked, delivered, and noted in the journal.
struct BatchClient: ReceiverClient, ~Copyable {
  /// Why it was not carried out.
  private(set) var failure: CommandFailure?
  private(set) var isDone = false

  private let path: String
  private let request: BatchRequest
  private let json: Bool
  private var store: BatchStore
  private var question: SessionTicket?
  private var isAsking = false
  /// Fixes that are kept and not yet printed.
  private var waiting: [(fix: BatchedFix, after: BatchJournal)] = []
  private var ending: BatchEvent?
  /// What a killed reader has received.
  private var earlier: [[UInt8]] = []
  /// Bytes of the first line that a killed reader has printed and not noted.
  private var printed: [UInt8] = []
  private var problem: (any Error)?
  private var epochs = 0
  private let erases: Bool
  /// A log in flash that is being begun.
  private var logStart: FlashLogStart?

  /// - Parameters:
  ///   - erases: what is in the receiver's flash may be erased.
  ///   - folder: where batches are kept.
  init(_ source: Source, _ request: BatchRequest, json: Bool, erases: Bool, folder: String) throws {
    // What can fail comes first: a value that owns a descriptor cannot be left half made.
    let path = if case .device(let path) = source { path } else { "built-in simulator" }
    self.init(path, try BatchStore(folder: folder, line: path), request, json: json, erases: erases)
  }

  private init(_ path: String, _ store: consuming BatchStore, _ request: BatchRequest, json: Bool, erases: Bool) {
    self.path = path
    self.store = store
    self.request = request
    self.json = json
    self.erases = erases
  }

  /// Fixes that were received by a reader that was killed, and not printed.
  var undelivered: Int { store.undelivered }

  /// Makes sure that what is to be kept of a batch can be.
  mutating func checkRoom() throws(FileError) { try store.checkRoom() }

  /// What the session has to know of a reader that was killed.
  var unfinishedFrame: [UInt8]? { request == .retrieve ? store.unfinishedFrame : nil }

  var deadline: Instant? { nil }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}

  mutating func receive(bytes: RawSpan, at now: Instant) {
    guard request == .retrieve, problem == nil else { return }
    do { try store.receive(bytes) } catch { problem = error }
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    // Where a batch cannot be begun, the receiver speaks as before.
    case .session(.identified) where request == .start: connection.restoreAtEnd(true)
    case .session(.configured): ask(connection, &poller, at: now)
    case .session(.batching(let epochs)):
      self.epochs = epochs
      if epochs == 0 { fail("the receiver refuses to batch") }
    case .ended: fail("a file keeps no fixes; name a receiver's device")
    case .session(.configurationFailed): fail("the receiver refuses to be configured")
    case .session(.notIdentified): fail("no u-blox receiver: it keeps no fixes")
    case .finished(let ticket, let outcome) where ticket == question:
      if logStart != nil { startLog(outcome, connection, &poller, at: now) } else { take(outcome, connection) }
    case .batch(let event): take(event)
    default: break
    }
    switch event {
    // That is what is asked for, and who does not batch says more.
    case .session(.identified): break
    default: if let text = text(of: event, path: path, baud: nil) { printNotice(text) }
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

  mutating func resize() {}

  private mutating func ask(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    guard description.can(.batching) || description.can(.flashLog) else {
      return fail("\(name(of: description)) keeps no fixes; docs/batching.md says which receivers do")
    }
    guard !isAsking else { return }
    isAsking = true
    switch request {
    case .start where !description.can(.batching):
      logStart = FlashLogStart(for: description, erases: erases)
      startLog(nil, connection, &poller, at: now)
    case .start, .status:
      let poll = description.can(.batching) ? BatchStatus.poll : FlashLogStatus.poll
      question = connection.submit(poll, &poller, at: now)
    case .retrieve:
      attempt { (client: inout BatchClient) in
        let earlier = try client.store.begin(description, line: client.path)
        let place = Output.place
        if let count = client.store.place?.bytesPrinted(until: place) {
          client.printed = StandardOutput.last(min(count, 4096))
        } else {
          try client.store.keep(client.store.journal, at: place)
        }
        client.earlier = earlier
      }
      if problem == nil { connection.retrieveBatch(store.journal, earlier: earlier, &poller, at: now) }
      earlier = []
    }
  }

  /// Goes on with the beginning of a log in flash.
  private mutating func startLog(
    _ outcome: Outcome?, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    if let outcome { logStart?.receive(outcome) }
    if let command = logStart?.next() { return question = connection.submit(command, &poller, at: now) }
    switch logStart?.result {
    case .begun(let status):
      attempt { (client: inout BatchClient) in
        if let description = connection.description {
          _ = try client.store.begin(description, line: client.path)
          try client.store.keep(BatchJournal())
          try client.store.finish()
        }
        try Output.write(client.answer(status))
        client.isDone = true
      }
    case .holds(let count):
      fail("its flash holds \(count) entries; retrieve them, then start with --erase")
    case .refused, nil: fail("the receiver refuses to log to its flash")
    }
  }

  private mutating func take(_ outcome: Outcome, _ connection: ReceiverConnection) {
    if case .answered(let payload) = outcome, connection.description?.can(.batching) == false,
      let status = FlashLogStatus(payload)
    {
      return attempt { (client: inout BatchClient) in
        try Output.write(client.answer(status))
        client.isDone = true
      }
    }
    guard case .answered(let payload) = outcome, let status = BatchStatus(payload),
      let description = connection.description
    else { return fail("the receiver does not say how full its batch is") }
    attempt { (client: inout BatchClient) in
      if client.request == .start {
        _ = try client.store.begin(description, line: client.path)
        try client.store.keep(BatchJournal(status))
        try client.store.finish()
      }
      try Output.write(client.answer(status))
      client.isDone = true
    }
  }

  private mutating func take(_ event: BatchEvent) {
    switch event {
    case .fix(let fix, let after): waiting.append((fix, after))
    case .lost(let count, .overrun):
      printNotice(
        "\(path): \(count) fix\(count == 1 ? "" : "es") lost: the receiver's memory was full; read it out sooner")
    case .lost(let count, .line):
      printNotice("\(path): \(count) fix\(count == 1 ? "" : "es") lost on the way from the receiver")
    case .startedAnew:
      printNotice("\(path): the receiver started anew; what it had kept until then is lost, an unknown number of fixes")
    case .finished, .cut: ending = event
    }
  }

  /// Prints what waits, and notes each fix when it is printed.
  private mutating func deliver() throws {
    guard problem == nil else { return }
    for (fix, after) in waiting {
      var line = JSONLine()
      line.tpv(fix.fix, device: path)
      try Output.write(PrintedPlace.rest(of: Array(line.text.utf8), printed: printed))
      printed = []
      try store.keep(after, at: Output.place)
    }
    waiting = []
    switch ending {
    case .finished(_, let after):
      try end(after)
      isDone = true
    case .cut(let after):
      // The rest of the frame that was cut may still come.
      try store.keep(after, at: Output.place)
      fail("the retrieval was cut after \(after.delivered) fixes in all; retrieve again to go on")
    default: break
    }
    ending = nil
  }

  /// The receiver has no more, or is gone.
  private mutating func end(_ journal: BatchJournal) throws {
    try store.keep(journal, at: Output.place)
    try store.finish()
  }

  /// The first failure is kept for the end of the round.
  private mutating func attempt(_ body: (inout BatchClient) throws -> Void) {
    guard problem == nil else { return }
    do { try body(&self) } catch { problem = error }
  }

  private mutating func fail(_ text: String) {
    failure = failure ?? CommandFailure(exitCode: CommandFailure.unavailable, description: "\(path): \(text)")
  }

  private func answer(_ status: FlashLogStatus) -> String {
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

  private func answer(_ status: BatchStatus) -> String {
    guard json else {
      return request == .start
        ? "batching: the receiver holds \(epochs) fixes and is silent\n"
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
