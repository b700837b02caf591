// SPDX-License-Identifier: Apache-2.0
import CUplink
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import Synchronization
import SystemPackage

/// Performs what ``Uplink`` decides: the location service, the connection's thread, the kernel's routes and the control socket.
final class UplinkRuntime<Storage: QueueStorage> {
  private var uplink: Uplink<Storage>
  private let configuration: UplinkConfiguration
  private let folder: String
  private let inbox: Inbox
  private let service: RemoteLocationService
  private let client: ServiceClient
  private let manager: ClientID
  private let output: Output

  /// Where messages go.
  enum Output {
    case server(Transport)
    /// A dry run: printed, and acknowledged.
    case print(PayloadWriter)
  }

  static var settingsName: String { "settings" }
  static var controlName: String { "control" }
  /// The longest time from a signal to the end.
  private static var endTime: Milliseconds { Milliseconds(5000) }

  /// - Parameters:
  ///   - folder: the folder of the queue.
  ///   - makeOutput: makes the connection, which reports to the inbox.
  init(
    _ uplink: Uplink<Storage>, _ configuration: UplinkConfiguration, folder: String, socket: String, inbox: Inbox,
    output: Output
  ) {
    self.uplink = uplink
    self.configuration = configuration
    self.folder = folder
    self.inbox = inbox
    self.output = output
    client = ServiceClient(inbox)
    var keys = UsageKeys()
    keys.whenInUse = "The position is sent to \(configuration.server.text)."
    keys.alwaysAndWhenInUse = keys.whenInUse
    keys.hasLocationMode = true
    service = RemoteLocationService(path: socket, app: AppDescription(identifier: "sextant-uplink", keys: keys)) {
      printNotice($0)
    }
    manager = service.add(client)
  }

  /// Runs until SIGTERM or SIGINT.
  ///
  /// - Parameter control: the socket for `sextant uplink status`; nil for none.
  func run(_ poller: consuming Poller, control: consuming UnixSocket?) throws {
    var poller = poller
    let routes = cuplink_open_routes()
    if routes >= 0 { try poller.add(routes, token: Token.routes) }
    defer { if routes >= 0 { close(routes) } }
    let listener = control?.descriptor
    if let listener { try poller.add(listener, token: Token.control) }
    uplink.battery = HostBattery.charge()
    perform(uplink.start(at: SystemClock.monotonic))
    var pause = AcceptPause()
    // A look-up of a name, or a request, does not delay the end.
    var end: Instant?
    while true {
      let deadline = end ?? .earlier(uplink.deadline, pause.deadline)
      for event in try poller.wait(deadline: deadline?.nanoseconds) {
        switch event {
        case .signal(.terminate), .signal(.interrupt), .signal(.hangUp):
          if end != nil { return }
          end = SystemClock.monotonic + Self.endTime
          service.call(.stopUpdatingLocation, by: manager)
          handle(.end)
          if case .print = output { return service.finish() }
        case .readable(Token.routes):
          cuplink_drain_routes(routes)
          handle(.routesChanged)
        case .readable(Token.control):
          do throws(Errno) {
            while let connection = try control?.accept() { answer(connection) }
            pause.accepted()
          } catch {
            if pause.begin(at: SystemClock.monotonic) { printNotice("the status cannot be shown: \(error)") }
            if let listener { try? poller.change(listener, token: Token.control, interest: pause.interest) }
          }
        case .timeout where end != nil:
          handle(.end)
          return service.finish()
        case .timeout: handle(.wake)
        default: break
        }
      }
      if pause.end(at: SystemClock.monotonic), let listener {
        try? poller.change(listener, token: Token.control, interest: pause.interest)
      }
      for message in inbox.take() {
        switch message {
        case .event(let event, let ticket):
          guard service.beginDelivery(of: event, ticket, to: manager) else { continue }
          receive(event)
        case .transport(.ended):
          // The last acknowledgements are written.
          handle(.end)
          return service.finish()
        // Without the kernel's reports there is a back-off.
        case .transport(.failed(.noRoute(let text))) where routes < 0:
          handle(.transport(.failed(.temporary(text))))
        case .transport(let event): handle(.transport(event))
        }
      }
    }
  }

  private func receive(_ event: DelegateEvent) {
    switch event {
    case .didUpdateLocations(let locations):
      uplink.battery = HostBattery.charge()
      handle(.locations(locations))
    case .didFail(let error): handle(.requestFailed(isPermitted: error != .denied))
    case .didChangeAuthorization(let status, _): if status.isAuthorized { handle(.permitted) }
    case .didEnter(let region): handle(.crossed(region: region.identifier, isEntry: true))
    case .didExit(let region): handle(.crossed(region: region.identifier, isEntry: false))
    case .didDetermineState(let state, let region):
      if state != .unknown { handle(.determined(region: region.identifier, isInside: state == .inside)) }
    case .monitoringDidFail(let region?, let error):
      printNotice("the region `\(region.identifier)` is not monitored (error \(error.rawValue))")
    default: break
    }
  }

  private func handle(_ event: Uplink<Storage>.Event) {
    perform(uplink.receive(event, utcNanoseconds: SystemClock.utcNanoseconds, at: SystemClock.monotonic))
  }

  private func perform(_ actions: [Uplink<Storage>.Action]) {
    for action in actions {
      switch action {
      case .call(let call): service.call(call, by: manager)
      case .storeSettings(let settings):
        guard let text = try? settings.text() else { continue }
        do throws(FileError) {
          try PrivateFile.replace("\(folder)/\(Self.settingsName)", with: String(decoding: text, as: UTF8.self))
        } catch {
          printNotice("\(error.description); the settings of the server last until the end of the program")
        }
      case .log(let text): printNotice(text)
      case .transport(let command):
        switch output {
        case .server(let transport): transport.perform(command)
        case .print(let writer): printed(command, writer)
        }
      }
    }
  }

  /// A dry run has a server that takes everything.
  private func printed(_ command: TransportCommand, _ writer: PayloadWriter) {
    switch command {
    case .connect:
      if configuration.server.isMQTT { writer.greetings().forEach(printPayload) }
      inbox.add(.transport(.connected))
    case .send(let sequence, let payload):
      printPayload(payload)
      inbox.add(.transport(.acknowledged(sequence)))
    case .publish(let payload): printPayload(payload)
    case .disconnect, .end: break
    }
  }

  private func printPayload(_ payload: Payload) {
    let place =
      configuration.server.isMQTT ? "\(configuration.server.text) \(payload.topic)" : configuration.server.text
    let line = Array("\(place) \(String(decoding: payload.body, as: UTF8.self))\n".utf8)
    var written = 0
    while written < line.count {
      let count = unsafe line[written...].withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { return }
      written += max(0, count)
    }
  }

  /// A client gets one line, which fits into the buffer of a new socket.
  private func answer(_ connection: borrowing UnixSocket) {
    let text = (try? uplink.status(utcNanoseconds: SystemClock.utcNanoseconds).text()) ?? []
    _ = connection.write((text + [UInt8(ascii: "\n")]).span)
  }
}

private enum Token {
  static let routes = Poller.Token(rawValue: 1)
  static let control = Poller.Token(rawValue: 2)
}

/// The reports of other threads to the main thread.
final class Inbox: Sendable {
  enum Message: Sendable {
    case event(DelegateEvent, Ticket)
    case transport(TransportEvent)
  }

  private let messages = Mutex<[Message]>([])
  private let waker: Poller.Waker

  init(_ waker: Poller.Waker) { self.waker = waker }

  func add(_ message: Message) {
    messages.withLock { $0.append(message) }
    waker.wake()
  }

  func take() -> [Message] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}

/// The manager of the location service.
private final class ServiceClient: LocationServiceClient {
  private let inbox: Inbox

  init(_ inbox: Inbox) { self.inbox = inbox }

  func receive(_ event: DelegateEvent, _ ticket: Ticket) { inbox.add(.event(event, ticket)) }
  func temporaryAccuracyAnswered(token: Int, _ error: PositioningError?, _ refusal: AccuracyRefusal?) {}
  func calibrationShows(_ shows: Bool) {}
}
