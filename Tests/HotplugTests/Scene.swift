import MonotonicTime

@testable import Hotplug

/// Devices to plug in.
extension DeviceFacts {
  /// A u-blox receiver without a serial number, as they leave the factory.
  static func receiver(_ node: String, socket: String = "1", serialNumber: String? = nil) -> DeviceFacts {
    var facts = DeviceFacts(node: node, subsystem: .tty)
    facts.vendorID = 0x1546
    facts.productID = 0x01a8
    facts.serialNumber = serialNumber
    facts.path = "pci-0000:00:14.0-usb-0:\(socket):1.0"
    facts.devicePath = "/devices/pci0000:00/0000:00:14.0/usb1/1-\(socket)/1-\(socket):1.0/tty/\(node.dropFirst(5))"
    facts.interface = 0
    facts.links = ["/dev/serial/by-path/\(facts.path ?? "")", "/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00"]
    return facts
  }

  static func arduino(_ node: String) -> DeviceFacts {
    var facts = DeviceFacts(node: node, subsystem: .tty)
    facts.vendorID = 0x2341
    facts.productID = 0x0043
    facts.path = "pci-0000:00:14.0-usb-0:9:1.0"
    return facts
  }

  static func gnss(_ node: String) -> DeviceFacts {
    var facts = DeviceFacts(node: node, subsystem: .gnss)
    facts.links = ["/dev/gnss/by-id/UBX-platform-serial8250"]
    return facts
  }
}

/// A roster in virtual time, with the ports that can be opened: the one who holds the port, and the kernel.
struct Scene {
  var roster: ReceiverRoster
  var now = Instant.zero
  /// What open(2) says of a path; 0 or nothing is success.
  var errors: [String: Int32] = [:]
  /// The paths that were opened or tried, with the milliseconds.
  private(set) var tries: [String] = []
  private(set) var opened: [String] = []
  private(set) var closed: [String] = []
  private(set) var reports: [String] = []

  init(_ wanted: ReceiverRoster.Wanted, _ present: [DeviceFacts] = []) {
    roster = ReceiverRoster(wanted: wanted, present: present.map { ReceiverPort($0) }, at: now)
    settle()
  }

  mutating func plug(_ facts: DeviceFacts) { tell(.added, facts) }
  mutating func unplug(_ facts: DeviceFacts) { tell(.removed, facts) }
  mutating func tell(_ change: DeviceEvent.Change, _ facts: DeviceFacts) {
    roster.receive(DeviceEvent(change, ReceiverPort(facts)), at: now)
    settle()
  }

  mutating func hangUp() {
    roster.lost(at: now)
    settle()
  }

  /// Lets time pass, and wakes the roster when it asks for it; the number of times that it did.
  @discardableResult
  mutating func pass(_ length: UInt64) -> Int {
    let end = now + Milliseconds(length)
    var wakes = 0
    while let deadline = roster.deadline, deadline <= end, wakes < 10_000 {
      now = max(now, deadline)
      wakes += 1
      roster.wake(at: now)
      settle()
    }
    now = end
    return wakes
  }

  private mutating func settle() {
    while let action = roster.takeAction() {
      switch action {
      case .open(let path):
        tries.append(path)
        let code = errors[path] ?? 0
        if code == 0 {
          opened.append(path)
          roster.opened(path, at: now)
        } else {
          roster.failed(path, errno: code, because: "\(path): error \(code)", at: now)
        }
      case .close(let path): closed.append(path)
      case .report(let text): reports.append(text)
      }
    }
  }
}
