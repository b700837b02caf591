// SPDX-License-Identifier: Apache-2.0
import Foundation
import GPSD
import HostSimulator
import MonotonicTime
import Positioning
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService
@testable import sextantd

/// The energy that ordinary clients of gpsd cost: their requests as bytes, the rules for their demands, the core of the
/// service, session, line and a simulated M10 in virtual time. A day of it prints the charge
/// (`SEXTANT_GPSD_HOURS=24 make test OPTIMISED=1 FILTER=GPSDDayTests`).
@Suite("The charge that clients of gpsd cost")
struct GPSDDayTests {
  /// Hours of virtual time.
  private static let hours = ProcessInfo.processInfo.environment["SEXTANT_GPSD_HOURS"].flatMap { Double($0) }
  private static let limit = DemandLimit(everySeconds: 60, accuracyMetres: 100)

  private static func run(_ name: String, _ habits: [Habit], _ limit: DemandLimit = DemandLimit()) -> GPSDDay {
    let day = GPSDDay(habits, limit)
    day.run(hours: hours ?? 0.5)
    if hours != nil { print("gpsd-day: \(name): \(day.summary)") }
    return day
  }

  @Test("A client that polls each minute lets the receiver sleep, and has a location of less than ten seconds")
  func polling() {
    let day = Self.run("polls each minute", [.polls(60)])
    #expect(day.averageMilliamperes < 1.2, "\(day.summary)")
    #expect(day.oldestPolledSeconds < 10, "\(day.summary)")
  }

  @Test("A client that reads its reports has each of them; with the administrator's line it lets the receiver sleep")
  func watching() {
    let all = Self.run("watches", [.watches])
    #expect(all.averageMilliamperes > 10, "\(all.summary)")
    let limited = Self.run("watches, every 60 s, accuracy 100 m", [.watches], Self.limit)
    #expect(limited.averageMilliamperes < 1.2, "\(limited.summary)")
    #expect(limited.locations >= Int((Self.hours ?? 0.5) * 55))
  }

  @Test("Two clients share their searches: both cost little more than one")
  func both() {
    _ = Self.hours.map { _ in Self.run("polls, and watches", [.polls(60), .watches]) }
    let limited = Self.run("polls, and watches, every 60 s, accuracy 100 m", [.polls(60), .watches], Self.limit)
    #expect(limited.averageMilliamperes < 1.5, "\(limited.summary)")
    #expect(limited.oldestPolledSeconds < 10, "\(limited.summary)")
  }

  @Test("A client that does not read its reports, and one that has polled and stays connected, let the receiver sleep")
  func silent() {
    let day = Self.run("watches without reading; has polled once", [.watchesUnread, .pollsOnce])
    #expect(day.averageMilliamperes < 0.9, "\(day.summary)")
  }
}

/// The behaviour of a client.
private enum Habit {
  case polls(Double), pollsOnce, watches, watchesUnread

  var watch: String {
    switch self {
    case .polls, .pollsOnce: #"?WATCH={"enable":true};"#
    case .watches, .watchesUnread: #"?WATCH={"enable":true,"json":true};"#
    }
  }
}

/// The clients' turns, as in the daemon (`GPSDServer`); a client is a program of the scene.
private final class GPSDDay {
  private let scene: ServiceScene
  private let state = GPSDState(release: "1.0")
  private var clients: [Member] = []
  private var chargeAtStart = 0.0
  private var began = Instant.zero
  private(set) var oldestPolledSeconds = 0.0
  private(set) var locations = 0

  private struct Member {
    let program: ProgramID
    let habit: Habit
    var client: GPSDClient
    var demand = GPSDClient.Demand.none
    var nextPoll: Instant?
    var newest: Instant?
  }

  init(_ habits: [Habit], _ limit: DemandLimit) {
    scene = ServiceScene(.m10, scenario: Scenario.named("walk")!, programs: UInt32(habits.count), lingers: false)
    began = scene.now
    for (number, habit) in habits.enumerated() {
      var client = GPSDClient(.gpsd, state)
      client.limit = limit
      var member = Member(program: ProgramID(UInt32(number)), habit: habit, client: client)
      _ = member.client.receive(Array(habit.watch.utf8).span, state, at: UTCTime(nanosecondsSince1970: 0))
      scene.call(.setPausesAutomatically(false), of: member.program)
      switch habit {
      case .polls: member.nextPoll = scene.now.moved(by: 7)
      case .pollsOnce: member.nextPoll = scene.now.moved(by: 60)
      case .watches: break
      case .watchesUnread: member.client.didBlock(at: scene.now.moved(by: 60))
      }
      clients.append(member)
    }
  }

  private var charge: Double {
    scene.line.receiver.chargeMilliampereSeconds + scene.line.receiver.pinChargeMilliampereSeconds
  }

  var averageMilliamperes: Double { (charge - chargeAtStart) / scene.now.seconds(since: began) }

  var summary: String {
    let seconds = scene.now.seconds(since: began)
    let (mA, As) = (averageMilliamperes, (charge - chargeAtStart) * 86.4 / seconds)
    return String(
      format: "%.3f mA, %.1f As a day, %d locations, a poll's location at most %.1f s old", mA, As, locations,
      oldestPolledSeconds)
  }

  func run(hours: Double) {
    let end = scene.now.moved(by: hours * 3600)
    while scene.now < end {
      for index in clients.indices { turn(index) }
      request()
      var next = end
      for member in clients {
        next = min(next, Instant.earlier(member.client.deadline, member.nextPoll) ?? end)
      }
      scene.run(to: max(next, scene.now + Milliseconds(1)), until: { !$0.machine.answers.isEmpty })
      takeAnswers()
    }
  }

  private func turn(_ index: Int) {
    let now = scene.now
    if let due = clients[index].nextPoll, now >= due {
      let polled = clients[index].client.receive(Array("?POLL;".utf8).span, state, at: UTCTime(nanosecondsSince1970: 0))
      #expect(polled == [.polled])
      clients[index].client.didWrite(clients[index].client.output.count)
      clients[index].client.didPoll(at: now)
      if let newest = clients[index].newest, now.seconds(since: began) > 300 {
        oldestPolledSeconds = max(oldestPolledSeconds, now.seconds(since: newest))
      }
      if case .polls(let seconds) = clients[index].habit { clients[index].nextPoll = due.moved(by: seconds) }
      if case .pollsOnce = clients[index].habit { clients[index].nextPoll = nil }
    }
    clients[index].client.wake(at: now)
    let demand = clients[index].client.demand
    guard demand != clients[index].demand else { return }
    let program = clients[index].program
    scene.call(.stopUpdatingLocation, of: program)
    clients[index].demand = demand
    clients[index].client.began(demand, at: now)
    if demand != .none { for call in demand.calls { scene.call(call, of: program) } }
  }

  private func request() {
    let now = scene.now
    guard clients.contains(where: { $0.demand.isInterrupted && $0.client.isSearchDue(at: now) }) else { return }
    for index in clients.indices where clients[index].demand.isInterrupted {
      clients[index].client.joinSearch(at: now)
      guard clients[index].client.isSearchDue(at: now) else { continue }
      clients[index].client.requested(at: now)
      scene.call(.requestLocation, of: clients[index].program)
    }
  }

  private func takeAnswers() {
    for program in scene.takeAnswers() {
      guard let index = clients.firstIndex(where: { $0.program == program }) else { continue }
      clients[index].client.answered(at: scene.now)
    }
    for index in clients.indices {
      let found = scene.locations(of: clients[index].program)
      guard !found.isEmpty else { continue }
      // POLL has the newest of all.
      for index in clients.indices { clients[index].newest = scene.now }
      locations += found.count
    }
    scene.clearEvents()
  }
}
