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
