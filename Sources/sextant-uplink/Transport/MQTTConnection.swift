// SPDX-License-Identifier: Apache-2.0

/// MQTT by libmosquitto. `unsafe`, because its handle is a pointer, which this value owns, and its events are memory that lasts until
/// the next call.
import CUplink
import LinuxIO
import MonotonicTime
import WireBytes

@safe struct MQTTConnection: ~Copyable {
  private let configuration: UplinkConfiguration
  private let writer: PayloadWriter
  private let password: String?
  private let report: @Sendable (TransportEvent) -> Void

  private enum Stage {
    case closed
    /// Until the broker's answer.
    case opening(since: Instant)
    case open
    /// Until the broker has closed.
    case closing(deadline: Instant)
  }

  private var stage = Stage.closed
  private var client: OpaquePointer?
  private var watched: (descriptor: Int32, interest: Poller.Interest)?
  /// The numbers of the fixes by the identifiers of their messages.
  private var sent: [Int32: UInt64] = [:]

  private var limit = AttemptLimit()
  /// While the connection is open.
  private var keepAlive: KeepAlive
  private static let closeTime = Milliseconds(2000)
  private let token: Poller.Token

  static func loadLibrary() throws(UplinkFailure) {
    if cuplink_load_mqtt() != 0 {
      throw UplinkFailure(.unavailable, "libmosquitto is not installed; install the package libmosquitto1")
    }
  }

  /// - Parameter token: the name of its socket in the poller.
  init(
    _ configuration: UplinkConfiguration, _ writer: PayloadWriter, password: String?,
    token: Poller.Token = Poller.Token(rawValue: 1), report: @escaping @Sendable (TransportEvent) -> Void
  ) {
    self.configuration = configuration
    self.writer = writer
    self.password = password
    self.token = token
    self.report = report
    keepAlive = Self.keepAlive(configuration)
  }

  private static func keepAlive(_ configuration: UplinkConfiguration) -> KeepAlive {
    KeepAlive(Milliseconds(seconds: Double(configuration.keepaliveSeconds)), at: now())
  }

  private static func now() -> Instant { SystemClock.monotonic }

  /// Runs until `end`.
  mutating func run(_ poller: consuming Poller, _ take: () -> [TransportCommand]) {
    var endDeadline: Instant?
    while true {
      for command in take() {
        if case .end = command { endDeadline = Self.now() + Self.closeTime } else { perform(command, &poller) }
      }
      if let deadline = endDeadline {
        if case .open = stage, sent.isEmpty || deadline <= Self.now() { beginToClose() }
        if case .closed = stage { break }
        if deadline + Self.closeTime <= Self.now() { break }
      }
      watch(&poller)
      let deadline = Instant.earlier(self.deadline, endDeadline.map { $0 + Self.closeTime })
      guard let events = try? poller.wait(deadline: deadline?.nanoseconds) else { break }
      work(events, &poller)
    }
    close(&poller)
  }

  /// Takes the events of a wait, and does what the time requires. ``watch(_:)`` follows before the next wait.
  mutating func work(_ events: [Poller.Event], _ poller: inout Poller) {
    var problem: String?
    for event in events { problem = handle(event) ?? problem }
    if let client = unsafe client {
      let code = unsafe cuplink_mqtt_misc(client)
      if code != 0 { problem = problem ?? Self.text(code) }
      keepAlive.called(at: Self.now())
    }
    takeEvents(problem, &poller)
    if let problem, unsafe client != nil {
      if isClosing { close(&poller) } else { fail(problem, &poller) }
    }
    checkTime(&poller)
  }

  /// The topic of the server's commands; nil if none is allowed.
  private var commandTopic: String? { configuration.allowed.isEmpty ? nil : configuration.topic + "/cmd" }

  /// The reasons of MQTT 5 for a message that will never be taken: invalid topic, too large, invalid payload.
  private static let reasonsOfMessage: Set<Int32> = [144, 149, 153]

  private var isClosing: Bool { if case .closing = stage { true } else { false } }

  /// When ``work(_:_:)`` is due without an event. The library is called to send its keep-alive message, and to notice that the
  /// broker's is missing.
  var deadline: Instant? {
    switch stage {
    case .closed: nil
    case .opening(let start): start + limit.time
    case .closing(let deadline): deadline
    case .open: keepAlive.deadline
    }
  }

  /// Performs a command other than `end`.
  mutating func perform(_ command: TransportCommand, _ poller: inout Poller) {
    switch command {
    case .connect: connect(&poller)
    case .send(let sequence, let payload):
      guard case .open = stage else { return }
      guard let identifier = publish(payload, &poller) else { return }
      sent[identifier] = sequence
    case .publish(let payload): if case .open = stage { _ = publish(payload, &poller) }
    case .disconnect: beginToClose()
    case .end: break
    }
  }

  private mutating func connect(_ poller: inout Poller) {
    close(&poller)
    let server = configuration.server
    var reason: UnsafePointer<CChar>?
    let opened = unsafe withSettings { settings in unsafe cuplink_mqtt_open(settings, &reason) }
    guard let opened = unsafe opened else {
      let text = unsafe reason.map { unsafe String(cString: $0) } ?? "no memory"
      return report(.failed(.temporary("MQTT: \(text); check ca, cert and key in the configuration")))
    }
    unsafe client = opened
    stage = .opening(since: Self.now())
    let code = unsafe cuplink_mqtt_connect(
      opened, server.host, Int32(server.port), Int32(configuration.keepaliveSeconds))
    if code != 0 { fail(Self.text(code), &poller) }
  }

  private func withSettings<Result>(_ body: (UnsafePointer<cuplink_mqtt_settings>) -> Result) -> Result {
    let will = writer.will(connectedSince: SystemClock.utcNanoseconds / 1_000_000_000)
    let texts = CStrings()
    func text(_ value: String?) -> UnsafePointer<CChar>? { unsafe texts.copy(value) }
    return unsafe (will?.body ?? []).withUnsafeBytes { bytes in
      var settings = unsafe cuplink_mqtt_settings()
      unsafe settings.client_id = text(configuration.clientID)
      unsafe settings.user = text(configuration.server.user)
      unsafe settings.password = text(password)
      unsafe settings.ca = text(configuration.authorities)
      unsafe settings.certificate = text(configuration.certificate)
      unsafe settings.key = text(configuration.key)
      unsafe settings.alpn = text(configuration.alpn)
      unsafe settings.will_topic = text(will?.topic)
      unsafe settings.will = bytes.baseAddress
      unsafe settings.will_length = bytes.count
      unsafe settings.will_retained = will?.isRetained == true ? 1 : 0
      unsafe settings.version = configuration.mqttVersion
      unsafe settings.uses_tls = configuration.server.usesTLS ? 1 : 0
      // A longer command is refused.
      unsafe settings.payload_limit = RemoteCommand.messageLimit + 1
      // Commands that came while the connection was closed wait at the broker.
      unsafe settings.clean = configuration.allowed.isEmpty ? 1 : 0
      return withExtendedLifetime(texts) { unsafe body(&settings) }
    }
  }

  private mutating func publish(_ payload: Payload, _ poller: inout Poller) -> Int32? {
    guard let client = unsafe client else { return nil }
    var identifier: Int32 = 0
    let code = unsafe payload.body.withUnsafeBytes { bytes in
      unsafe cuplink_mqtt_publish(
        client, &identifier, payload.topic, bytes.baseAddress, bytes.count, payload.isRetained ? 1 : 0)
    }
    guard code == 0 else {
      fail(Self.text(code), &poller)
      return nil
    }
    keepAlive.sent(at: Self.now())
    // The message, its topic, and the header and acknowledgement of MQTT.
    report(.bytes(UInt64(payload.body.count + payload.topic.utf8.count + 11)))
    return identifier
  }

  /// Returns the library's error.
  private mutating func handle(_ event: Poller.Event) -> String? {
    guard let client = unsafe client else { return nil }
    let code: Int32
    switch event {
    // The library notices the end of a connection by reading.
    case .readable(token), .hangUp(token): code = unsafe cuplink_mqtt_read(client)
    case .writable(token): code = unsafe cuplink_mqtt_write(client)
    default: return nil
    }
    return code == 0 ? nil : Self.text(code)
  }

  /// - Parameter problem: the error of the call that led to these events.
  private mutating func takeEvents(_ problem: String?, _ poller: inout Poller) {
    while let client = unsafe client {
      let event = unsafe cuplink_mqtt_next(client)
      let code = unsafe event.code
      switch unsafe event.kind {
      case CUPLINK_MQTT_CONNECTED:
        if code != 0 {
          let words = unsafe String(cString: cuplink_mqtt_refusal(code, configuration.mqttVersion))
          fail("the broker refuses the connection: \(words); check the user, the password and `client-id`", &poller)
          return
        }
        if case .opening(let start) = stage {
          limit.answered(after: Milliseconds(seconds: Self.now().seconds(since: start)))
        }
        stage = .open
        keepAlive = Self.keepAlive(configuration)
        if let commandTopic {
          let code = unsafe cuplink_mqtt_subscribe(client, commandTopic)
          if code != 0 { return fail(Self.text(code), &poller) }
        }
        for payload in writer.greetings() { _ = publish(payload, &poller) }
        report(.connected)
      case CUPLINK_MQTT_PUBLISHED:
        guard let sequence = sent.removeValue(forKey: unsafe event.identifier) else { continue }
        if code < 128 {
          report(.acknowledged(sequence))
          continue
        }
        let words = unsafe String(cString: cuplink_mqtt_refusal(code, 5))
        guard Self.reasonsOfMessage.contains(code) else {
          fail("the broker takes no fix: \(words)", &poller)
          return
        }
        report(.refused(sequence, words))
      case CUPLINK_MQTT_SUBSCRIBED:
        guard let commandTopic else { continue }
        let words = "the broker refuses the subscription to \(commandTopic): no command arrives"
        report(.subscribed(refusal: code < 128 ? nil : "\(words); permit it to the user at the broker"))
      case CUPLINK_MQTT_MESSAGE:
        keepAlive.received(at: Self.now())
        // A broker may send messages without a subscription.
        guard let commandTopic, let topic = unsafe event.topic.map({ unsafe ExactText(String(cString: $0)) }),
          topic == ExactText(commandTopic)
        else { continue }
        let message = unsafe UnsafeRawBufferPointer(start: event.payload, count: event.length)
        report(.bytes(UInt64(unsafe event.size)))
        report(.command(unsafe Array(message)))
      case CUPLINK_MQTT_DISCONNECTED:
        if isClosing { close(&poller) } else { fail(problem ?? Self.text(code), &poller) }
        return
      default: return
      }
    }
  }

  private mutating func checkTime(_ poller: inout Poller) {
    let now = Self.now()
    switch stage {
    case .opening(let start) where start + limit.time <= now:
      limit.expire()
      fail("the broker does not answer in time; check the host and the port of `server`", &poller)
    case .closing(let deadline) where deadline <= now: close(&poller)
    default: break
    }
  }

  private mutating func beginToClose() {
    guard let client = unsafe client else { return stage = .closed }
    unsafe cuplink_mqtt_disconnect(client)
    if case .closing = stage { return }
    stage = .closing(deadline: Self.now() + Self.closeTime)
  }

  private mutating func fail(_ text: String, _ poller: inout Poller) {
    let server = configuration.server
    close(&poller)
    let words = "\(server.text): \(text)"
    let hasRoute = server.isLocal || cuplink_has_route() != 0
    report(.failed(hasRoute ? .temporary(words) : .noRoute("\(words); there is no network")))
  }

  private mutating func close(_ poller: inout Poller) {
    if let watched { poller.remove(watched.descriptor) }
    watched = nil
    unsafe cuplink_mqtt_close(client)
    unsafe client = nil
    sent = [:]
    stage = .closed
  }

  /// Waits for the socket of the library, which changes with each connection.
  mutating func watch(_ poller: inout Poller) {
    let descriptor = unsafe client.map { unsafe cuplink_mqtt_socket($0) } ?? -1
    let wantsWrite = unsafe client.map { unsafe cuplink_mqtt_wants_write($0) != 0 } ?? false
    let interest: Poller.Interest = wantsWrite ? [.readable, .writable] : .readable
    if let watched, watched.descriptor == descriptor {
      if watched.interest != interest { try? poller.change(descriptor, token: token, interest: interest) }
      self.watched = (descriptor, interest)
      return
    }
    if let watched { poller.remove(watched.descriptor) }
    watched = nil
    guard descriptor >= 0, (try? poller.add(descriptor, token: token, interest: interest)) != nil else { return }
    watched = (descriptor, interest)
  }

  /// The library's words for an error, and the next step.
  private static func text(_ code: Int32) -> String {
    let step =
      switch code {
      // MOSQ_ERR_TLS, _TLS_HANDSHAKE and _OCSP.
      case 8, 23, 26: "; check `ca`, `cert` and `key`, their dates, and the time of this computer"
      // MOSQ_ERR_EAI and _LOOKUP.
      case 15, 20: "; check the host of `server`, and the name server"
      // MOSQ_ERR_ERRNO.
      case 14: "; check the host and the port of `server`, and that the broker runs"
      // MOSQ_ERR_CONN_LOST.
      case 7: "; the broker's log names the reason"
      default: ""
      }
    return unsafe String(cString: cuplink_mqtt_error(code)) + step
  }
}
