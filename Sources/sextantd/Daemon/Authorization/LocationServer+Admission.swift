// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import MonotonicTime
import Positioning

// Which program gets locations or a receiver's bytes: its identity, its grant, its permission.
extension LocationServer {
  /// Adds the program of a connection to the host.
  func addProgram(
    _ keys: UsageKeys, authorization: AuthorizationStatus? = nil, _ connection: Connection
  ) -> ProgramID {
    identify(connection)
    let peer = connection.peer
    let app = AppDescription(
      identifier: connection.name.text, keys: keys, executable: peer.executable?.text, label: connection.label)
    connection.grant = policy.grant(to: peer)
    // A permission belongs to an executable and a user: a program without an identity has no permission.
    let isIdentified = connection.identity != nil
    return host.add(
      app, user: peer.credentials.user,
      authorization: authorization ?? connection.grant ?? (isIdentified ? nil : .denied),
      undecided: isTypedCommand(connection) ? .authorizedAlways : nil, application: applicationState(of: peer),
      isStored: isIdentified, connection)
  }

  /// Finds the identity of a connection's program, once.
  func identify(_ connection: Connection) {
    connection.identify(hasUnitGrant: policy.hasGrant(ofUnit: connection.peer.unit))
  }

  /// The line for a program without an identity, which has no stored permission; nil for any other one.
  func refusalText(_ connection: Connection) -> String? {
    guard let refusal = connection.refusal, connection.grant == nil else { return nil }
    let (process, user) = (connection.credentials.process, connection.credentials.user)
    return "\(connection.label) (process \(process), user \(user)) has no permission: "
      + refusal.text(unit: connection.peer.unit)
  }

  /// Logs why programs of a user have no identity, once for each reason: a program may retry forever.
  func logRefusal(_ connection: Connection) {
    // There may be many user ids: a user namespace has 65,536.
    guard let text = refusalText(connection), let refusal = connection.refusal, loggedRefusals.count < 256,
      loggedRefusals[connection.credentials.user, default: []].insert(refusal).inserted
    else { return }
    host.log(text)
  }

  /// Whether a program is `sextant track` of a user who could open the receiver without the service. Typing the command
  /// authorizes it. The security boundary is the user: any program of such a user can read the receiver's bytes.
  private func isTypedCommand(_ connection: Connection) -> Bool {
    connection.peer.executableName == Self.trackingCommand && mayOpenReceivers(connection)
  }

  /// The executable of `sextant track`.
  private static let trackingCommand = "sextant-track"

  /// Adds the program of a connection that gets a receiver's bytes; nil, with the reply, if it has no permission.
  ///
  /// - Parameter isByDevice: whether access to the device replaces a stored permission.
  func addStreamProgram(
    _ id: VarlinkServerConnection.CallID, _ connection: Connection, isByDevice: Bool
  ) -> ProgramID? {
    guard isByDevice else { return addPermittedProgram(id, connection) }
    return addProgram(UsageKeys(), authorization: .authorizedAlways, connection)
  }

  /// Adds the program of a connection that uses org.sextant.Location; nil, with the reply, if it has no permission.
  func addPermittedProgram(_ id: VarlinkServerConnection.CallID, _ connection: Connection) -> ProgramID? {
    let program = addProgram(UsageKeys(), connection)
    let status = host.read(program) { $0.authorization.status } ?? .denied
    if status.isAuthorized { return program }
    host.remove(program)
    if status == .notDetermined {
      noteRefused(connection)
      connection.reply(id, .failure(VarlinkError("org.sextant.Location.NotDetermined")))
    } else {
      logRefusal(connection)
      let reason = JSON(omittingNil: ["reason": refusalText(connection)])
      connection.reply(id, .failure(VarlinkError("org.sextant.Location.Denied", reason)))
    }
    return nil
  }

  /// Whether a program may receive a receiver's bytes, which cannot be made less accurate.
  func isStreamPermitted(to program: ProgramID) -> Bool {
    host.read(program) { $0.authorization.status.isAuthorized && $0.authorization.accuracy == .full } ?? false
  }
}
