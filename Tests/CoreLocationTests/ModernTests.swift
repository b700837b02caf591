// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Positioning
import Testing

@testable import CoreLocation

@Suite("The modern API")
struct ModernTests {
  private let circle = CLMonitor.CircularGeographicCondition(
    center: CLLocationCoordinate2DMake(48, 11), radius: 10_000)

  private func temporaryFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  }

  /// The first event of a monitor's stream.
  private func event(_ monitor: CLMonitor) async throws -> CLMonitor.Event? {
    for try await event in await monitor.events { return event }
    return nil
  }

  @Test("MO-2 MO-5 a monitor reports the state of a condition, and keeps the last event")
  func monitor() async throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    let monitor = CLMonitor("places", service: Scene(file: file).service)
    await monitor.add(circle, identifier: "home")
    #expect(await monitor.record(for: "home")?.lastEvent.state == .unknown)
    let event = try #require(try await event(monitor))
    #expect(event.identifier == "home" && event.state == .satisfied && event.refinement == nil)
    let record = try #require(await monitor.record(for: "home"))
    #expect(record.lastEvent.state == .satisfied && record.lastEvent.date == event.date)
    #expect((record.condition as? CLMonitor.CircularGeographicCondition)?.radius == 10_000)
    await monitor.remove("home")
    #expect(await monitor.identifiers.isEmpty)
    #expect(await monitor.record(for: "home") == nil)
  }

  @Test(
    "MO-5 while an event is handled the record has the event before it, until the next call or the end of the iteration"
  )
  func recordOfHandling() async throws {
    let monitor = CLMonitor("places", service: Scene("denied").service)
    for name in ["home", "work"] { await monitor.add(circle, identifier: name, assuming: .unsatisfied) }
    var events = await monitor.events.makeAsyncIterator()
    let home = try #require(try await events.next())
    #expect(home.identifier == "home" && home.state == CLMonitoringState.unmonitored)
    #expect(await monitor.record(for: "home")?.lastEvent.state == .unsatisfied)
    let work = try #require(try await events.next())
    #expect(work.identifier == "work")
    #expect(await monitor.record(for: "home")?.lastEvent.state == .unmonitored)
    #expect(await monitor.record(for: "work")?.lastEvent.state == .unsatisfied)
    // The loop of the sample ends with a break.
    let other = CLMonitor("others", service: Scene("denied").service)
    await other.add(circle, identifier: "home", assuming: .unsatisfied)
    for try await event in await other.events {
      #expect(await other.record(for: event.identifier)?.lastEvent.state == .unsatisfied)
      break
    }
    #expect(await other.record(for: "home")?.lastEvent.state == .unmonitored)
  }

  @Test("MO-1 conditions are restored in the next run, with their last events")
  func persisted() async throws {
    let file = try Scene.recording()
    let state = temporaryFolder()
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: state)
    }
    let first = Scene(file: file, state: state)
    let monitor = CLMonitor("places", service: first.service)
    await monitor.add(circle, identifier: "home")
    await monitor.add(
      CLMonitor.BeaconIdentityCondition(uuid: UUID(), major: 7), identifier: "shop", assuming: .satisfied)
    while let event = try await event(monitor), event.identifier != "home" {}
    #expect(await CLMonitor("places", service: first.service).identifiers == ["home", "shop"])
    first.service.finish()

    let again = CLMonitor("places", service: Scene(state: state).service)
    #expect(await again.identifiers == ["home", "shop"])
    #expect(await again.record(for: "home")?.lastEvent.state == .satisfied)
    let shop = await again.record(for: "shop")
    #expect((shop?.condition as? CLMonitor.BeaconIdentityCondition)?.major == 7)
    #expect(shop?.lastEvent.state == .unmonitored && shop?.lastEvent.conditionUnsupported == true)
  }

  @Test("LV-1 LV-4 a task that is cancelled before it iterates does not ask for permission")
  func cancelledBefore() async throws {
    var keys = UsageKeys()
    keys.whenInUse = "to show where you are"
    let service = Scene(nil, keys: keys).service
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      var count = 0
      for try await _ in CLLocationUpdate.liveUpdates(.default, service: service) { count += 1 }
      return count
    }
    task.cancel()
    #expect(try await task.value == 0)
    #expect(service.read { $0.authorization.asked == nil && $0.sharedDemand.updates == nil })
  }

  @Test("MO-3 one condition too many, and one without a place, have flags for it")
  func refused() async throws {
    let monitor = CLMonitor("places", service: Scene().service)
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: kCLLocationCoordinate2DInvalid, radius: 1), identifier: "x")
    let unsupported = try #require(try await event(monitor))
    #expect(unsupported.state == .unmonitored && unsupported.conditionUnsupported)
    for number in 0..<21 { await monitor.add(circle, identifier: "\(number)") }
    let exceeded = try #require(try await event(monitor))
    #expect(exceeded.identifier == "20" && exceeded.state == .unmonitored && exceeded.conditionLimitExceeded)
    #expect(exceeded.persistenceUnavailable && !exceeded.authorizationDenied)
  }

  @Test("Without permission the event gives the reason why a condition is not monitored")
  func denied() async throws {
    let monitor = CLMonitor("places", service: Scene("denied").service)
    await monitor.add(circle, identifier: "home")
    let event = try #require(try await event(monitor))
    #expect(event.state == .unmonitored && event.authorizationDenied && !event.authorizationRestricted)
  }

  @Test("A condition of another kind, and an invalid name, are logged")
  func foreign() async {
    struct Weather: CLCondition {}
    let scene = Scene()
    let monitor = CLMonitor("my places", service: scene.service)
    await monitor.add(Weather(), identifier: "rain")
    #expect(await monitor.identifiers.isEmpty)
    #expect(scene.lines.contains("my places") && scene.lines.contains("Weather"))
  }

  @Test("An iteration of events ends with its task")
  func cancelled() async throws {
    let monitor = CLMonitor("places", service: Scene().service)
    let task = Task { try await event(monitor) }
    task.cancel()
    #expect(try await task.value == nil)
  }

  @Test("SS-1 a session reports its diagnostic, and ends once")
  func session() async throws {
    let service = Scene("denied").service
    let session = CLServiceSession(.always, purpose: nil, service: service)
    for try await diagnostic in session.diagnostics {
      #expect(diagnostic.authorizationDenied && !diagnostic.serviceSessionRequired && !diagnostic.fullAccuracyDenied)
      break
    }
    session.invalidate()
    session.invalidate()
    for try await diagnostic in CLServiceSession(.none, purpose: nil, service: Scene().service).diagnostics {
      #expect(!diagnostic.authorizationDenied && !diagnostic.insufficientlyInUse)
      break
    }
  }

  @Test("SS-1 an iteration of diagnostics ends with the invalidation of its session, and a later one at once")
  func invalidated() async throws {
    let service = Scene("denied").service
    let session = CLServiceSession(.whenInUse, purpose: nil, service: service)
    var count = 0
    for try await _ in session.diagnostics {
      count += 1
      session.invalidate()
    }
    for try await _ in session.diagnostics { count += 1 }
    #expect(count == 1)
    let activity = CLBackgroundActivitySession(service: service)
    activity.invalidate()
    for try await _ in activity.diagnostics { count += 1 }
    #expect(count == 1)
  }

  @Test("SS-2 a background activity counts if it begins in the foreground")
  func activity() async throws {
    let service = Scene("whenInUse", application: "background").service
    let activity = CLBackgroundActivitySession(service: service)
    for try await diagnostic in activity.diagnostics {
      #expect(diagnostic.insufficientlyInUse)
      break
    }
    activity.invalidate()
  }

  @Test("LV-1 LV-3 a stream of live updates has locations, or the reason for none")
  func live() async throws {
    let file = try Scene.recording()
    defer { try? FileManager.default.removeItem(at: file) }
    var updates = CLLocationUpdate.liveUpdates(.fitness, service: Scene(file: file).service).makeAsyncIterator()
    let update = try #require(try await updates.next())
    #expect(update.location?.coordinate.longitude == 11 && !update.stationary)
    var refused = CLLocationUpdate.liveUpdates(.default, service: Scene("denied").service).makeAsyncIterator()
    let reason = try #require(try await refused.next())
    #expect(reason.location == nil && reason.authorizationDenied)
  }

  @Test(
    "LV-4 both names of the key for explicit sessions are read, from the property list and the environment",
    arguments: ["NSLocationRequireExplicitServiceSession", "CLRequireExplicitServiceSession"])
  func explicitSessionKey(name: String) {
    #expect(!Service.keys([:], [:]).requiresExplicitSession)
    #expect(Service.keys([name: true], [:]).requiresExplicitSession)
    #expect(!Service.keys([name: false], [name: "1"]).requiresExplicitSession)
    #expect(Service.keys([:], [name: "yes"]).requiresExplicitSession)
  }
}
