// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MonotonicTime
import RemoteLocation
import SystemPackage
import Varlink

/// A connection of a command to the daemon.
struct ServiceClient: ~Copyable {
  /// The longest wait for a reply.
  private static let timeout = Milliseconds(5000)

  private let path: String
  private let socket: UnixSocket
  private var varlink = VarlinkClientConnection()

  /// The socket that a command uses: SEXTANT_SERVICE, else that of the system.
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
    } catch {
      let isForbidden = error == .permissionDenied
      throw CommandFailure(
        isForbidden ? .noPermission : .unavailable,
        "\(path): \(error); the location service is not running (start it with `systemctl start sextantd`, or "
          + "`sextant serve`)")
    }
  }

  /// Returns the parameters of the reply to a call.
  ///
  /// - Parameter failure: returns the failure for an error of the interface; nil for the general one.
  mutating func call(
    _ method: String, _ parameters: JSON = .empty, failure: (VarlinkError) -> CommandFailure? = { _ in nil }
  ) throws -> JSON {
    _ = try varlink.call(VarlinkCall(method, parameters))
    var poller = try Poller()
    try poller.add(socket.descriptor, token: Poller.Token(rawValue: 1), interest: [.readable, .writable])
    let limit = SystemClock.monotonic + Self.timeout
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while SystemClock.monotonic < limit {
      if varlink.outputBytesWaiting > 0, case .bytes(let count) = socket.write(varlink.output) {
        varlink.didWrite(count)
        let interest: Poller.Interest = varlink.outputBytesWaiting > 0 ? [.readable, .writable] : .readable
        try poller.change(socket.descriptor, token: Poller.Token(rawValue: 1), interest: interest)
      }
      switch socket.read(into: &buffer) {
      case .bytes(let count): varlink.receive(buffer.span.extracting(0..<count))
      case .ended:
        throw CommandFailure(.unavailable, "\(path): the location service has closed the connection; try again")
      case .wouldWait: _ = try poller.wait(deadline: limit.nanoseconds)
      }
      switch varlink.nextEvent() {
      case .reply(_, .success(let parameters, _)): return parameters
      case .reply(_, .failure(let error)):
        throw failure(error) ?? CommandFailure(.unavailable, "\(path): the location service answers with \(error.name)")
      case .failed(let error):
        throw CommandFailure(.badData, "\(path): \(error); is this the socket of sextantd?")
      case .message, nil: break
      }
    }
    throw CommandFailure(.unavailable, "\(path): the location service does not answer; see `journalctl -u sextantd`")
  }
}
