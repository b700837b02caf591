// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Testing

@testable import sextantd

@Suite("The line of a receiver for a program")
struct LeaseTests {
  private let receiver = ReceiverStatus(device: "/dev/ttyACM0", isOpen: true)
  private let holder = Lease.Holder(name: "sextant", process: 412)

  private func refusal(
    _ receiver: ReceiverStatus?, isReadOnly: Bool = false, mayOpen: Bool = true, group: String? = nil,
    holder: Lease.Holder? = nil
  ) -> VarlinkError? {
    Lease.refusal(
      receiver, device: "/dev/gps", isReadOnly: isReadOnly, mayOpen: mayOpen, group: group, holder: holder)
  }

  @Test("A line that a program has is taken back at its end, not when gpsd's control socket adds the receiver")
  func addedWhileLent() throws {
    let daemon = try CalledDaemon()
    let path = "/dev/ttyACM0"
    daemon.receivers = [ReceiverStatus(device: "/dev/ttyACM1", isOpen: true), receiver]
    try daemon.round()
    #expect(try daemon.control("-\(path)") == "OK\n")
    let program = try daemon.client()
    program.send(#"{"method":"org.sextant.Receivers.Lease","parameters":{"device":"/dev/ttyACM0"}}"#)
    for _ in 0..<3 { try daemon.round() }
    #expect(try daemon.control("+\(path)") == "OK\n")
    for _ in 0..<3 { try daemon.round() }
    #expect(!daemon.lendings.contains(.takeBack(receiver: 1)), "\(daemon.lendings)")
    program.end()
    for _ in 0..<3 { try daemon.round() }
    #expect(daemon.lendings.last == .takeBack(receiver: 1), "\(daemon.lendings)")
    // Without a program the line is taken back at once.
    #expect(try daemon.control("-\(path)") == "OK\n" && daemon.control("+\(path)") == "OK\n")
    try daemon.round()
    #expect(daemon.lendings.suffix(2) == [.lend(receiver: 1), .takeBack(receiver: 1)], "\(daemon.lendings)")
  }

  @Test("A user who may open the device has the line of a receiver that no other program has")
  func permitted() { #expect(refusal(receiver) == nil) }

  @Test("An unknown receiver is refused with the name in the call")
  func unknown() {
    #expect(refusal(nil) == VarlinkError("org.sextant.Receivers.NoReceiver", ["device": "/dev/gps"]))
  }

  @Test("A user who may not open the device is told its group, and not who has the line")
  func forbidden() {
    #expect(
      refusal(receiver, isReadOnly: true, mayOpen: false, group: "gnss", holder: holder)
        == VarlinkError("org.sextant.Receivers.NotPermitted", ["device": "/dev/ttyACM0", "group": "gnss"]))
    #expect(
      refusal(receiver, mayOpen: false)
        == VarlinkError("org.sextant.Receivers.NotPermitted", ["device": "/dev/ttyACM0"]))
  }

  @Test("A second program is told who has the line")
  func held() {
    #expect(
      refusal(receiver, holder: holder)
        == VarlinkError("org.sextant.Receivers.Lent", ["device": "/dev/ttyACM0", "name": "sextant", "pid": 412]))
  }

  @Test("A service that sends nothing lends no line")
  func readOnly() { #expect(refusal(receiver, isReadOnly: true) == VarlinkError("org.sextant.Receivers.ReadOnly")) }

  @Test("The device's permissions decide; without a device yet, only root and the service's own user may")
  func users() {
    let access = NodeAccess(owner: 0, group: 20, mode: 0o660)
    #expect(Lease.User(number: 1000, groups: [20]).mayOpen(access, own: 999))
    #expect(!Lease.User(number: 999, groups: [999]).mayOpen(access, own: 999))
    #expect(Lease.User(number: 0, groups: []).mayOpen(nil, own: 999))
    #expect(Lease.User(number: 999, groups: []).mayOpen(nil, own: 999))
    #expect(!Lease.User(number: 1000, groups: [20]).mayOpen(nil, own: 999))
  }

  @Test("A device that is held is tried again for two seconds")
  func retries() {
    var lease = Lease(receiver: 0, call: nil)
    let start = Instant.zero + Milliseconds(1000)
    var now = start
    var tries = 0
    while lease.waits(at: now) {
      tries += 1
      guard let next = lease.retryAt else { break }
      #expect(next > now)
      now = next
    }
    #expect(tries > 10)
    #expect(now.milliseconds(since: start) == 2000)
    #expect(lease.retryAt == nil)
  }
}
