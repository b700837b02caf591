// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverRuntime
import Testing

@Suite("An attempt to reach a host")
struct HostConnectingTests {
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var attempt = HostConnecting(at: Instant(nanoseconds: 1_000_000_000))

  private mutating func actions() -> [HostConnecting.Action] {
    var actions: [HostConnecting.Action] = []
    while let action = attempt.nextAction() { actions.append(action) }
    return actions
  }

  /// Advances to the next deadline.
  private mutating func waitForTimeout() throws {
    now = try #require(attempt.deadline)
    attempt.wake(at: now)
  }

  @Test("Addresses are tried in turn until one is connected")
  mutating func turn() {
    #expect(actions() == [.resolve])
    attempt.found(count: 3, at: now)
    #expect(actions() == [.connect(0)])
    attempt.refused("Connection refused", at: now)
    #expect(actions() == [.close, .connect(1)])
    attempt.connected(awaitsReply: false, at: now)
    #expect(attempt.isEstablished && attempt.deadline == nil && attempt.failure == nil)
    #expect(actions().isEmpty)
  }

  @Test("After the last address the attempt fails with the last reason, and its sockets are closed")
  mutating func refused() {
    attempt.found(count: 2, at: now)
    attempt.refused("No route to host", at: now)
    attempt.refused("Connection refused", at: now)
    #expect(actions() == [.resolve, .connect(0), .close, .connect(1), .close])
    #expect(attempt.failure == .refused("Connection refused"))
    #expect(attempt.failure?.text.contains("Connection refused") == true)
    attempt.connected(awaitsReply: false, at: now)
    #expect(!attempt.isEstablished)
  }

  @Test("An address without a reply is given up after its time, and the next one is tried")
  mutating func silent() throws {
    attempt.found(count: 2, at: now)
    attempt.wake(at: now)
    #expect(actions() == [.resolve, .connect(0)])
    try waitForTimeout()
    #expect(actions() == [.close, .connect(1)])
    try waitForTimeout()
    #expect(actions() == [.close])
    #expect(attempt.failure == .noReply)
  }

  @Test("A lookup without an end fails after its time; a late result changes nothing")
  mutating func lookup() throws {
    try waitForTimeout()
    attempt.found(count: 1, at: now)
    #expect(attempt.failure == .noReply)
    #expect(actions() == [.resolve, .close])
  }

  @Test("A host without an address fails with the words of the name service")
  mutating func unknownHost() {
    attempt.notFound("Name or service not known")
    #expect(attempt.failure == .noSuchHost("Name or service not known"))
    #expect(attempt.deadline == nil)
  }

  @Test("A server that has to grant a request gets a limited time for it")
  mutating func request() throws {
    attempt.found(count: 1, at: now)
    attempt.connected(awaitsReply: true, at: now)
    #expect(!attempt.isEstablished && attempt.deadline != nil)
    var granted = attempt
    granted.granted()
    #expect(granted.isEstablished)
    var refused = attempt
    refused.ended(.notGranted("has no such device"))
    #expect(refused.failure == .notGranted("has no such device"))
    try waitForTimeout()
    #expect(attempt.failure == .noReply)
  }

  @Test("Pauses between attempts grow from half a second to 30 s")
  func pauses() {
    let pauses = (1...9).map { HostRetry.pause(afterFailures: $0).count }
    #expect(pauses == [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    #expect(HostRetry.pause(afterFailures: .max).count == 30_000)
  }
}
