// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import MonotonicTime
import WireBytes

// The limits of a program's additions, and of the log lines that it causes.
extension LocationServer {
  /// The number of a connection's user in the shares.
  func shareUser(_ connection: Connection) -> UInt32 {
    Share.number(of: connection.credentials.user, own: ownUser)
  }

  /// Writes a line that a program causes, unless its user has caused too many lines.
  func log(_ text: @autoclosure () -> String, of user: UInt32) {
    let sharer = Share.number(of: user, own: ownUser)
    for line in logShare.lines(text(), of: sharer, at: SystemClock.monotonic) { host.log(line) }
  }

  func log(_ text: @autoclosure () -> String, of connection: Connection) {
    log(text(), of: connection.credentials.user)
  }

  /// The users' amounts of a resource, of which each connection has a part.
  private func taken(_ limits: Share, _ amount: (Connection) -> Int) -> Share {
    var share = limits
    for connection in connections.values {
      let amount = amount(connection)
      if amount != 0 { share.add(amount, to: shareUser(connection)) }
    }
    return share
  }

  /// Whether a call is refused because its text is too long or its user's share is used up; the call then gets an error,
  /// or its connection ends.
  func isRefused(
    _ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection, at now: Instant
  ) -> Bool {
    let user = connection.credentials.user
    switch call.method {
    case "org.sextant.CoreLocation.Open", "org.sextant.Location.Subscribe", "org.sextant.Location.RequestLocation",
      "org.sextant.Location.Stream":
      if let name = call.parameters.nameOfLongText {
        connection.reply(id, .failure(.invalidParameter(name)))
        return true
      }
      let programs = taken(ServiceLimits.programs) { $0.program == nil ? 0 : 1 }
      guard connection.program == nil, !programs.has(for: shareUser(connection)) else { return false }
      log(
        "user \(user) has \(programs.amount(of: shareUser(connection))) programs; further ones are disconnected",
        of: user)
      connection.isEnding = true
      return true
    case "org.sextant.Authorization.Set", "org.sextant.Authorization.SetServices", "org.sextant.Authorization.Answer":
      guard shareUser(connection) != 0, let refusal = refusalToStore(call, user, at: now) else {
        lists = [:]
        return false
      }
      connection.reply(id, .failure(refusal))
      return true
    default: return false
    }
  }

  /// The error of a user who may not store another permission now; nil if it may.
  private func refusalToStore(_ call: VarlinkCall, _ user: UInt32, at now: Instant) -> VarlinkError? {
    let limit = ServiceLimits.storedChanges
    if storedChanges.refused(afterOneOf: user, at: now) == nil {
      return .notStored(
        "more than \(limit.count) changes in \(limit.time.count / 1000) s", wait: storedChanges.wait(of: user, at: now))
    }
    // The switch is one file of the user.
    if call.method == "org.sextant.Authorization.SetServices" { return nil }
    let folder = host.settings.stateFolder.map { AuthorizationStore(stateFolder: "\($0)/users/\(user)") }
    let stored = storedPrograms(of: user, folder)
    var name = call.parameters["name"]?.string.map { ExactText($0) }
    if case .integer(let number)? = call.parameters["id"] { name = questions[Int(clamping: number)]?.program.name }
    guard stored.count >= ServiceLimits.storedPrograms, !stored.contains(where: { $0.app == name }) else { return nil }
    return .notStored("permissions of \(stored.count) programs are stored already; reset some")
  }

  /// Whether a message of a program of Core Location is refused, because its text is too long; its connection then ends.
  /// Module CoreLocation refuses such a call itself.
  func isRefused(_ message: JSON, _ connection: Connection) -> Bool {
    let user = connection.credentials.user
    if message.longestText > ServiceLimits.textBytes {
      log("\(connection.name): a text of more than \(ServiceLimits.textBytes) bytes; it is disconnected", of: user)
      connection.isEnding = true
      return true
    }
    return false
  }

  /// Whether an action is refused because it adds an object beyond the limit of the program or of its user. The program
  /// gets a line, and keeps the objects that it has: a program without any would create them all again.
  func isAdditionRefused(_ action: ClientAction, _ served: ServedProgram, _ connection: Connection) -> Bool {
    guard served.adds(action) else { return false }
    let objects = taken(ServiceLimits.objects) { connection in
      guard case .coreLocation(_, let served) = connection.role else { return 0 }
      return served.objectCount
    }
    let user = connection.credentials.user
    let isFull = served.objectCount >= ServiceLimits.objectsOfProgram
    if !isFull, objects.has(for: shareUser(connection)) { return false }
    guard !connection.hasLimitLine else { return true }
    connection.hasLimitLine = true
    let (holders, limit) =
      isFull
      ? ("a program has", ServiceLimits.objectsOfProgram) : ("the programs of user \(user) have", objects.ofUser)
    let text =
      "\(holders) at most \(limit) managers, streams, sessions, activities, monitors and conditions in the location "
      + "service; further ones get no events: release some, and start the program again"
    log("\(connection.name): \(text)", of: user)
    sendLine(text, connection)
    return true
  }

  /// The programs of a user with stored state. The list is cached for some time.
  func storedPrograms(of user: UInt32, _ store: AuthorizationStore?) -> [AuthorizationStore.Entry] {
    let now = SystemClock.monotonic
    lists = lists.filter { now < $0.value.read + ServiceLimits.listAge }
    if let list = lists[user] { return list.programs }
    let programs = store?.entries() ?? []
    lists[user] = (now, programs)
    return programs
  }
}

extension VarlinkError {
  /// A permission cannot be stored.
  ///
  /// - Parameter wait: the time after which the same call is possible; nil if it is not by itself.
  static func notStored(_ reason: String, wait: Milliseconds? = nil) -> VarlinkError {
    let seconds = wait.map { Int64(clamping: $0.count / 1000) }
    return VarlinkError(
      "org.sextant.Authorization.NotStored",
      JSON(omittingNil: ["reason": reason, "retrySeconds": seconds.map { JSON.integer($0 &+ 1) }]))
  }
}

extension JSON {
  /// The length of the longest text in the value, including names, in bytes of UTF-8.
  var longestText: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .array(let elements): elements.reduce(0) { max($0, $1.longestText) }
    case .object(let members): members.reduce(0) { max($0, $1.name.utf8.count, $1.value.longestText) }
    case .null, .bool, .integer, .double: 0
    }
  }

  /// The name of the first parameter with a text that is too long; nil if there is none.
  fileprivate var nameOfLongText: String? {
    if self["identifier"].map({ $0.longestText > ServiceLimits.identifierBytes }) ?? false { return "identifier" }
    guard case .object(let members) = self else { return nil }
    return members.first { max($0.name.utf8.count, $0.value.longestText) > ServiceLimits.textBytes }?.name
      .prefix(64).description
  }
}
