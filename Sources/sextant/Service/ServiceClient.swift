// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import SystemPackage

/// A connection of a command to the daemon.
struct ServiceClient: ~Copyable {
  /// The longest wait for a reply of a service that runs.
  static let timeout = Milliseconds(5000)
  /// The longest wait for the first reply of a service that process 1 starts: its standard limit for a start, DefaultTimeoutStartSec=
  /// in systemd-system.conf(5).
  static let startTimeout = Milliseconds(90_000)

  let path: String
  private let socket: UnixSocket
  private var varlink = VarlinkClientConnection()
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  /// A descriptor that the service has sent.
  private var passed: OwnedDescriptor?
  /// Whether process 1 listens at the socket, which starts the service at a connection, and no reply has come yet.
  private var mayBeStarting: Bool

  /// The socket that a command uses: SEXTANT_SERVICE, else the system's socket.
  static var socketPath: String {
    guard let path = environment("SEXTANT_SERVICE"), !path.isEmpty, path != "none" else {
      return ServiceChoice.defaultSocket
    }
    return path
  }

  init(path: String) throws {
    self.path = path
    do throws(Errno) {
      socket = try UnixSocket(connectingTo: path)
      mayBeStarting = socket.peer?.process == 1
    } catch {
      let isForbidden = error == .permissionDenied
      throw CommandFailure(
        isForbidden ? .noPermission : .unavailable,
        "\(path): \(error); the location service is not running (start it with `systemctl start sextantd`, or "
          + "`sextant serve`)")
    }
  }

  /// For pollers.
  var descriptor: Int32 { socket.descriptor }

  /// Returns the parameters of the reply to a call.
  ///
  /// - Parameter failure: returns the failure for an error of the interface; nil for the general one.
  mutating func call(
    _ method: String, _ parameters: JSON = .empty, failure: (VarlinkError) -> CommandFailure? = { _ in nil }
  ) throws -> JSON {
    switch try ask(VarlinkCall(method, parameters)) {
    case .success(let parameters, _): return parameters
    case .failure(let error):
      throw failure(error) ?? CommandFailure(.unavailable, "\(path): the location service answers with \(error.name)")
    }
  }

  /// Returns the first reply to a call.
  ///
  /// - Parameters:
  ///   - timeout: the longest wait for a service that runs.
  ///   - startTimeout: the longest wait for the first reply of a service that process 1 may be starting.
  ///   - isSlow: called once if the reply takes longer than a second.
  mutating func ask(
    _ call: VarlinkCall, within timeout: Milliseconds = Self.timeout,
    startingWithin startTimeout: Milliseconds = Self.startTimeout,
    isSlow: () -> Void = { printNotice("waiting for the location service") }
  ) throws -> VarlinkReply {
    _ = try varlink.call(call)
    let start = SystemClock.monotonic
    let limit = start + (mayBeStarting ? max(timeout, startTimeout) : timeout)
    var slowAt: Instant? = start + Milliseconds(1000)
    var poller = try Poller()
    let token = Poller.Token(rawValue: 1)
    try poller.add(socket.descriptor, token: token, interest: [.readable, .writable])
    while SystemClock.monotonic < limit {
      if varlink.outputBytesWaiting > 0, write(), varlink.outputBytesWaiting == 0 {
        try poller.change(socket.descriptor, token: token, interest: .readable)
      }
      if let reply = try nextReply() {
        mayBeStarting = false
        return reply
      }
      switch read() {
      case .bytes: break
      case .ended:
        throw CommandFailure(.unavailable, "\(path): the location service has closed the connection; try again")
      case .wouldWait: _ = try poller.wait(deadline: Instant.earlier(limit, slowAt)?.nanoseconds)
      }
      if let due = slowAt, SystemClock.monotonic >= due {
        slowAt = nil
        isSlow()
      }
    }
    throw CommandFailure(.unavailable, "\(path): the location service does not answer; see `journalctl -u sextantd`")
  }

  /// Sends a call without a reply. Returns whether the kernel has all of it, from where the service gets it although this
  /// process may be killed.
  mutating func sendOneway(_ method: String, _ parameters: JSON) -> Bool {
    guard (try? varlink.call(VarlinkCall(method, parameters, .oneway))) != nil else { return false }
    while varlink.outputBytesWaiting > 0 {
      guard write() else { return false }
      if varlink.outputBytesWaiting > 0, !OutputRoom.wait(socket.descriptor, ending: -1) { return false }
    }
    return true
  }

  /// Returns the next reply that was read; nil without one.
  mutating func nextReply() throws -> VarlinkReply? {
    switch varlink.nextEvent() {
    case .reply(_, let reply): return reply
    case .failed(let error):
      throw CommandFailure(.badData, "\(path): \(error); is this the socket of sextantd?")
    case .message, nil: return nil
    }
  }

  /// Reads what is there, without waiting.
  mutating func read() -> Transfer {
    let result = socket.read(into: &buffer, descriptor: &passed)
    if case .bytes(let count) = result {
      let bytes = buffer
      varlink.receive(bytes.span.extracting(0..<count))
    }
    return result
  }

  /// Returns the descriptor that came with a reply. A descriptor that is not taken is closed with the connection.
  mutating func takeDescriptor() -> OwnedDescriptor? { passed.take() }

  /// Returns false if the connection is lost.
  private mutating func write() -> Bool {
    let result = socket.write(varlink.output)
    switch result {
    case .bytes(let count): varlink.didWrite(count)
    case .wouldWait: break
    case .ended: return false
    }
    return true
  }
}
