// SPDX-License-Identifier: Apache-2.0

// A CLMonitor as in the sample of the document about monitoring conditions: an event counts if its state differs from the
// state of the event before it, which the record has.
//
//     ConditionMonitor LATITUDE LONGITUDE RADIUS [crash]
//
// With `crash` the program ends while it handles the first event, and gets that again in its next run.
import CoreLocation

@available(macOS 14.0, *)
final class MonitorModel: @unchecked Sendable {
  private let crashes: Bool

  init(crashes: Bool) { self.crashes = crashes }

  func startMonitoring(center: CLLocationCoordinate2D, radius: CLLocationDistance) async throws {
    let monitor = await CLMonitor("SampleMonitor")
    if await monitor.record(for: "home") == nil {
      let condition = CLMonitor.CircularGeographicCondition(center: center, radius: radius)
      await monitor.add(condition, identifier: "home", assuming: .unsatisfied)
    }
    for try await event in await monitor.events {
      guard let record = await monitor.record(for: event.identifier) else { continue }
      handle(event, after: record.lastEvent)
    }
  }

  private func handle(_ event: CLMonitor.Event, after lastEvent: CLMonitor.Event) {
    // The sample skips an event that changes nothing.
    if event.state == lastEvent.state { return print("skipped \(event.identifier)") }
    switch event.state {
    case .satisfied: print("entered \(event.identifier)")
    case .unsatisfied: print("left \(event.identifier)")
    case .unknown: print("unknown \(event.identifier)")
    case .unmonitored: print("unmonitored \(event.identifier), denied: \(event.authorizationDenied)")
    @unknown default: break
    }
    if crashes { kill(getpid(), SIGKILL) }
  }
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Double($0) }
guard numbers.count == 3 else {
  print("ConditionMonitor LATITUDE LONGITUDE RADIUS [crash]")
  exit(64)
}
let model = MonitorModel(crashes: CommandLine.arguments.last == "crash")
let session = CLServiceSession(authorization: .always)
let task = Task {
  try await model.startMonitoring(
    center: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]), radius: numbers[2])
}
RunLoop.main.run()
session.invalidate()
