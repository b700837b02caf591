// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import sextant_uplink

@Suite("The keep-alive message of MQTT") struct KeepAliveTests {
  private static let interval = Milliseconds(60_000)

  /// The library: it sends a message an interval after its last one, when it is called.
  private struct Library {
    var lastSent = Instant.zero
    var messages = 0

    mutating func call(_ now: Instant) {
      if lastSent + interval <= now { (lastSent, messages) = (now, messages + 1) }
    }
  }

  @Test("A server that sends messages gets one within one and a half intervals, whichever are acknowledged")
  func busy() {
    for seed: UInt64 in 0..<200 {
      var random = SeededRandomNumberGenerator(seed: seed)
      let longest = UInt64.random(in: 1000...100_000, using: &random)
      var keepAlive = KeepAlive(Self.interval, at: .zero)
      var library = Library()
      var now = Instant.zero
      while now < Instant.zero.moved(by: 3600) {
        let message = now + Milliseconds(.random(in: 500...longest, using: &random))
        now = min(message, keepAlive.deadline)
        #expect(now.seconds(since: library.lastSent) <= 80, "seed \(seed)")
        if now == message {
          switch Int.random(in: 0..<9, using: &random) {
          case 0:
            library.lastSent = now
            keepAlive.sent(at: now)
          case 1...4:
            library.lastSent = now
            keepAlive.received(at: now)
          default: keepAlive.received(at: now)
          }
        }
        library.call(now)
        keepAlive.called(at: now)
        #expect(keepAlive.deadline > now)
      }
    }
  }

  @Test("An idle connection has one wake-up an interval")
  func idle() {
    var keepAlive = KeepAlive(Self.interval, at: .zero)
    var library = Library()
    for round in 1...60 {
      #expect(keepAlive.deadline == Instant.zero.moved(by: Double(round) * 60))
      library.call(keepAlive.deadline)
      keepAlive.called(at: keepAlive.deadline)
    }
    #expect(library.messages == 60)
  }
}

/// A server in virtual time, with the faults of networks.
private struct Scene {
  var queue: TestQueue
  var delivery: Delivery
  var now = Instant.zero
  var isUp = true
  /// The fixes that the server has, in the order of their arrival.
  var arrived: [UInt64] = []
  /// Fixes whose next acknowledgement is lost.
  var losesAcknowledgement: Set<UInt64> = []
  private(set) var attempts = 0
  private var onTheWay: [(UInt64, due: Instant)] = []
  private var connects: Instant?

  init(_ settings: Delivery.Settings = Delivery.Settings()) throws {
    queue = try makeQueue(SimulatedDisk(), bytes: 4 << 20)
    delivery = Delivery(settings, firstNew: queue.upcomingSequence)
  }

  mutating func add(_ second: Int) throws {
    queue.append(walkFix(second))
    try queue.flush()
  }

  /// The connection is lost; messages in transit may or may not have reached the server.
  mutating func lose(arrives: Bool) {
    if arrives { arrived += onTheWay.map(\.0) }
    onTheWay = []
    connects = nil
    if delivery.state == .connected || delivery.state == .connecting {
      delivery.failed(.temporary("lost"), random: 0.5, at: now)
    }
  }

  mutating func pass(seconds: Double, acknowledges: Bool = true, step: Double = 0.01) {
    let end = now.moved(by: seconds)
    while now <= end {
      for action in delivery.actions(queue, at: now) {
        switch action {
        case .connect:
          attempts += 1
          onTheWay = []
          connects = now.moved(by: 0.05)
        case .send(let sequence): onTheWay.append((sequence, now.moved(by: 0.02)))
        case .disconnect: connects = nil
        }
      }
      if let due = connects, due <= now {
        connects = nil
        if isUp {
          delivery.connected(upcoming: queue.upcomingSequence, at: now)
        } else {
          delivery.failed(.temporary("down"), random: 0.5, at: now)
        }
      }
      while acknowledges, let (sequence, due) = onTheWay.first, due <= now {
        onTheWay.removeFirst()
        arrived.append(sequence)
        if losesAcknowledgement.remove(sequence) == nil { delivery.acknowledged(sequence, &queue) }
      }
      now = now.moved(by: step)
    }
  }
}

@Suite struct DeliveryTests {
  @Test("Fixes arrive in their order, each once") func order() throws {
    var scene = try Scene()
    for second in 0..<100 {
      try scene.add(second)
      scene.pass(seconds: 0.2)
    }
    #expect(scene.arrived == Array(1...100))
    #expect(scene.queue.count == 0 && scene.delivery.acknowledged == 100)
  }

  @Test("A server that is killed fifty times has every fix, and the first arrivals are in order") func kills() throws {
    var random = SystemRandomNumberGenerator()
    var scene = try Scene()
    for round in 0..<50 {
      for second in 0..<20 {
        try scene.add(round * 20 + second)
        scene.pass(seconds: 0.1, acknowledges: second < 15)
      }
      scene.isUp = false
      scene.lose(arrives: Bool.random(using: &random))
      for second in 0..<3 {
        try scene.add(10_000 + round * 3 + second)
        scene.pass(seconds: 1)
      }
      scene.isUp = true
      scene.pass(seconds: 20)
    }
    scene.pass(seconds: 120)
    #expect(Set(scene.arrived) == Set(1...1150))
    #expect(scene.queue.count == 0)
  }

  @Test("New fixes go first after an outage, and the backlog follows at its rate, in order") func backlog() throws {
    var settings = Delivery.Settings()
    settings.backlogPerSecond = 10
    var scene = try Scene(settings)
    scene.isUp = false
    for second in 0..<300 { try scene.add(second) }
    scene.pass(seconds: 5)
    scene.isUp = true
    scene.pass(seconds: 65)
    try scene.add(300)
    scene.pass(seconds: 2)
    let place = try #require(scene.arrived.firstIndex(of: 301))
    #expect(scene.delivery.state == .connected)
    let before = scene.arrived[..<place].count
    scene.pass(seconds: 40)
    #expect(scene.arrived.filter { $0 <= 300 } == Array(1...300))
    #expect(before < 300 || scene.arrived.last == 301, "the new fix does not wait for the backlog")
  }

  @Test("The newest of a backlog first, if so configured") func newestFirst() throws {
    var settings = Delivery.Settings()
    settings.backlogIsNewestFirst = true
    var scene = try Scene(settings)
    scene.isUp = false
    for second in 0..<50 { try scene.add(second) }
    scene.pass(seconds: 2)
    scene.isUp = true
    scene.pass(seconds: 70)
    #expect(scene.arrived == (1...50).reversed())
  }

  @Test("The back-off is at most a minute, and a new route ends it") func backOff() throws {
    var scene = try Scene()
    try scene.add(0)
    scene.isUp = false
    var longest = 0.0
    for _ in 0..<20 {
      _ = scene.delivery.actions(scene.queue, at: scene.now)
      scene.delivery.failed(.temporary("down"), random: 1, at: scene.now)
      guard case .waiting(let until?) = scene.delivery.state else {
        Issue.record("no back-off")
        return
      }
      longest = max(longest, until.seconds(since: scene.now))
      scene.now = until
    }
    #expect(longest == 60)
    _ = scene.delivery.actions(scene.queue, at: scene.now)
    scene.delivery.failed(.temporary("down"), random: 1, at: scene.now)
    scene.delivery.routeChanged(random: 0, at: scene.now)
    #expect(scene.delivery.state == .waiting(until: scene.now.moved(by: 0.2)))
  }

  @Test("Without a route there is no attempt until the kernel has one") func noRoute() throws {
    var scene = try Scene()
    try scene.add(0)
    _ = scene.delivery.actions(scene.queue, at: scene.now)
    scene.delivery.failed(.noRoute("no network"), random: 0.5, at: scene.now)
    #expect(scene.delivery.deadline(scene.queue) == nil)
    #expect(scene.delivery.actions(scene.queue, at: scene.now.moved(by: 1e6)) == [])
    scene.delivery.routeChanged(random: 0.5, at: scene.now)
    #expect(scene.delivery.actions(scene.queue, at: scene.now.moved(by: 1)) == [.connect])
  }

  @Test("A refused fix is sent three times, then it is dropped and the others follow") func refused() throws {
    var scene = try Scene()
    for second in 0..<3 { try scene.add(second) }
    #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.connect])
    scene.delivery.connected(upcoming: scene.queue.upcomingSequence, at: scene.now)
    #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.send(1), .send(2), .send(3)])
    for _ in 0..<2 {
      #expect(!scene.delivery.refused(1, "HTTP 400", &scene.queue, at: scene.now))
      #expect(scene.delivery.lastFailure == "the server refuses a fix: HTTP 400")
      #expect(scene.delivery.actions(scene.queue, at: scene.now) == [])
      scene.now = try #require(scene.delivery.deadline(scene.queue))
      #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.send(1)])
    }
    #expect(scene.delivery.refused(1, "HTTP 413", &scene.queue, at: scene.now))
    #expect(scene.queue.losses.dropped == 1 && scene.queue.count == 2)
    #expect(scene.delivery.lastFailure == "the server refuses a fix: HTTP 413")
    scene.delivery.acknowledged(2, &scene.queue)
    #expect(scene.delivery.lastFailure == nil)
  }

  @Test("Three refusals set a fix aside, whatever happens to the connection in between") func refusedOverConnections()
    throws
  {
    var scene = try Scene()
    try scene.add(0)
    for attempt in 1...3 {
      scene.now = scene.now.moved(by: 60)
      #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.connect])
      scene.delivery.connected(upcoming: scene.queue.upcomingSequence, at: scene.now)
      #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.send(1)])
      #expect(scene.delivery.refused(1, "HTTP 400", &scene.queue, at: scene.now) == (attempt == 3))
      scene.delivery.failed(.temporary("lost"), random: 0.5, at: scene.now)
    }
    #expect(scene.queue.losses.dropped == 1 && scene.queue.count == 0)
  }

  @Test("A route that comes during an attempt is not missed") func routeDuringAttempt() throws {
    var scene = try Scene()
    #expect(scene.delivery.actions(scene.queue, at: scene.now) == [.connect])
    scene.delivery.routeChanged(random: 0.5, at: scene.now)
    scene.delivery.failed(.noRoute("no network"), random: 0.5, at: scene.now)
    #expect(scene.delivery.deadline(scene.queue).map { $0 <= scene.now.moved(by: 1) } ?? false)
  }

  @Test("A connection without an answer since a change of the routes is made again") func silentAfterRouteChange()
    throws
  {
    var scene = try Scene()
    try scene.add(0)
    scene.pass(seconds: 1)
    scene.delivery.routeChanged(random: 0.5, at: scene.now)
    try scene.add(1)
    scene.pass(seconds: 20, acknowledges: false)
    #expect(scene.delivery.state == .connected && scene.arrived == [1])
    scene.pass(seconds: 11, acknowledges: false)
    scene.pass(seconds: 2)
    #expect(scene.arrived.last == 2 && scene.delivery.state == .connected && scene.delivery.lastFailure == nil)
    // An answer shows that the connection has survived the change.
    scene.delivery.routeChanged(random: 0.5, at: scene.now)
    try scene.add(2)
    scene.pass(seconds: 60)
    #expect(scene.delivery.deadline(scene.queue) == nil)
  }

  @Test(
    "A fix whose acknowledgement is lost is sent again after two minutes, whatever else is acknowledged",
    arguments: [true, false])
  func lostAcknowledgement(isKept: Bool) throws {
    var settings = Delivery.Settings()
    settings.keepsConnection = isKept
    var scene = try Scene(settings)
    scene.losesAcknowledgement = [1]
    for second in 0..<24 {
      try scene.add(second)
      scene.pass(seconds: 4.9, step: 0.1)
    }
    #expect(scene.attempts == 1 && scene.arrived == Array(1...24) && scene.queue.count == 1)
    scene.pass(seconds: 5, step: 0.1)
    #expect(scene.attempts == 2 && scene.arrived == Array(1...24) + [1] && scene.queue.count == 0)
    #expect(scene.delivery.state == (isKept ? .connected : .idle) && scene.delivery.deadline(scene.queue) == nil)
  }

  @Test("A server that acknowledges nothing gets the fixes again every two minutes, and a reason is in the status")
  func mute() throws {
    var scene = try Scene()
    for second in 0..<30 { try scene.add(second) }
    scene.pass(seconds: 119, acknowledges: false, step: 0.1)
    #expect(scene.attempts == 1 && scene.delivery.inFlight == 16 && scene.delivery.lastFailure == nil)
    scene.pass(seconds: 241, acknowledges: false, step: 0.1)
    #expect(scene.attempts == 3 || scene.attempts == 4)
    #expect(scene.delivery.lastFailure?.contains("has not acknowledged a fix for 120 s") == true)
    scene.pass(seconds: 125, step: 0.1)
    #expect(scene.queue.count == 0 && scene.delivery.lastFailure == nil && Set(scene.arrived) == Set(1...30))
    // A request of HTTP has its own limit.
    var settings = Delivery.Settings()
    settings.limitsAnswers = false
    scene = try Scene(settings)
    try scene.add(0)
    scene.pass(seconds: 300, acknowledges: false, step: 0.1)
    #expect(scene.attempts == 1 && scene.delivery.deadline(scene.queue) == nil)
  }

  @Test(
    "A server that takes 35 s, always or now and then, gets each fix once after the first limit", arguments: [1, 2, 5])
  func slowServer(every: Int) {
    var limit = AttemptLimit()
    var requests = 0
    for fix in 0..<200 {
      let taken = Milliseconds(fix % every == 0 ? 35_000 : 200)
      requests += 1
      while limit.time < taken {
        limit.expire()
        requests += 1
      }
      limit.answered(after: taken)
    }
    #expect(requests == 201)
    for _ in 0..<20 { limit.answered(after: Milliseconds(200)) }
    #expect(limit.time == Milliseconds(30_000))
    for _ in 0..<9 { limit.expire() }
    #expect(limit.time == Milliseconds(120_000))
  }

  @Test("A connection that is not kept ends when everything is acknowledged") func perUpload() throws {
    var settings = Delivery.Settings()
    settings.keepsConnection = false
    var scene = try Scene(settings)
    #expect(scene.delivery.actions(scene.queue, at: scene.now) == [])
    try scene.add(0)
    scene.pass(seconds: 1)
    #expect(scene.arrived == [1] && scene.delivery.state == .idle && scene.delivery.deadline(scene.queue) == nil)
  }
}
