// SPDX-License-Identifier: Apache-2.0
import Foundation
import MonotonicTime
import Positioning
import ReceiverStream
import Synchronization
import Testing

@testable import sextant_uplink

/// The program's decisions and connections, with libmosquitto and libcurl, against a server that sends anything. Tests/rig/uplink_hostile.py
/// runs the server and these tests, and passes its address.
@Suite("A server that sends anything", .enabled(if: HostileSettings.environment != nil))
struct HostileServerTests {
  @Test("Nothing that a server sends ends the program, or loses a fix that was not acknowledged or refused")
  func hostile() throws {
    let settings = try #require(HostileSettings.environment)
    let configuration = try UplinkConfiguration(
      parsing: """
        server = \(settings.server)
        format = \(settings.format)
        topic = owntracks/ann/van
        mqtt-version = \(settings.version)
        client-id = van
        allow = reportLocation setWaypoints clearWaypoints setConfiguration
        """, host: "van")
    let queue = try FixQueue(MemoryStorage(), FixQueue<MemoryStorage>.Limits(), identity: "q")
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: "van", queueIdentity: "q")
    let inbox = EventInbox()
    let transport = try Transport(configuration, writer, password: nil) { inbox.add($0) }
    var uplink = Uplink(configuration, writer, queue, stored: nil)
    var counts = Counts()
    func perform(_ actions: [Uplink<MemoryStorage>.Action]) {
      for action in actions {
        switch action {
        case .transport(let command): transport.perform(command)
        case .log: counts.logged += 1
        case .storeSettings, .call: break
        }
      }
    }
    let begin = SystemClock.monotonic
    // A thousand times as fast: a back-off of a minute lasts 60 ms.
    func now() -> Instant { Instant.zero.moved(by: SystemClock.monotonic.seconds(since: begin) * 1000) }
    perform(uplink.start(at: now()))
    while SystemClock.monotonic.seconds(since: begin) < settings.seconds {
      let received = inbox.take()
      if received.isEmpty, counts.made >= 200_000 || uplink.queue.count >= 50 {
        inbox.wait(seconds: min(max(0, uplink.deadline?.seconds(since: now()) ?? 1000), 1000) / 1000)
      }
      for event in received {
        counts.add(event)
        perform(uplink.receive(.transport(event), utcNanoseconds: Self.utc(now()), at: now()))
      }
      if counts.made < 200_000, uplink.queue.count < 50 {
        counts.made += 1
        let place = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
        let time = UTCTime(nanosecondsSince1970: 1_800_000_000_000_000_000 + Int64(counts.made) * 1_000_000_000)
        perform(
          uplink.receive(
            .locations([Location(place, horizontalAccuracyMetres: 3, timestamp: time)]),
            utcNanoseconds: Self.utc(now()),
            at: now()))
      }
      if let due = uplink.deadline, due <= now() {
        perform(uplink.receive(.wake, utcNanoseconds: Self.utc(now()), at: now()))
      }
      let known = uplink.queue.count + uplink.delivery.acknowledged + uplink.queue.losses.dropped
      #expect(known >= counts.appended(uplink), "\(known) of \(counts.made) fixes are known")
    }
    print(
      "uplink-hostile:",
      #"{"connections":\#(counts.connections),"failures":\#(counts.failures),"commands":\#(counts.commands),"#
        + #""acknowledged":\#(uplink.delivery.acknowledged),"dropped":\#(uplink.queue.losses.dropped),"#
        + #""waiting":\#(uplink.queue.count),"logged":\#(counts.logged)}"#)
    transport.perform(.end)
  }

  private static func utc(_ now: Instant) -> Int64 { 1_800_000_000_000_000_000 + Int64(clamping: now.nanoseconds) }

  private struct Counts {
    var made = 0
    var connections = 0
    var failures = 0
    var commands = 0
    var logged = 0

    mutating func add(_ event: TransportEvent) {
      switch event {
      case .connected: connections += 1
      case .failed: failures += 1
      case .command: commands += 1
      default: break
      }
    }

    /// The fixes that got a number: a server may have changed the interval and the distance.
    func appended(_ uplink: Uplink<MemoryStorage>) -> Int {
      Int(clamping: uplink.queue.upcomingSequence) - 1 - uplink.queue.losses.thinned
    }
  }
}

/// The reports of connections, from any thread.
final class EventInbox: Sendable {
  private let events = Mutex<[TransportEvent]>([])
  private let arrival = DispatchSemaphore(value: 0)

  func add(_ event: TransportEvent) {
    events.withLock { $0.append(event) }
    arrival.signal()
  }

  /// Returns when an event has arrived, or after the time limit.
  func wait(seconds: Double) { _ = arrival.wait(timeout: .now() + seconds) }

  func take() -> [TransportEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

private struct HostileSettings {
  var server: String
  var format: String
  var version: String
  var seconds: Double

  /// `SERVER FORMAT VERSION SECONDS` in `SEXTANT_UPLINK_HOSTILE`.
  static let environment: HostileSettings? = {
    let words =
      ProcessInfo.processInfo.environment["SEXTANT_UPLINK_HOSTILE"]?.split(separator: " ").map(String.init) ?? []
    guard words.count == 4, let seconds = Double(words[3]) else { return nil }
    return HostileSettings(server: words[0], format: words[1], version: words[2], seconds: seconds)
  }()
}
