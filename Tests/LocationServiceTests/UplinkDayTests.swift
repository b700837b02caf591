// SPDX-License-Identifier: Apache-2.0
import Foundation
import HostSimulator
import MonotonicTime
import Positioning
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import LocationService
@testable import sextant_uplink

/// The energy that an uplink costs an asset tracker: its decisions as a client of the service's core, with session,
/// line and a simulated M10 in virtual time. A day of it prints the figures
/// (`SEXTANT_UPLINK_HOURS=24 make check MODULES=Uplink,LocationService FILTER=UplinkDayTests`).
@Suite("The charge that an uplink costs an asset tracker")
struct UplinkDayTests {
  private static let given = ProcessInfo.processInfo.environment["SEXTANT_UPLINK_HOURS"].flatMap { Double($0) }
  private static var hours: Double { given ?? 3 }
  private static let interval = 900.0

  @Test("The receiver uses as much charge as for a program that requests the same locations") func charge() throws {
    let plain = AssetDay()
    plain.requestLocations(every: Self.interval, hours: Self.hours)
    let day = AssetDay()
    let upload = try UploadCount("interval = 15 min\naccuracy = 100 m\n")
    day.run(upload, hours: Self.hours)
    let share = day.averageMilliamperes / plain.averageMilliamperes
    if Self.given != nil {
      print(
        "uplink-day:",
        String(
          format: "%.4f mA without, %.4f mA with the uplink (%+.2f %%); %d and %d locations; %@",
          plain.averageMilliamperes, day.averageMilliamperes, (share - 1) * 100, plain.locations, day.locations,
          upload.summary))
    }
    #expect(abs(share - 1) < 0.01, "\(plain.averageMilliamperes) mA, with the uplink \(day.averageMilliamperes) mA")
    #expect(upload.acknowledged == upload.fixes && upload.fixes >= Int(Self.hours * 3600 / Self.interval) - 1)
    #expect(upload.connections == upload.fixes)
    // A wake-up for each request: the upload, its files and the end of the connection need none.
    #expect(upload.wakeUps <= upload.fixes + 1)
  }
}

/// An uplink with a server that takes everything at once, and what it costs.
private final class UploadCount {
  var uplink: Uplink<MemoryStorage>
  private(set) var connections = 0
  private(set) var fixes = 0
  private(set) var acknowledged = 0
  private(set) var bytes = 0
  var wakeUps = 0

  init(_ text: String) throws {
    let configuration = try UplinkConfiguration(
      parsing: "server = mqtts://mqtt.example.net\nclient-id = board17\n" + text, host: "board17")
    let queue = try FixQueue(MemoryStorage(), FixQueue<MemoryStorage>.Limits(), identity: "9af3")
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: configuration.clientID,
      queueIdentity: queue.identity)
    uplink = Uplink(configuration, writer, queue, stored: nil)
  }

  var summary: String {
    "\(connections) connections, \(fixes) fixes, \(acknowledged) acknowledged, \(bytes) bytes of topics and payloads, "
      + "\(wakeUps) wake-ups by time"
  }

  /// Performs the transport's part; returns the calls of the location service.
  func perform(_ actions: [Uplink<MemoryStorage>.Action], utcNanoseconds: Int64, at now: Instant) -> [ClientCall] {
    var calls: [ClientCall] = []
    for action in actions {
      var answer: TransportEvent?
      switch action {
      case .call(let call): calls.append(call)
      case .transport(.connect):
        connections += 1
        answer = .connected
      case .transport(.send(let sequence, let payload)):
        fixes += 1
        acknowledged += 1
        bytes += payload.topic.utf8.count + payload.body.count
        answer = .acknowledged(sequence)
      default: break
      }
      guard let answer else { continue }
      calls += perform(
        uplink.receive(.transport(answer), utcNanoseconds: utcNanoseconds, at: now), utcNanoseconds: utcNanoseconds,
        at: now)
    }
    return calls
  }
}

/// The asset tracker's day with one program.
private final class AssetDay {
  private let scene = ServiceScene(.m10, scenario: Scenario.named("asset-tracker")!)
  private let began: Instant
  private(set) var locations = 0

  init() { began = scene.now }

  private var charge: Double {
    scene.line.receiver.chargeMilliampereSeconds + scene.line.receiver.pinChargeMilliampereSeconds
  }

  var averageMilliamperes: Double { charge / scene.now.seconds(since: began) }

  private var utcNanoseconds: Int64 {
    ServiceLog.startSeconds * 1_000_000_000 + Int64(clamping: scene.now.nanoseconds)
  }

  /// A program that requests a location, again if there was none, and the next one an interval after the answer.
  func requestLocations(every seconds: Double, hours: Double) {
    let end = scene.now.moved(by: hours * 3600)
    scene.call(.setDesiredAccuracy(metres: 100))
    var due: Instant? = scene.now
    while scene.now < end {
      if let time = due, time <= scene.now {
        due = nil
        scene.call(.requestLocation)
      }
      runScene(until: min(end, due ?? end))
      for event in takeEvents() {
        switch event {
        case .didUpdateLocations(let found):
          locations += found.count
          due = scene.now.moved(by: seconds)
        case .didFail: due = scene.now
        default: break
        }
      }
    }
  }

  func run(_ upload: UploadCount, hours: Double) {
    let end = scene.now.moved(by: hours * 3600)
    perform(upload.uplink.start(at: scene.now), upload)
    while scene.now < end {
      runScene(until: min(end, upload.uplink.deadline ?? end))
      for event in takeEvents() {
        switch event {
        case .didUpdateLocations(let found):
          locations += found.count
          receive(.locations(found), upload)
        case .didFail(let error): receive(.requestFailed(isPermitted: error != .denied), upload)
        default: break
        }
      }
      guard let due = upload.uplink.deadline, due <= scene.now else { continue }
      upload.wakeUps += 1
      receive(.wake, upload)
    }
  }

  private func receive(_ event: Uplink<MemoryStorage>.Event, _ upload: UploadCount) {
    perform(upload.uplink.receive(event, utcNanoseconds: utcNanoseconds, at: scene.now), upload)
  }

  private func perform(_ actions: [Uplink<MemoryStorage>.Action], _ upload: UploadCount) {
    for call in upload.perform(actions, utcNanoseconds: utcNanoseconds, at: scene.now) { scene.call(call) }
  }

  private func runScene(until time: Instant) {
    scene.run(to: max(time, scene.now + Milliseconds(1)), until: { !$0.machine.events.isEmpty })
  }

  private func takeEvents() -> [DelegateEvent] {
    defer { scene.clearEvents() }
    return scene.machine.events.map(\.event)
  }
}
