// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

@testable import SerialPort

/// Devices to plug in.
extension DeviceAttributes {
  /// A u-blox receiver in factory state, without a serial number.
  static func receiver(_ node: String, socket: String = "1", serialNumber: String? = nil) -> DeviceAttributes {
    var attributes = DeviceAttributes(node: node, subsystem: .tty)
    attributes.vendorID = 0x1546
    attributes.productID = 0x01a8
    attributes.serialNumber = serialNumber
    attributes.path = "pci-0000:00:14.0-usb-0:\(socket):1.0"
    attributes.devicePath = "/devices/pci0000:00/0000:00:14.0/usb1/1-\(socket)/1-\(socket):1.0/tty/\(node.dropFirst(5))"
    attributes.interface = 0
    attributes.links = [
      "/dev/serial/by-path/\(attributes.path ?? "")", "/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00",
    ]
    return attributes
  }

  static func arduino(_ node: String) -> DeviceAttributes {
    var attributes = DeviceAttributes(node: node, subsystem: .tty)
    attributes.vendorID = 0x2341
    attributes.productID = 0x0043
    attributes.path = "pci-0000:00:14.0-usb-0:9:1.0"
    return attributes
  }

  static func gnss(_ node: String) -> DeviceAttributes {
    var attributes = DeviceAttributes(node: node, subsystem: .gnss)
    attributes.links = ["/dev/gnss/by-id/UBX-platform-serial8250"]
    return attributes
  }
}

/// A reconnect policy in virtual time, with the owner of the port and the kernel.
struct Scene {
  var reconnectPolicy: ReconnectPolicy
  var now = Instant.zero
  /// The errno of open(2) for a path; 0 or nothing is success.
  var errors: [String: Int32] = [:]
  /// The paths that were opened or tried.
  private(set) var tries: [String] = []
  private(set) var opened: [String] = []
  private(set) var closed: [String] = []
  private(set) var reports: [String] = []
  /// The port that is open now.
  private(set) var openPath: String?
  /// Actions that do not fit the state of the ports.
  private(set) var violations: [String] = []

  init(
    _ wanted: ReconnectPolicy.Wanted, _ present: [DeviceAttributes] = [], monitor: MonitorSource? = nil,
    errors: [String: Int32] = [:]
  ) {
    self.errors = errors
    reconnectPolicy = ReconnectPolicy(
      wanted: wanted, present: present.map { ReceiverPort($0) }, monitor: monitor, at: now)
    settle()
  }

  mutating func plug(_ attributes: DeviceAttributes) { report(.added, attributes) }
  mutating func unplug(_ attributes: DeviceAttributes) { report(.removed, attributes) }
  mutating func report(_ change: DeviceEvent.Change, _ attributes: DeviceAttributes) {
    reconnectPolicy.receive(DeviceEvent(change, ReceiverPort(attributes)), at: now)
    settle()
  }

  mutating func hangUp() {
    openPath = nil
    reconnectPolicy.lost(at: now)
    settle()
  }

  /// Advances the time, and wakes the policy at its deadlines. Returns the number of wake-ups.
  @discardableResult
  mutating func pass(_ length: UInt64) -> Int {
    let end = now + Milliseconds(length)
    var wakes = 0
    while let deadline = reconnectPolicy.deadline, deadline <= end, wakes < 10_000 {
      now = max(now, deadline)
      wakes += 1
      reconnectPolicy.wake(at: now)
      settle()
    }
    now = end
    return wakes
  }

  private mutating func settle() {
    while let action = reconnectPolicy.takeAction() {
      switch action {
      case .open(let path):
        tries.append(path)
        if let openPath { violations.append("\(path) is opened while \(openPath) is open") }
        let code = errors[path] ?? 0
        if code == 0 {
          opened.append(path)
          openPath = path
          reconnectPolicy.opened(path, at: now)
        } else {
          reconnectPolicy.failed(path, errno: code, because: "\(path): error \(code)", at: now)
        }
      case .close(let path):
        closed.append(path)
        if path != openPath { violations.append("\(path) is closed, \(openPath ?? "no port") is open") }
        openPath = nil
      case .report(let text): reports.append(text)
      }
    }
    if reconnectPolicy.isOpen != (openPath != nil) { violations.append("isOpen is \(reconnectPolicy.isOpen)") }
  }
}
