// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import Positioning
import Testing

@Suite("Calls on a connection with an unanswered call")
struct PipeliningTests {
  private static let status = #"{"method":"org.sextant.Location.GetStatus"}"#
  private static let request = #"{"method":"org.sextant.Location.RequestLocation"}"#
  private static let place = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)

  /// The first member of each reply's parameters, or its error.
  private func names(_ replies: [JSON]) -> [String] {
    replies.map { reply in
      if case .object(let members)? = reply["parameters"], reply["error"] == nil { return members.first?.name ?? "" }
      return reply["error"]?.string ?? ""
    }
  }

  @Test("A call behind a request that waits for a location is answered after it")
  func requests() throws {
    let daemon = try CalledDaemon(.authorizedAlways)
    let client = try daemon.client()
    client.send(Self.request, Self.status, Self.request, Self.request, Self.status)
    #expect(try client.replies(1, rounds: 5).isEmpty)
    daemon.location = Self.place
    #expect(names(try client.replies(5)) == ["location", "status", "location", "location", "status"])
  }

  @Test("A call behind one that waits for the line of a receiver is answered after it")
  func leases() throws {
    let daemon = try CalledDaemon()
    var receiver = ReceiverStatus(device: "sim:walk", isOpen: true)
    daemon.receivers = [receiver]
    let client = try daemon.client()
    client.send(Self.status)
    #expect(names(try client.replies(1)) == ["status"])
    client.send(
      #"{"method":"org.sextant.Receivers.Lease"}"#,
      #"{"method":"org.sextant.Receivers.KeepRecovery","parameters":{"recovery":"x"}}"#, Self.status)
    #expect(try client.replies(1, rounds: 5).isEmpty)
    // Without the path of its line, which is unknown, the receiver is refused.
    receiver.use = .lent
    daemon.receivers = [receiver]
    let errors = ["org.sextant.Receivers.NoReceiver", "org.sextant.Receivers.NotLent"]
    #expect(names(try client.replies(3)) == errors + ["status"])
  }

  @Test("A client that has closed its writing side gets the replies to its calls, and then the end of the connection")
  func halfClosed() throws {
    let daemon = try CalledDaemon(.authorizedAlways)
    let client = try daemon.client()
    client.send(Self.request, Self.status)
    client.endWriting()
    #expect(try client.replies(1, rounds: 5).isEmpty && !client.isClosed)
    daemon.location = Self.place
    #expect(names(try client.replies(3)) == ["location", "status"])
    #expect(client.isClosed && daemon.connections == 0)
  }
}
