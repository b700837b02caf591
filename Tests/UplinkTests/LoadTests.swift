// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxIO
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

@testable import sextant_uplink

/// Many boards in one process with one broker: the program's decisions, queue on the disk and connection, without its location
/// service. `Tests/rig/run uplink_figures -- many_boards` runs it (Tests/rig/uplink_figures.py), which starts the broker and passes its address.
@Suite("The load of many boards", .enabled(if: LoadSettings.environment != nil))
struct UplinkLoadTests {
  @Test("Every fix of every board is acknowledged; the delay, the rate and the memory are printed") func load() throws {
    let settings = try #require(LoadSettings.environment)
    let fleet = try Fleet(settings)
    try fleet.connect()
    let connectedBytes = Fleet.residentBytes()
    let steady = try fleet.runSteady()
    let (count, seconds) = try fleet.runBurst()
    #expect(fleet.unacknowledged == 0 && fleet.failures == [], "\(fleet.failures.prefix(5))")
    let memory = Double(connectedBytes - fleet.bytesAtStart) / Double(settings.boards)
    print(
      "uplink-load:",
      #"{"boards":\#(settings.boards),"fixesASecond":\#(Fleet.rounded(steady.perSecond)),"#
        + #""delay50Milliseconds":\#(steady.delay(0.5)),"delay99Milliseconds":\#(steady.delay(0.99)),"#
        + #""delayMostMilliseconds":\#(steady.delay(1)),"fixes":\#(fleet.made),"#
        + #""burstFixesASecond":\#(Fleet.rounded(Double(count) / seconds)),"bytesAClient":\#(Fleet.rounded(memory))}"#)
  }
}

struct LoadSettings {
  var boards: Int
  var port: Int
  /// The duration of the steady part.
  var seconds: Double
  var folder: String
  /// The interval of a board's fixes, seconds.
  var interval: Double
  /// The fixes of each board in the burst.
  var burst: Int

  /// `BOARDS PORT SECONDS FOLDER INTERVAL BURST` in `SEXTANT_UPLINK_LOAD`.
  static let environment: LoadSettings? = {
    let words = ProcessInfo.processInfo.environment["SEXTANT_UPLINK_LOAD"]?.split(separator: " ").map(String.init) ?? []
    guard words.count == 6, let boards = Int(words[0]), let port = Int(words[1]), let seconds = Double(words[2]),
      let interval = Double(words[4]), let burst = Int(words[5])
    else { return nil }
    return LoadSettings(
      boards: boards, port: port, seconds: seconds, folder: words[3], interval: interval, burst: burst)
  }()
}

private final class Board {
  var uplink: Uplink<QueueFolder>
  var connection: MQTTConnection
  let reports = EventInbox()
  /// The times of the unacknowledged fixes, keyed by number.
  var made: [UInt64: Instant] = [:]
  var upcoming: UInt64 = 1
  /// The deadline in the fleet's heap.
  var armed: Instant?

  init(_ number: Int, _ settings: LoadSettings) throws {
    let name = "b\(number)"
    let configuration = try UplinkConfiguration(
      parsing: """
        server = mqtt://127.0.0.1:\(settings.port)
        client-id = \(name)
        interval = 1 s
        keepalive = 1 h
        queue = 64 kB, 1 d
        """, host: name)
    let folder = "\(settings.folder)/\(name)"
    _ = try PrivateFolder(folder, makingWith: 0o700)
    let queue = try FixQueue(
      QueueFolder(path: folder), FixQueue<QueueFolder>.Limits(bytes: configuration.queueBytes), identity: name)
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: name, queueIdentity: queue.identity)
    uplink = Uplink(configuration, writer, queue, stored: nil)
    let reports = reports
    connection = MQTTConnection(
      configuration, writer, password: nil, token: Poller.Token(rawValue: UInt32(number)), report: { reports.add($0) })
  }
}

private final class Fleet {
  struct Steady {
    var perSecond = 0.0
    /// Sorted.
    var delays: [Double] = []
    /// A quantile in milliseconds.
    func delay(_ share: Double) -> Double {
      delays.isEmpty ? 0 : Fleet.rounded(delays[max(0, Int((Double(delays.count) * share).rounded(.up)) - 1)])
    }
  }

  private let settings: LoadSettings
  private let boards: [Board]
  private var poller: Poller
  /// Boards, ordered by deadline; the first one is due next.
  private var heap: [(due: Instant, board: Int)] = []
  private var delays: [Double] = []
  private var connected = 0
  private(set) var made = 0
  private var acknowledged = 0
  private(set) var failures: [String] = []
  let bytesAtStart: Int
  private let begin = SystemClock.monotonic

  var unacknowledged: Int { boards.reduce(0) { $0 + $1.made.count } }

  static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  /// The resident memory of this process, bytes. proc(5), statm.
  static func residentBytes() -> Int {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }

  init(_ settings: LoadSettings) throws {
    self.settings = settings
    try MQTTConnection.loadLibrary()
    poller = try Poller()
    bytesAtStart = Self.residentBytes()
    boards = try (0..<settings.boards).map { try Board($0, settings) }
  }

  /// Connects all boards, a thousand per second.
  func connect() throws {
    let start = SystemClock.monotonic
    for index in boards.indices {
      perform(boards[index].uplink.start(at: SystemClock.monotonic), index)
      try work(until: start.moved(by: Double(index) / 1000))
    }
    let limit = SystemClock.monotonic.moved(by: 120)
    while connected < boards.count, SystemClock.monotonic < limit {
      try work(until: SystemClock.monotonic.moved(by: 0.1))
    }
    #expect(connected == boards.count)
  }

  /// A fix of each board in the interval, evenly distributed.
  func runSteady() throws -> Steady {
    delays = []
    let before = acknowledged
    let start = SystemClock.monotonic
    let step = settings.interval / Double(boards.count)
    let count = Int(settings.seconds / step)
    for number in 0..<count {
      // The delay counts from the time at which the fix is due, even if this process is late.
      let due = start.moved(by: Double(number) * step)
      try work(until: due)
      makeFix(number % boards.count, at: due)
    }
    try finish()
    return Steady(
      perSecond: Double(acknowledged - before) / SystemClock.monotonic.seconds(since: start), delays: delays.sorted())
  }

  /// Fixes of all boards at once. Returns their number and the time until the last acknowledgement.
  func runBurst() throws -> (Int, Double) {
    let start = SystemClock.monotonic
    let before = acknowledged
    for _ in 0..<settings.burst { for index in boards.indices { makeFix(index, at: start) } }
    try finish()
    return (acknowledged - before, SystemClock.monotonic.seconds(since: start))
  }

  private func finish() throws {
    let limit = SystemClock.monotonic.moved(by: 240)
    while acknowledged < made, SystemClock.monotonic < limit { try work(until: SystemClock.monotonic.moved(by: 0.05)) }
  }

  private func makeFix(_ index: Int, at due: Instant) {
    let board = boards[index]
    made += 1
    board.made[board.upcoming] = due
    // Fixes of a board are seconds apart by their own time.
    let time = UTCTime(nanosecondsSince1970: 1_800_000_000_000_000_000 + Int64(board.upcoming) * 2_000_000_000)
    board.upcoming += 1
    let place = Coordinate(latitudeDegrees: 48 + Double(board.upcoming) / 10_000, longitudeDegrees: 11)
    receive(.locations([Location(place, horizontalAccuracyMetres: 3, timestamp: time)]), index)
  }

  /// Runs the boards until a time.
  private func work(until end: Instant) throws {
    repeat {
      let next = min(end, heap.first?.due ?? end)
      let events = try poller.wait(deadline: next.nanoseconds)
      for event in events {
        guard let token = event.connection else { continue }
        let index = Int(token.rawValue)
        boards[index].connection.work([event], &poller)
        takeReports(index)
      }
      let now = SystemClock.monotonic
      while let first = heap.first, first.due <= now {
        removeFirst()
        guard boards[first.board].armed == first.due else { continue }
        boards[first.board].armed = nil
        receive(.wake, first.board)
      }
    } while SystemClock.monotonic < end
  }

  private func takeReports(_ index: Int) {
    let board = boards[index]
    var reports = board.reports.take()
    while !reports.isEmpty {
      for report in reports {
        switch report {
        case .connected: connected += 1
        case .acknowledged(let sequence):
          if let due = board.made.removeValue(forKey: sequence) {
            acknowledged += 1
            delays.append(SystemClock.monotonic.seconds(since: due) * 1000)
          }
        case .failed(let failure): failures.append(failure.text)
        default: break
        }
        let utc = SystemClock.utcNanoseconds
        perform(board.uplink.receive(.transport(report), utcNanoseconds: utc, at: SystemClock.monotonic), index)
      }
      reports = board.reports.take()
    }
    board.connection.watch(&poller)
    arm(index)
  }

  private func receive(_ event: Uplink<QueueFolder>.Event, _ index: Int) {
    let utc = SystemClock.utcNanoseconds
    perform(boards[index].uplink.receive(event, utcNanoseconds: utc, at: SystemClock.monotonic), index)
    takeReports(index)
  }

  private func perform(_ actions: [Uplink<QueueFolder>.Action], _ index: Int) {
    for action in actions {
      if case .transport(let command) = action { boards[index].connection.perform(command, &poller) }
    }
    boards[index].connection.watch(&poller)
    arm(index)
  }

  // MARK: Deadlines

  private func arm(_ index: Int) {
    guard let due = boards[index].uplink.deadline, boards[index].armed.map({ due < $0 }) ?? true else { return }
    boards[index].armed = due
    heap.append((due, index))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
      guard let least = children.min(by: { heap[$0].due < heap[$1].due }), heap[least].due < heap[parent].due else {
        return
      }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
