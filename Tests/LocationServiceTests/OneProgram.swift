// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverStream

@testable import LocationService

// A service with one program, for most tests.
extension ServiceCore {
  init(
    engine: PositioningEngine, coordinator: PowerCoordinator, undecided: Authorization.Record = .init(),
    storedAuthorization: String? = nil, deferred: [Location] = []
  ) {
    self.init(
      hostCapabilities: engine.hostCapabilities, coordinator: coordinator, newest: engine.newest,
      deferred: deferred)
    let program = Program(.own, engine, undecided: undecided, storedAuthorization: storedAuthorization)
    add(program, at: Moment(.zero, utc: UTCTime(nanosecondsSince1970: 0)))
  }

  var engine: PositioningEngine { programs.list[0].engine }

  mutating func change(_ body: (inout PositioningEngine) -> Void) { change(.own, body) }

  mutating func call(_ call: ClientCall, by client: ClientID, at now: Instant) {
    self.call(call, by: ManagerID(program: .own, client: client), at: now)
  }
}

extension ServiceInput {
  static func administration(_ administration: Administration) -> ServiceInput { .administration(.own, administration) }
}

extension PowerDemands {
  mutating func update(
    _ managers: [(id: ClientID, demand: Demand)], shared: Demand, at now: Instant
  ) -> [PowerEvent] {
    update([ProgramDemand(managers: managers, shared: shared)], at: now)
  }
}
