// SPDX-License-Identifier: Apache-2.0

/// The announcement of TCP services over mDNS, through Avahi on the system's bus (avahi's
/// org.freedesktop.Avahi.Server.xml and org.freedesktop.Avahi.EntryGroup.xml).
///
///     absent ── name has an owner ──▶ asking ── running ──▶ creating ── group ──▶ announced
///       ▲ ▲                             ▲                                          │   │ collision: another name
///       │ └── Avahi ends ───────────────┼──────────────────────────────────────────┘   │
///       └── refused                     └── the host gets another name: group is freed ┘
///
/// Avahi withdraws the services when the connection ends. Without Avahi nothing is announced, and Avahi is not started.
package struct ServiceAnnouncement: Sendable {
  /// A service on a port of this machine.
  package struct Service: Hashable, Sendable {
    /// The type, such as `_nmea-0183._tcp`.
    package var type: String
    package var port: UInt16
    /// The index of the interface at which it is announced; nil for all.
    package var interface: Int32?
    /// Entries of its TXT record, `KEY=VALUE`.
    package var text: [String]

    package init(type: String, port: UInt16, interface: Int32?, text: [String]) {
      (self.type, self.port, self.interface, self.text) = (type, port, interface, text)
    }
  }

  package enum Output: Equatable, Sendable {
    case call(BusCall)
    case log(String)
  }

  private enum State: Equatable, Sendable {
    case disconnected, absent, asking, creating
    case announced(group: String)
  }

  /// The purpose of the call that an answer belongs to.
  private enum Question: Sendable { case match, owner, state, group, add, commit, free }

  private static let destination = "org.freedesktop.Avahi"
  private static let server = "org.freedesktop.Avahi.Server"
  private static let entryGroup = "org.freedesktop.Avahi.EntryGroup"
  /// The number of names in use after which no other name is tried.
  private static let nameLimit = 20
  // AvahiServerState and AvahiEntryGroupState (avahi-common/defs.h).
  private static let (serverRunning, groupCollision, groupFailure): (Int64, Int64, Int64) = (2, 3, 4)

  private let services: [Service]
  private let firstName: String
  private var nameNumber = 1
  private var state = State.disconnected
  private var questions: [Int: Question] = [:]
  private var lastNumber = 0
  private var isProblemLogged = false
  private var outputs: [Output] = []

  /// - Parameter name: the human-readable name of the services. A name that is in use in the network gets a number.
  package init(_ services: [Service], name: String) {
    self.services = services
    firstName = name
  }

  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// Whether Avahi has the services.
  package var isAnnounced: Bool { if case .announced = state { true } else { false } }

  // MARK: The connection

  package mutating func connected() {
    state = .absent
    match("sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.destination)'")
    match("sender='\(Self.destination)',interface='\(Self.server)',member='StateChanged'")
    outputs.append(
      .call(
        BusCall(
          token(.owner), "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
          [.text(Self.destination)])))
  }

  package mutating func disconnected() {
    state = .disconnected
    questions = [:]
  }

  package mutating func receive(_ message: BusMessage) {
    switch message.kind {
    case .reply(let token):
      guard token.owner == .announcements, let question = questions.removeValue(forKey: token.number) else { return }
      answered(question, message.body)
    case .refusal(let token, let name, let text):
      guard token.owner == .announcements, let question = questions.removeValue(forKey: token.number) else { return }
      refused(question, name, text)
    case .signal(_, "org.freedesktop.DBus", "NameOwnerChanged"):
      guard message.body.count == 3, message.body[0].text == Self.destination else { return }
      state = .absent
      questions = [:]
      if message.body[2].text?.isEmpty == false { ask() }
    case .signal(_, Self.server, "StateChanged"): if let value = message.body.first?.integer { serverChanged(value) }
    case .signal(let path, Self.entryGroup, "StateChanged"):
      guard state == .announced(group: path), let value = message.body.first?.integer else { return }
      if value == Self.groupCollision { rename(path) }
      if value == Self.groupFailure { problem("Avahi reports a failure") }
    case .signal: break
    }
  }

  private mutating func answered(_ question: Question, _ body: [BusValue]) {
    switch (question, state) {
    case (.owner, .absent): if body.first?.flag == true { ask() }
    case (.state, .asking): if let value = body.first?.integer { serverChanged(value) }
    case (.group, .creating):
      guard let group = body.first?.text else { return }
      state = .announced(group: group)
      add(to: group)
    default: break
    }
  }

  private mutating func refused(_ question: Question, _ name: String, _ text: String) {
    switch (question, state) {
    case (.add, .announced(let group)) where name.hasSuffix("CollisionError"): rename(group)
    // A call also fails if Avahi ends meanwhile, and the signal about that has arrived or will arrive.
    case (.state, _), (.group, _): state = .absent
    case (.add, _), (.commit, _): problem(text)
    default: break
    }
  }

  private mutating func ask() {
    state = .asking
    call(.state, "/", Self.server, "GetState")
  }

  private mutating func serverChanged(_ value: Int64) {
    guard value == Self.serverRunning else {
      // The host name has changed, and the entries must be recreated.
      if case .announced(let group) = state { call(.free, group, Self.entryGroup, "Free") }
      if state != .absent { state = .asking }
      return
    }
    guard state == .asking else { return }
    state = .creating
    call(.group, "/", Self.server, "EntryGroupNew")
  }

  private mutating func add(to group: String) {
    let name = nameNumber == 1 ? firstName : "\(firstName) #\(nameNumber)"
    for service in services {
      // AVAHI_IF_UNSPEC and AVAHI_PROTO_UNSPEC are −1; an empty domain and host mean the defaults.
      call(
        .add, group, Self.entryGroup, "AddService",
        [
          .int32(service.interface ?? -1), .int32(-1), .uint32(0), .text(name), .text(service.type), .text(""),
          .text(""), .uint16(service.port), .byteStrings(service.text),
        ])
    }
    call(.commit, group, Self.entryGroup, "Commit")
  }

  private mutating func rename(_ group: String) {
    guard nameNumber < Self.nameLimit else { return problem("the name \(firstName) is in use") }
    nameNumber += 1
    questions = questions.filter { if case .add = $0.value { false } else { true } }
    call(.free, group, Self.entryGroup, "Reset")
    add(to: group)
  }

  private mutating func problem(_ text: String) {
    if !isProblemLogged { outputs.append(.log("NMEA is not announced by mDNS: \(text)")) }
    isProblemLogged = true
  }

  // MARK: Messages

  private mutating func token(_ question: Question) -> BusToken {
    lastNumber += 1
    questions[lastNumber] = question
    return BusToken(.announcements, lastNumber)
  }

  private mutating func call(
    _ question: Question, _ path: String, _ interface: String, _ member: String, _ arguments: [BusCall.Argument] = []
  ) {
    outputs.append(.call(BusCall(token(question), Self.destination, path, interface, member, arguments)))
  }

  private mutating func match(_ rule: String) { outputs.append(.call(.match(token(.match), "type='signal'," + rule))) }
}
