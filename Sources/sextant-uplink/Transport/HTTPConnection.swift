// SPDX-License-Identifier: Apache-2.0

/// HTTP by libcurl, one request at a time. `unsafe`, because its handle is a pointer, which this value owns, and a request has
/// pointers to texts that last as long as the call.
import CUplink
import LinuxIO
import MonotonicTime

@safe struct HTTPConnection: ~Copyable {
  private let configuration: UplinkConfiguration
  private let password: String?
  private let report: @Sendable (TransportEvent) -> Void
  private var handle: OpaquePointer?
  private var limit = AttemptLimit()
  /// CURLE_OPERATION_TIMEDOUT.
  private static let timeout: Int32 = 28

  /// The next step after an error of libcurl.
  private static func nextStep(afterError code: Int32) -> String {
    switch code {
    // CURLE_COULDNT_RESOLVE_PROXY and _HOST.
    case 5, 6: "; check the host of `server`, and the name server"
    // CURLE_COULDNT_CONNECT and _OPERATION_TIMEDOUT.
    case 7, timeout: "; check the host and the port of `server`, and that it runs"
    // CURLE_SSL_CONNECT_ERROR, _CERTPROBLEM, _PEER_FAILED_VERIFICATION and _CACERT_BADFILE.
    case 35, 58, 60, 77: "; check `ca`, `cert` and `key`, their dates, and the time of this computer"
    default: ""
    }
  }

  static func loadLibrary() throws(UplinkFailure) {
    if cuplink_load_http() != 0 {
      throw UplinkFailure(.unavailable, "libcurl is not installed; install the package libcurl4")
    }
  }

  init(_ configuration: UplinkConfiguration, password: String?, report: @escaping @Sendable (TransportEvent) -> Void) {
    self.configuration = configuration
    self.password = password
    self.report = report
  }

  /// Runs until `end`.
  mutating func run(_ poller: consuming Poller, _ take: () -> [TransportCommand]) {
    while true {
      for command in take() {
        switch command {
        case .connect:
          if unsafe handle == nil { unsafe handle = cuplink_http_open() }
          // The connection is made by the first request.
          report(.connected)
        case .send(let sequence, let payload): send(payload, sequence)
        case .publish(let payload): send(payload, nil)
        case .disconnect: close()
        case .end:
          close()
          return
        }
      }
      guard (try? poller.wait(deadline: nil)) != nil else { return close() }
    }
  }

  private mutating func send(_ payload: Payload, _ sequence: UInt64?) {
    guard let handle = unsafe handle else { return }
    let server = configuration.server
    // OsmAnd's form of Traccar is a query.
    let isQuery = configuration.format == .traccar
    let url =
      isQuery
      ? "\(server.url)\(server.path.contains("?") ? "&" : "?")\(String(decoding: payload.body, as: UTF8.self))"
      : server.url
    let texts = CStrings()
    func text(_ value: String?) -> UnsafePointer<CChar>? { unsafe texts.copy(value) }
    let start = SystemClock.monotonic
    let result = unsafe payload.body.withUnsafeBytes { bytes in
      var request = unsafe cuplink_http_request()
      unsafe request.url = text(url)
      unsafe request.body = isQuery ? nil : bytes.baseAddress
      unsafe request.length = bytes.count
      unsafe request.content_type = text(payload.contentType)
      unsafe request.user = text(server.user)
      unsafe request.password = text(password)
      unsafe request.ca = text(configuration.authorities)
      unsafe request.certificate = text(configuration.certificate)
      unsafe request.key = text(configuration.key)
      unsafe request.agent = text("sextant-uplink")
      unsafe request.connect_milliseconds = Int(clamping: limit.time.count / 2)
      unsafe request.milliseconds = Int(clamping: limit.time.count)
      return withExtendedLifetime(texts) { unsafe cuplink_http_perform(handle, &request) }
    }
    report(.bytes(result.bytes))
    guard result.error == 0 else {
      let words =
        "\(server.text): \(unsafe String(cString: cuplink_http_error(handle)))\(Self.nextStep(afterError: result.error))"
      let hasRoute = server.isLocal || cuplink_has_route() != 0
      if result.error == Self.timeout { limit.expire() }
      // Later fixes of this round would fail likewise, and come again.
      close()
      return report(.failed(hasRoute ? .temporary(words) : .noRoute("\(words); there is no network")))
    }
    limit.answered(after: Milliseconds(seconds: SystemClock.monotonic.seconds(since: start)))
    switch (result.status, sequence) {
    case (200..<300, let sequence?): report(.acknowledged(sequence))
    case (400, let sequence?), (413, let sequence?): report(.refused(sequence, "HTTP \(result.status)"))
    case (200..<300, nil), (400, nil), (413, nil): break
    default:
      close()
      report(.failed(.temporary("\(server.text): HTTP \(result.status)\(Self.nextStep(afterStatus: result.status))")))
    }
  }

  private static func nextStep(afterStatus status: Int) -> String {
    switch status {
    case 401, 403: "; check the user and the password"
    case 404: "; check the path of `server`"
    case 300..<400: "; write the address that the server redirects to"
    case 500..<600: "; the server's log names the reason"
    default: ""
    }
  }

  private mutating func close() {
    unsafe cuplink_http_close(handle)
    unsafe handle = nil
  }
}
