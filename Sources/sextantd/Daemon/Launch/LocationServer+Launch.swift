// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import MonotonicTime
import Positioning
import WireBytes

// The calls of org.sextant.Launch, and the programs that do not run.
extension LocationServer {
  func answerLaunch(
    _ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection, at now: Instant
  ) {
    if call.kind == .upgrade { return connection.reply(id, .failure(.invalidParameter("upgrade"))) }
    let user = connection.credentials.user
    let unit = call.parameters["unit"]?.string
    switch (call.method, unit) {
    case ("org.sextant.Launch.Watch", _):
      guard call.kind == .more else { return connection.reply(id, .failure(.expectedMore)) }
      connection.role = .launcher(id, hasUnits: false)
      launcher.launcherCame(user, at: now)
    case ("org.sextant.Launch.StartEnded", let unit?):
      let failure = call.parameters.text("failure")
      guard failure.isValid else { return connection.reply(id, .failure(.invalidParameter("failure"))) }
      launcher.startEnded(.user(unit), user: user, failure.value, at: now)
      connection.reply(id, .success(.empty))
    case ("org.sextant.Launch.Stopped", let unit?):
      launcher.stopped(.user(unit), user: user, at: now)
      connection.reply(id, .success(.empty))
    case ("org.sextant.Launch.StartEnded", nil), ("org.sextant.Launch.Stopped", nil):
      connection.reply(id, .failure(.invalidParameter("unit")))
    default: connection.reply(id, .failure(.methodNotFound(call.method)))
    }
  }

  /// Sends a launcher the units of its user: the units to start, and the units to watch if they have changed.
  func deliverUnits(to connection: Connection, _ call: VarlinkServerConnection.CallID, _ hasUnits: Bool) {
    let user = connection.credentials.user
    let starts = launcher.userStarts.removeValue(forKey: user) ?? []
    let hasChanged = launcher.usersWithChanges.remove(user) != nil
    guard !hasUnits || hasChanged || !starts.isEmpty else { return }
    let units = launcher.userUnits(of: user)
    connection.reply(
      call,
      .success(
        ["start": .array(starts.map { .string($0) }), "units": .array(units.map { .string($0) })], continues: true))
    connection.role = .launcher(call, hasUnits: true)
  }

  /// The programs that do not run and that an event would start, for the status.
  func absentPrograms(forUser viewer: UInt32) -> [JSON] {
    launcher.entries.sorted { $0.key < $1.key }.compactMap { key, entry in
      guard let absent = entry.absent else { return nil }
      let (authorization, demands) =
        host.read(absent.id) { ($0.authorization.status, $0.demands.flatMap(\.words)) } ?? (.notDetermined, [])
      return [
        "name": .string(viewer == 0 || viewer == key.user ? key.name.text : String(key.name.text.before("@"))),
        "uid": .integer(Int64(key.user)), "authorization": .string(authorization.name),
        "demands": .array(demands.map { .string($0) }), "delivered": 0, "dropped": 0,
        "unit": .string(entry.record.unit.name),
      ]
    }
  }
}
