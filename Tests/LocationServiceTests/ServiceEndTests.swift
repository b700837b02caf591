// SPDX-License-Identifier: Apache-2.0
import Glibc
import Messages
import Positioning
import Synchronization
import TestSupport
import Testing

@testable import LocationService

/// The end of the service's thread.
@Suite("The end of the service")
struct ServiceEndTests {
  /// A program that handles a monitor's event in the callback, which returns when the service is requested to end.
  private final class SlowProgram: ProgramReceiver {
    private let host: ServiceHost
    private let taken = Mutex(false)
    var hasTaken: Bool { taken.withLock(\.self) }

    init(_ host: ServiceHost) { self.host = host }

    func perform(_ action: ProgramAction) {
      guard case .output(.monitorHasEvent(let name)) = action else { return }
      #expect(host.change(.own, { engine, _ in engine.takeEvent(of: name) }) != nil)
      #expect(host.change(.own, { engine, _ in engine.takeEvent(of: name) == nil }) == true)
      taken.withLock { $0 = true }
      while !host.isFinishing { sched_yield() }
    }
  }

  @Test("MO-5 an event that is handled during the last round of the service is stored as the last one")
  func storedInLastRound() throws {
    let folder = try TemporaryFolder()
    let variables = [
      "GNSS_DEVICE": "/dev/null/none", "SEXTANT_STATE_DIR": folder.path, "SEXTANT_AUTHORIZATION": "always",
    ]
    let host = ServiceHost(
      app: AppDescription(identifier: "tests", keys: .init()),
      settings: ServiceSettings(isRoot: false) { variables[$0] }, log: { _ in })
    let program = SlowProgram(host)
    let id = host.add(host.app, host.store, application: .foreground, program)
    #expect(id == .own)
    // Without Bluetooth the event with the refusal waits at once.
    _ = host.change(id) { engine, now in
      engine.openMonitor("places", at: now.instant)
      engine.addCondition(
        .beacon(BeaconIdentity(uuid: BeaconUUID(high: 0, low: 7))), identifier: "shop", to: "places", at: now)
    }
    host.start()
    while !program.hasTaken { sched_yield() }
    host.finish()
    #expect(host.monitorRecords("places", of: id).map(\.lastEvent.state) == [.unmonitored])
  }
}
