// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import SerialPort
import WireBytes

/// A download of AssistNow by HTTPS, on the thread of the poller: the connection, the request and the answer.
package final class AssistNowDownload {
  /// The reason why there is no answer, with the next step.
  package enum Failure: Error, Equatable {
    /// The network, TLS or the server fails; another attempt may succeed.
    case unreachable(String)
    /// The server refuses the request: the same one will be refused again.
    case refused(String)
    /// The account has used its requests (429, RFC 6585).
    case limited
  }

  /// The time limit of the whole download: 0.1 MB over a slow modem.
  private static let timeout = Milliseconds(120_000)

  private let serverName: String
  private let token: Poller.Token
  private let until: Instant
  private let host: HostConnection
  private let request: [UInt8]
  private var received: [UInt8] = []
  /// The result; nil during the download.
  package private(set) var result: Result<AssistNowAnswer, Failure>?

  /// Starts a download.
  ///
  /// - Parameters:
  ///   - source: the account and the data.
  ///   - server: the host, which its certificate must name, and `:PORT` if that is not 443.
  ///   - token: the token of the socket in the events of the poller.
  package init(
    _ source: AssistNow, from server: String, token: Poller.Token, _ poller: inout Poller,
    at now: Instant
  ) {
    let parts = server.split(separator: ":", maxSplits: 1)
    serverName = parts.first.map(String.init) ?? server
    (self.token, until) = (token, now + Self.timeout)
    request = source.request(to: server, version: SextantVersion.text)
    host = HostConnection(
      to: serverName, port: parts.count > 1 ? UInt16(parts[1]) ?? 443 : 443, .stream(awaitsReply: false), token: token,
      &poller, at: now)
    if !TLSClient.isAvailable { fail(TLSFailure.noLibrary.text, &poller) }
  }

  /// The time at which `wake` is due; nil after the end.
  package var deadline: Instant? { result == nil ? Instant.earlier(until, host.deadline) : nil }

  /// Handles an event of the poller, which may concern another descriptor.
  package func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    guard result == nil else { return }
    switch event {
    case .woken, .readable(token), .writable(token), .hangUp(token): break
    default: return
    }
    guard host.encryption != nil else {
      host.handle(event, &poller, at: now)
      return continueConnecting(&poller, at: now)
    }
    if event == .woken { return }
    read(&poller)
    if result == nil { send([], &poller) }
  }

  package func wake(_ poller: inout Poller, at now: Instant) {
    guard result == nil else { return }
    if now >= until { return fail("does not reply in time; check the network", &poller) }
    guard let due = host.deadline, now >= due else { return }
    host.wake(&poller, at: now)
    continueConnecting(&poller, at: now)
  }

  /// Ends the download without a result.
  package func cancel(_ poller: inout Poller) { host.close(&poller) }

  private func continueConnecting(_ poller: inout Poller, at now: Instant) {
    if let failure = host.attempt.failure { return fail(failure.text, &poller) }
    guard host.isStreaming else { return }
    do { try host.encrypt(for: serverName) } catch { return fail(error.text, &poller) }
    send(request, &poller)
  }

  private func send(_ bytes: [UInt8], _ poller: inout Poller) {
    do { try host.send(bytes, &poller) } catch { fail("the connection is lost (\(error.reason))", &poller) }
  }

  private func read(_ poller: inout Poller) {
    do {
      _ = try host.read { received += [UInt8](copying: $0) }
    } catch {
      return fail("the connection is lost (\(error.reason))", &poller)
    }
    if received.count > HTTPAnswer.longest { return fail("sends more than orbits can amount to", &poller) }
    switch host.encryption {
    // An answer that was cut is found by its length.
    case .closed, .failed(.truncated): end(&poller)
    case .failed(let failure): fail(failure.text, &poller)
    case .handshaking, .open, nil: break
    }
  }

  private func fail(_ reason: String, _ poller: inout Poller) { end(.failure(.unreachable(reason)), &poller) }

  private func end(_ result: Result<AssistNowAnswer, Failure>, _ poller: inout Poller) {
    self.result = result
    host.close(&poller)
  }

  /// Reads the answer of a server that has closed the connection.
  private func end(_ poller: inout Poller) {
    do throws(HTTPAnswer.Malformed) {
      let answer = try HTTPAnswer(received)
      switch answer.status {
      case 200:
        do throws(AssistNowAnswer.Refusal) {
          end(.success(try unsafe AssistNowAnswer(answer.body.span.bytes)), &poller)
        } catch {
          fail(error.text, &poller)
        }
      case 429: end(.failure(.limited), &poller)
      case 408, 500...: fail("fails (HTTP status \(answer.status))", &poller)
      case 300..<400: end(.failure(.refused("redirects, which is not followed")), &poller)
      default:
        // The words of the server may repeat the account.
        let advice = "check the account in `assistnow`, and that it includes this kind of data"
        end(.failure(.refused("refuses the request (HTTP status \(answer.status)); \(advice)")), &poller)
      }
    } catch {
      fail(error == .cut ? "closes the connection before the end of its answer" : "does not reply with HTTP", &poller)
    }
  }
}
