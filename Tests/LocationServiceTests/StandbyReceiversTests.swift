// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import SerialPort
import Testing

@testable import LocationService

@Suite("Standby receivers without names")
struct StandbyReceiversTests {
  private static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private static func port(_ node: String, vendorID: UInt16 = 0x1546, productID: UInt16 = 0x01a8) -> ReceiverPort {
    var attributes = DeviceAttributes(node: node, subsystem: .tty)
    (attributes.vendorID, attributes.productID) = (vendorID, productID)
    attributes.path = "usb-\(node)"
    return ReceiverPort(attributes)
  }

  @Test("SU-19 every receiver but the first one stands by")
  func present() {
    var receivers = StandbyReceivers()
    for node in ["/dev/ttyACM0", "/dev/ttyACM1", "/dev/ttyACM2"] {
      receivers.receive(DeviceEvent(.added, Self.port(node)), at: Self.instant(1))
    }
    #expect(receivers.deadline == Self.instant(4))
    let early = receivers.takeDue(at: Self.instant(3.9)) { _ in false }
    #expect(early.isEmpty)
    let nodes = receivers.takeDue(at: Self.instant(4)) { $0.node == "/dev/ttyACM0" }
    #expect(nodes == ["/dev/ttyACM1", "/dev/ttyACM2"])
    #expect(receivers.deadline == nil)
    let again = receivers.takeDue(at: Self.instant(9)) { _ in false }
    #expect(again.isEmpty)
  }

  @Test("SU-19 a receiver that comes later stands by as well; one that goes within three seconds does not")
  func later() {
    var receivers = StandbyReceivers()
    receivers.receive(DeviceEvent(.added, Self.port("/dev/ttyACM1")), at: Self.instant(100))
    receivers.receive(DeviceEvent(.added, Self.port("/dev/ttyACM2")), at: Self.instant(101))
    receivers.receive(DeviceEvent(.removed, Self.port("/dev/ttyACM1")), at: Self.instant(102))
    let nodes = receivers.takeDue(at: Self.instant(110)) { _ in false }
    #expect(nodes == ["/dev/ttyACM2"])
  }

  @Test("A bridge may have anything behind it, and is not opened beside a receiver")
  func bridge() {
    var receivers = StandbyReceivers()
    receivers.receive(
      DeviceEvent(.added, Self.port("/dev/ttyUSB0", vendorID: 0x0403, productID: 0x6001)), at: Self.instant(1))
    receivers.receive(
      DeviceEvent(.added, Self.port("/dev/ttyACM5", vendorID: 0x2341, productID: 0x0043)), at: Self.instant(1))
    #expect(receivers.deadline == nil)
  }

  @Test("The number of standby receivers is limited")
  func most() {
    var receivers = StandbyReceivers()
    for number in 0..<9 {
      receivers.receive(DeviceEvent(.added, Self.port("/dev/ttyACM\(number)")), at: Self.instant(1))
    }
    let nodes = receivers.takeDue(at: Self.instant(4)) { _ in false }
    #expect(nodes.count == StandbyReceivers.limit)
  }
}
