// SPDX-License-Identifier: Apache-2.0
import GPSD
import SerialPort

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
