// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import SerialPort

/// `sextant devices`: lists every port with the expected device.
struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List the ports that a receiver may be connected to.",
    discussion: """
      The most likely receivers come first. No port is opened. The files $XDG_CONFIG_HOME/sextant/devices and \
      /etc/sextant/devices decide which devices are receivers, by lines such as "1546:01a8 name", \
      "0403:6010 if01 name" and "not 2341:0043".
      """)

  @Flag(help: "Print a JSON array with an object for each port.")
  var json = false

  func run() throws {
    guard let ports = ReceiverPorts.listed(list: try installedList()) else {
      throw CommandFailure(
        .systemResource,
        "the devices cannot be listed: too few descriptors or memory; raise `ulimit -n`, or end other programs")
    }
    let listing = ports.compactMap(Self.listed)
    if json {
      var line = JSONLine()
      line.ports(listing)
      try Output.write(line.bytes)
    } else if listing.isEmpty {
      try Output.write(
        "no serial port and no GNSS device; connect a receiver, or see `dmesg` for the reason\n")
    } else {
      try Output.write(listing.map(\.description).joined(separator: "\n"))
    }
  }
}

extension Devices {
  /// Returns a port with its state; nil for one that was unplugged meanwhile.
  private static func listed(_ port: ReceiverPort) -> ListedPort? {
    do throws(SerialPortError) { return ListedPort(port: port, state: try PortState(of: port.node)) } catch {
      if error.cause != .notFound { printNotice("\(error)") }
      return nil
    }
  }
}

/// Reads the user's list of devices. A mistake in it is the failure of the command.
func installedList() throws -> DeviceList {
  do throws(DeviceListError) {
    return try DeviceList.installed()
  } catch {
    throw CommandFailure(.configuration, error.description)
  }
}

/// A port in the output of `sextant devices`.
struct ListedPort: CustomStringConvertible {
  var port: ReceiverPort
  var state: PortState

  /// One line with the expected device, and one line for each known attribute.
  var description: String {
    var lines = ["\(port.node)  \(port.likelihood.text)"]
    func add(_ title: String, _ text: String?) {
      guard let text, !text.isEmpty else { return }
      lines.append("  " + title + String(repeating: " ", count: max(1, 12 - title.count)) + text)
    }
    add("name", port.name)
    add("usb", port.usbIDs.map { ids in [ids, port.serialNumber].compactMap(\.self).joined(separator: "  serial ") })
    add("driver", port.attributes.driver)
    add("identity", port.identity.description)
    for link in port.attributes.links.sorted() { add("link", link) }
    add("held by", state.holders.map(\.description).joined(separator: ", "))
    add("permission", state.cure ?? "yes")
    return lines.joined(separator: "\n") + "\n"
  }
}

extension ReceiverPort.Likelihood {
  fileprivate var text: String {
    switch self {
    case .receiver: "a receiver"
    case .bridge: "a USB serial bridge, possibly with a receiver behind it"
    case .other(let reason): "not expected to be a receiver: it is \(reason)"
    }
  }

  fileprivate var key: StaticString {
    switch self {
    case .receiver: "receiver"
    case .bridge: "bridge"
    case .other: "other"
    }
  }
}

extension JSONLine {
  /// Writes all ports as one array. Unknown attributes are absent.
  mutating func ports(_ ports: [ListedPort]) {
    beginArray()
    for port in ports { put(port) }
    endArray()
    endLine()
  }

  private mutating func put(_ listed: ListedPort) {
    let port = listed.port
    beginObject()
    field("node", text: port.node)
    field("kind", text: port.subsystem.rawValue)
    field("likelihood", port.likelihood.key)
    if case .other(let reason) = port.likelihood { field("reason", text: reason.description) }
    field("identity", text: port.identity.description)
    field("name", optional: port.name)
    field("usb", optional: port.usbIDs)
    field("serialNumber", optional: port.serialNumber)
    field("interface", port.attributes.interface.map(Int.init))
    field("driver", optional: port.attributes.driver)
    field("path", optional: port.attributes.path)
    beginArray("links")
    for link in port.attributes.links.sorted() {
      nextElement()
      string(link)
    }
    endArray()
    beginArray("holders")
    for holder in listed.state.holders {
      beginObject()
      field("pid", Int64(holder.processID))
      field("program", text: holder.program)
      endObject()
    }
    endArray()
    field("permitted", listed.state.isPermitted)
    field("group", optional: listed.state.group)
    field("cure", optional: listed.state.cure)
    endObject()
  }

  private mutating func field(_ key: StaticString, optional text: String?) {
    if let text { field(key, text: text) }
  }
}
