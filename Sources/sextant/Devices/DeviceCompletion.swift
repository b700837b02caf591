// SPDX-License-Identifier: Apache-2.0
import ReceiverSimulator
import SerialPort

/// The devices that a shell offers: the ports of this computer, the most likely receivers first, and the built-in scenarios.
enum DeviceCompletion {
  static var words: [String] {
    // A mistake in the list of devices is reported by the command.
    let ports = (try? DeviceList.installed()).map { ReceiverPorts.enumerate(list: $0) } ?? []
    return ports.map(\.node) + Scenario.names.map { "sim:\($0)" }
  }
}
