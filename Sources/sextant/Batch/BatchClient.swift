import GPSDJSON
import MonotonicTime
import Receiver
import ReceiverShell
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
  private let folder: String
  private var question: SessionTicket?
  private var isAsking = false
  private var journal = BatchJournal()
  private var file: RecordFile?
  private var problem: (any Error)?
  private var epochs = 0

  init(_ source: Source, _ request: BatchRequest, json: Bool, folder: String) {
    path = if case .device(let path) = source { path } else { "built-in simulator" }
    self.request = request
    self.json = json
    self.folder = folder
  }

  var deadline: Instant? { nil }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .session(.configured): ask(connection, &poller, at: now)
    case .session(.batching(let epochs)):
      self.epochs = epochs
      if epochs == 0 { fail("the receiver refuses to batch") }
    case .session(.configurationFailed): fail("the receiver refuses to be configured")
    case .session(.notIdentified): fail("no u-blox receiver: it keeps no fixes")
    case .finished(let ticket, let outcome) where ticket == question: take(outcome, connection)
    case .batch(let event): take(event)
    default: break
    }
    switch event {
    // That is what is asked for, and who does not batch says more.
    case .session(.identified): break
    default: if let text = text(of: event, path: path, baud: nil) { say(text) }
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if let problem { throw problem }
    return isDone || failure != nil
  }

  mutating func resize() {}

  private mutating func ask(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard let description = connection.description else { return }
    guard description.can(.batching) else {
      return fail("\(name(of: description)) keeps no fixes; docs/batching.md says which receivers do")
    }
    guard !isAsking else { return }
    isAsking = true
    switch request {
    case .start, .status: question = connection.submit(BatchStatus.poll, &poller, at: now)
    case .retrieve:
      attempt { (client: inout BatchClient) in try client.openJournal(of: description) }
      if problem == nil { connection.retrieveBatch(journal, &poller, at: now) }
    }
  }

  private mutating func take(_ outcome: Outcome, _ connection: ReceiverConnection) {
    guard case .answered(let payload) = outcome, let status = BatchStatus(payload),
      let description = connection.description
    else { return fail("the receiver does not say how full its batch is") }
    attempt { (client: inout BatchClient) in
      if client.request == .start {
        try client.openJournal(of: description)
        client.journal = BatchJournal(status)
        try client.keep(client.journal)
        client.file?.sync()
      }
      try Output.write(client.answer(status))
      client.isDone = true
    }
  }

  private mutating func take(_ event: BatchEvent) {
    switch event {
    case .fix(let entry, let after):
      attempt { (client: inout BatchClient) in
        var line = JSONLine()
        line.tpv(entry.fix, device: client.path)
        try Output.write(line.text)
        try client.keep(after)
      }
    case .lost(let count, .overrun):
      say("\(path): \(count) fix\(count == 1 ? "" : "es") lost: the receiver's memory was full; read it out sooner")
    case .lost(let count, .line):
      say("\(path): \(count) fix\(count == 1 ? "" : "es") lost on the way from the receiver")
    case .startedAnew:
      say("\(path): the receiver started anew; what it had kept until then is lost, an unknown number of fixes")
    case .finished(_, let after):
      attempt { (client: inout BatchClient) in
        try client.keep(after)
        client.file?.sync()
        client.isDone = true
      }
    case .cut(let after):
      attempt { (client: inout BatchClient) in
        try client.keep(after)
        client.file?.sync()
      }
      fail("the retrieval was cut after \(after.delivered) fixes in all; retrieve again to go on")
    }
  }

  // MARK: The journal

  /// The receiver's file, by its id or else by the device it is at.
  private mutating func openJournal(of description: ReceiverDescription) throws {
    let id = description.uniqueID.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    let name = id ?? String(path.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    let file = "\(folder)/\(name).txt"
    if let text = try? WholeFile.read(file, limit: 4096), let before = BatchJournal(text) { journal = before }
    try WholeFile.makeFolder(folder)
    self.file = try RecordFile(file)
  }

  private mutating func keep(_ journal: BatchJournal) throws {
    self.journal = journal
    try file?.replace(with: journal.text)
  }

  /// The first failure is kept for the end of the round.
  private mutating func attempt(_ body: (inout BatchClient) throws -> Void) {
    guard problem == nil else { return }
    do { try body(&self) } catch { problem = error }
  }

  private mutating func fail(_ text: String) {
    failure = failure ?? CommandFailure(exitCode: CommandFailure.unavailable, description: "\(path): \(text)")
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
