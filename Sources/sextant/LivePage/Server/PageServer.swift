// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import WireBytes

/// The files of the page.
package struct PageFiles: Sendable {
  package var html: [UInt8]
  package var style: [UInt8]
  package var script: [UInt8]

  package init(html: [UInt8], style: [UInt8], script: [UInt8]) {
    self.html = html
    self.style = style
    self.script = script
  }
}

/// A request to change the receiver. It is answered by ``PageServer/answer(_:_:_:at:)``.
package struct ControlRequest: Sendable, Equatable {
  package var connection: Int
  package var body: [UInt8]

  package init(connection: Int, body: [UInt8]) {
    self.connection = connection
    self.body = body
  }
}

/// The server of the live page as a value: its inputs are connections and their bytes, its outputs are bytes to write.
/// It has no callbacks, so its calls are not nested.
///
/// Each connection has one request. The memory is bounded by the number of connections, by the longest request, and by
/// one waiting event of each kind.
package struct PageServer: Sendable {
  /// The most connections of the server's own user, and of all others together: these cannot keep the owner from the page.
  package static let mostConnections = 64
  static let mostOpenedMessages = 16
  private static let eventStream = "text/event-stream"

  private let files: PageFiles
  private let access: PageAccess
  private let contentSecurityPolicy: String
  private var connections: [Int: PageConnection] = [:]
  private var nextNumber = 0
  /// The last event of each kind that is a state.
  private var latest: [LiveEvent.Kind: LiveEvent] = [:]
  private var history = PageHistory()
  /// The source of the history.
  private var source = ""
  private var requests: [ControlRequest] = []
  /// The connections that were accepted or have new output since the last round.
  private var touched: Set<Int> = []

  /// - Parameter tileOrigin: the origin of a server of map tiles, such as `https://tile.example.org`; nil if there is
  ///   none.
  package init(files: PageFiles, access: PageAccess, tileOrigin: String? = nil) {
    self.files = files
    self.access = access
    contentSecurityPolicy =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
      + (tileOrigin.map { " " + $0 } ?? "") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  }

  // MARK: Connections

  /// Adds a connection, and returns its number. Beyond ``mostConnections`` it gets a reply that the server is busy; beyond twice as many
  /// the result is nil, and it is closed.
  ///
  /// - Parameter isOwnUser: whether the other side is a program of this machine and of the user of the server, or root: other users
  ///   need the token, even on this machine.
  package mutating func connect(isOwnUser: Bool = true, at now: Instant) -> Int? {
    let others = connections.values.count { $0.isOwnUser == isOwnUser }
    guard others < 2 * Self.mostConnections else { return nil }
    let number = nextNumber
    nextNumber += 1
    var connection = PageConnection(at: now)
    connection.isOwnUser = isOwnUser
    if others >= Self.mostConnections {
      connection.reply(response(.unavailable, Self.text(.unavailable)), at: now)
    }
    connections[number] = connection
    touched.insert(number)
    return number
  }

  /// The number of connections, including those that only get the reply that the server is busy.
  package var count: Int { connections.count }

  /// The pages that show events.
  package var pages: Int {
    connections.values.count { if case .events = $0.state { true } else { false } }
  }

  /// The names of the messages that pages have opened.
  package var openedMessages: Set<String> {
    var names: Set<String> = []
    for connection in connections.values {
      if case .events(_, let opened, _) = connection.state { names.formUnion(opened) }
    }
    return names
  }

  /// Handles bytes of a connection.
  package mutating func receive(_ bytes: Span<UInt8>, from number: Int, at now: Instant) {
    guard var connection = connections[number], case .reading(var reader, let until) = connection.state else { return }
    let result = reader.receive(bytes)
    connection.state = .reading(reader, until: until)
    connections[number] = connection
    switch result {
    case .incomplete: break
    case .refused(let status): refuse(number, status, at: now)
    case .request(let request): take(request, from: number, at: now)
    }
  }

  /// Removes a connection that the other side has closed.
  package mutating func disconnected(_ number: Int) {
    connections[number] = nil
    requests.removeAll { $0.connection == number }
    touched.remove(number)
  }

  /// The connections with new output or an end to handle. The next call returns only later ones.
  package mutating func takeTouched() -> [Int] {
    defer { touched.removeAll(keepingCapacity: true) }
    return touched.sorted()
  }

  /// The bytes to write to a connection; empty if there are none.
  package func output(of number: Int) -> ArraySlice<UInt8> {
    guard let connection = connections[number] else { return [] }
    return connection.output[connection.written...]
  }

  /// Counts bytes of the output as written.
  package mutating func didWrite(_ count: Int, to number: Int) {
    connections[number]?.didWrite(count)
  }

  /// Whether a connection has its complete reply and must be closed. Unknown connections are closed.
  package func isOver(_ number: Int) -> Bool {
    guard let connection = connections[number] else { return true }
    if case .closed = connection.state { return true }
    return false
  }

  // MARK: Events

  /// Starts a session with a source: a new page does not get events of an earlier session. The history of the same
  /// source continues.
  ///
  /// - Parameter source: the name of the source.
  package mutating func begin(_ hello: LiveEvent, of source: String) {
    if source != self.source { history.removeAll() }
    self.source = source
    publish(hello)
  }

  /// Ends a session whose source is reopened by a page. The next page gets the new events, not the last events of this
  /// session.
  package mutating func leave() { latest = latest.filter { $0.key == .hello } }

  /// Sends an event to all pages. `hello` starts another session: a new page does not get events of the earlier one.
  package mutating func publish(_ event: LiveEvent) {
    if event.kind == .hello { latest.removeAll() }
    if event.kind.isState { latest[event.kind] = event }
    if let row = event.row { history.add(row, event.kind) }
    for number in connections.keys {
      connections[number]!.add(event)
      if connections[number]!.hasOutput { touched.insert(number) }
    }
  }

  // MARK: Requests

  /// Returns the requests to change the receiver that have arrived.
  package mutating func takeRequests() -> [ControlRequest] {
    defer { requests.removeAll() }
    return requests
  }

  /// Answers a request to change the receiver with a line of text.
  package mutating func answer(_ request: ControlRequest, _ status: HTTPStatus, _ text: String, at now: Instant) {
    guard let connection = connections[request.connection], case .answering = connection.state else { return }
    reply(request.connection, response(status, Array("\(text)\n".utf8)), at: now)
  }

  // MARK: Time

  /// The time at which ``wake(at:)`` is due; nil if never.
  package var deadline: Instant? {
    connections.values.reduce(nil) { Instant.earlier($0, $1.deadline) }
  }

  /// Ends requests and replies that take too long, and sends heartbeats.
  package mutating func wake(at now: Instant) {
    for (number, connection) in connections {
      guard let deadline = connection.deadline, deadline <= now else { continue }
      touched.insert(number)
      switch connection.state {
      case .reading(let reader, _):
        if reader.isEmpty { connections[number]!.state = .closed } else { refuse(number, .requestTimeout, at: now) }
      case .closing: connections[number]!.state = .closed
      // A page that reads nothing for two heartbeats ends its demand.
      case .events where connection.hasOutput && connection.isStuck: connections[number]!.state = .closed
      case .events(let queue, let opened, _):
        connections[number]!.isStuck = connection.hasOutput
        connections[number]!.state = .events(
          queue, opened: opened, nextHeartbeat: now + PageConnection.heartbeatInterval)
        if !connection.hasOutput { connections[number]!.put(Array(": \n\n".utf8)) }
      case .answering, .closed: break
      }
    }
  }

  // MARK: Replies

  private mutating func take(_ request: HTTPRequest, from number: Int, at now: Instant) {
    var request = request
    if request.method == "HEAD" {
      connections[number]!.omitsContent = true
      request.method = "GET"
    }
    let isOwnUser = connections[number]?.isOwnUser == true
    if let refusal = access.refusal(request, isOwnUser: isOwnUser) { return refuse(number, refusal, at: now) }
    switch (request.method, request.path) {
    case ("GET", "/"): reply(number, response(.ok, files.html, type: "text/html; charset=utf-8"), at: now)
    case ("GET", "/page.css"): reply(number, response(.ok, files.style, type: "text/css; charset=utf-8"), at: now)
    case ("GET", "/page.js"):
      reply(number, response(.ok, files.script, type: "text/javascript; charset=utf-8"), at: now)
    case ("GET", "/events") where connections[number]!.omitsContent:
      reply(number, head(.ok, type: Self.eventStream, length: nil), at: now)
    case ("GET", "/events"): stream(request, to: number, at: now)
    case ("POST", "/control"):
      connections[number]!.state = .answering
      requests.append(ControlRequest(connection: number, body: request.body))
    case (_, "/"), (_, "/page.css"), (_, "/page.js"), (_, "/events"), (_, "/control"):
      refuse(number, .methodNotAllowed, at: now)
    default: refuse(number, .notFound, at: now)
    }
  }

  /// Starts the stream of events, with the last event of each kind and the history that the page does not have yet.
  private mutating func stream(_ request: HTTPRequest, to number: Int, at now: Instant) {
    let names = (request.parameter("open") ?? "").parts(at: ",").prefix(Self.mostOpenedMessages)
    let opened = names.filter { $0.utf8.count <= 32 }.map(String.init)
    connections[number]!.state = .events(
      PageEventQueue(), opened: opened, nextHeartbeat: now + PageConnection.heartbeatInterval)
    var text = head(.ok, type: Self.eventStream, length: nil)
    let events = latest.merging(
      history.event(since: request.parameter("since").flatMap { Int64($0) }).map { [.history: $0] } ?? [:]
    ) { $1 }
    for kind in LiveEvent.Kind.allCases { if let event = events[kind] { text += event.text } }
    connections[number]!.put(text)
    touched.insert(number)
  }

  private mutating func refuse(_ number: Int, _ status: HTTPStatus, at now: Instant) {
    reply(number, response(status, Self.text(status)), at: now)
  }

  private mutating func reply(_ number: Int, _ bytes: [UInt8], at now: Instant) {
    connections[number]!.reply(bytes, at: now)
    touched.insert(number)
  }

  private static func text(_ status: HTTPStatus) -> [UInt8] {
    let text =
      switch status {
      case .unauthorized: "open the address with ?token= that `sextant view` has printed"
      case .forbidden: "requests of other pages are refused"
      case .misdirected: "open the page by the address of this computer, not by another name"
      case .notFound: "there is no such page; open /"
      case .unavailable: "\(mostConnections) connections are open; close a page"
      case .headTooLarge: "the request is longer than \(HTTPRequestReader.longestHead) bytes"
      default: status.reason
      }
    return Array("\(text)\n".utf8)
  }

  private func response(
    _ status: HTTPStatus, _ body: [UInt8], type: String = "text/plain; charset=utf-8"
  ) -> [UInt8] {
    head(status, type: type, length: body.count) + body
  }

  private func head(_ status: HTTPStatus, type: String, length: Int?) -> [UInt8] {
    var text = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nContent-Type: \(type)\r\n"
    if let length { text += "Content-Length: \(length)\r\n" }
    if status == .methodNotAllowed { text += "Allow: GET, HEAD, POST\r\n" }
    text += "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    text += "Referrer-Policy: no-referrer\r\nContent-Security-Policy: \(contentSecurityPolicy)\r\n\r\n"
    return Array(text.utf8)
  }
}

/// Decides which requests are answered, from their host, the page that they come from, and their token.
package struct PageAccess: Sendable {
  /// Whether only this machine can reach the server. Programs of the server's user can then read without a token.
  package var isLoopback: Bool
  /// Whether settings of the receiver may be changed.
  package var allowsControl: Bool
  /// The secret of the printed address.
  package var token: String

  package init(isLoopback: Bool, allowsControl: Bool, token: String) {
    self.isLoopback = isLoopback
    self.allowsControl = allowsControl
    self.token = token
  }

  /// Returns the status of a refusal; nil if the request may be answered.
  ///
  /// - Parameter isOwnUser: whether the other side is a program of this machine and of the user of the server, or root.
  func refusal(_ request: HTTPRequest, isOwnUser: Bool) -> HTTPStatus? {
    // A name of another domain can be made to resolve to this machine (DNS rebinding); an address cannot.
    guard let host = request.field("host"), isOwn(host) else { return .misdirected }
    if let origin = request.field("origin"), origin != "http://\(host)" { return .forbidden }
    if request.path != "/", let site = request.field("sec-fetch-site"), site != "same-origin", site != "none" {
      return .forbidden
    }
    switch request.path {
    case "/control":
      guard allowsControl else { return .notFound }
      return isToken(request.field("x-sextant-token")) ? nil : .unauthorized
    // Style and script contain no data, and the page cannot send a token with them.
    case "/page.css", "/page.js": return nil
    default: return isLoopback && isOwnUser || isToken(request.parameter("token")) ? nil : .unauthorized
    }
  }

  /// Compares all characters, so that the duration of the comparison does not reveal the token.
  private func isToken(_ text: String?) -> Bool {
    guard let text, text.utf8.count == token.utf8.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(text.utf8, token.utf8) { difference |= a ^ b }
    return difference == 0
  }

  /// Whether a Host field names this machine: an address, or a name that cannot belong to another domain.
  private func isOwn(_ host: String) -> Bool {
    if let inner = host.after("[") {
      guard let end = inner.position(of: "]") else { return false }
      let address = inner[..<end]
      guard Self.isPort(inner[inner.utf8.index(after: end)...]) else { return false }
      return isLoopback ? address == "::1" : address.utf8.allSatisfy { Self.isOfVersion6($0) }
    }
    let end = host.position(of: ":") ?? host.endIndex
    let name = host[..<end].lowercased()
    guard Self.isPort(host[end...]) else { return false }
    if name == "localhost" { return true }
    let isAddress =
      name.parts(at: ".", omittingEmpty: false).count == 4
      && name.parts(at: ".").allSatisfy { UInt8($0) != nil }
    if isLoopback { return isAddress && name.begins(with: "127.") }
    // A name without a dot, or of multicast DNS, belongs to the local network.
    return isAddress || name.ends(with: ".local") || !name.isEmpty && !name.includes(".")
  }

  private static func isOfVersion6(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x41...0x46, 0x61...0x66, 0x2E: true
    default: false
    }
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
  }
}

/// One connection of the page server: a request, and its reply or the stream of events.
struct PageConnection: Sendable {
  enum State: Sendable {
    /// The request is incomplete.
    case reading(HTTPRequestReader, until: Instant)
    /// The request waits for a reply from the receiver's side.
    case answering
    /// The rest of the output is written, and then the connection is closed.
    case closing(until: Instant)
    /// Events are sent until the page closes the connection.
    case events(PageEventQueue, opened: [String], nextHeartbeat: Instant)
    case closed
  }

  /// The time for a request, and for the reader of a reply, milliseconds.
  static let requestTimeout = Milliseconds(10_000)
  static let heartbeatInterval = Milliseconds(15_000)

  var state: State
  /// Whether the other side is a program of the server's user, or of root.
  var isOwnUser = true
  /// Whether the request is HEAD, which is replied to as GET is, without the content (RFC 9110, section 9.3.2).
  var omitsContent = false
  /// Bytes to write, from `written` on.
  private(set) var output: [UInt8] = []
  private(set) var written = 0
  /// Whether the other side has read nothing since the last heartbeat was due.
  var isStuck = false

  init(at now: Instant) { state = .reading(HTTPRequestReader(), until: now + Self.requestTimeout) }

  var hasOutput: Bool { written < output.count }

  mutating func put(_ bytes: [UInt8]) {
    if hasOutput { output += bytes } else { (output, written) = (bytes, 0) }
  }

  /// Counts bytes as written. The next events follow when all bytes are written.
  mutating func didWrite(_ count: Int) {
    written = min(output.count, written + count)
    isStuck = false
    guard !hasOutput else { return }
    (output, written) = ([], 0)
    switch state {
    case .closing: state = .closed
    case .events(var queue, let opened, let beat):
      let text = queue.take()
      state = .events(queue, opened: opened, nextHeartbeat: beat)
      if !text.isEmpty { put(text) }
    case .reading, .answering, .closed: break
    }
  }

  /// Adds an event for a page that shows events.
  mutating func add(_ event: LiveEvent) {
    guard case .events(var queue, let opened, let beat) = state else { return }
    if let name = event.name, !opened.contains(name) { return }
    if hasOutput {
      queue.add(event)
      state = .events(queue, opened: opened, nextHeartbeat: beat)
    } else {
      put(event.text)
    }
  }

  /// Ends the connection after this reply.
  mutating func reply(_ bytes: [UInt8], at now: Instant) {
    state = .closing(until: now + Self.requestTimeout)
    let content = omitsContent ? bytes.occurrence(of: "\r\n\r\n".utf8)?.upperBound : nil
    put(content.map { Array(bytes[..<$0]) } ?? bytes)
  }

  var deadline: Instant? {
    switch state {
    case .reading(_, let until), .closing(let until): until
    case .events(_, _, let beat): beat
    case .answering, .closed: nil
    }
  }
}
