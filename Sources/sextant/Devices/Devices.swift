import ArgumentParser
import GPSDJSON
import Hotplug
import SerialPort

/// `sextant devices`: every port, and what is expected behind it.
struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List the ports that a receiver may be connected to.",
    discussion: """
      The likeliest come first. No port is opened. What is a receiver and what is none can be said in \
      $XDG_CONFIG_HOME/sextant/devices and /etc/sextant/devices, in lines such as "1546:01a8 name", \
      "0403:6010 if01 name" and "not 2341:0043".
      """)

  @Flag(help: "Print a JSON array with an object for each port.")
  var json = false

  func run() throws {
    let ports = ReceiverPorts.enumerate(list: try installedList())
    // A port that is unplugged between the two looks is no longer listed.
    let listing = ports.compactMap { port in
      (try? PortState(of: port.node)).map { ListedPort(port: port, state: $0) }
    }
    if json {
      var line = JSONLine()
      line.ports(listing)
      try Output.write(line.bytes)
    } else if listing.isEmpty {
      try Output.write(
        "no serial port and no GNSS device; connect a receiver, or see `dmesg` for why it is not found\n")
    } else {
      try Output.write(listing.map(\.description).joined(separator: "\n"))
    }
  }
}

/// The user's list of devices, with a mistake in it as the command's failure.
func installedList() throws -> DeviceList {
  do throws(DeviceListError) {
    return try DeviceList.installed()
  } catch {
    throw CommandFailure(exitCode: CommandFailure.configuration, description: error.description)
  }
}
