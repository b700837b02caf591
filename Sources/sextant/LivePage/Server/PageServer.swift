// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

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
  package static let mostConnections = 64
  static let mostOpenedMessages = 16

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

  /// Adds a connection, and returns its number. Beyond ``mostConnections`` it gets a reply that the server is busy.
  ///
  /// - Parameter isOwnUser: whether the other side is a program of this machine and of the user of the server, or root: other users
  ///   need the token, even on this machine.
  package mutating func connect(isOwnUser: Bool = true, at now: Instant) -> Int {
    let number = nextNumber
    nextNumber += 1
    var connection = PageConnection(at: now)
    connection.isOwnUser = isOwnUser
    if connections.count >= Self.mostConnections {
      connection.reply(response(.unavailable, Self.text(.unavailable)), at: now)
    }
    connections[number] = connection
    touched.insert(number)
    return number
  }

  /// The number of connections, including those that only get the reply that the server is busy.
  package var count: Int { connections.count }

  /// Whether another connection would only wait to be closed.
  package var isOverrun: Bool { connections.count >= 2 * Self.mostConnections }

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
    let isOwnUser = connections[number]?.isOwnUser == true
    if let refusal = access.refusal(request, isOwnUser: isOwnUser) { return refuse(number, refusal, at: now) }
    switch (request.method, request.path) {
    case ("GET", "/"): reply(number, response(.ok, files.html, type: "text/html; charset=utf-8"), at: now)
    case ("GET", "/page.css"): reply(number, response(.ok, files.style, type: "text/css; charset=utf-8"), at: now)
    case ("GET", "/page.js"):
      reply(number, response(.ok, files.script, type: "text/javascript; charset=utf-8"), at: now)
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
    let names = (request.parameter("open") ?? "").split(separator: ",").prefix(Self.mostOpenedMessages)
    let opened = names.filter { $0.utf8.count <= 32 }.map(String.init)
    connections[number]!.state = .events(
      EventQueue(), opened: opened, nextHeartbeat: now + PageConnection.heartbeatInterval)
    var text = head(.ok, type: "text/event-stream", length: nil)
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
    if status == .methodNotAllowed { text += "Allow: GET, POST\r\n" }
    text += "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    text += "Referrer-Policy: no-referrer\r\nContent-Security-Policy: \(contentSecurityPolicy)\r\n\r\n"
    return Array(text.utf8)
  }
}
