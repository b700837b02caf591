// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Positioning
import ReceiverRuntime
import SerialPort

/// The log lines at the start of the daemon: its socket, receivers and policy, and the devices that it cannot open now.
enum StartLines {
  /// Returns a line with socket, receivers and policy, and one for each device that cannot be opened.
  ///
  /// - Parameters:
  ///   - socket: the path of the socket for programs.
  ///   - settings: the settings of the service.
  ///   - policyExists: whether the administrator has written a policy.
  ///   - fault: returns the reason why a device cannot be opened now.
  static func lines(
    socket: String, _ settings: ServiceSettings,
    policyExists: Bool = FileLookup.exists(LocationPolicy.path) || FileLookup.leadsNowhere(LocationPolicy.path),
    fault: (String) -> String? = DeviceFault.text
  ) -> [String] {
    let sources = [settings.source] + settings.others
    let names = sources.map { source in
      switch source {
      case .device(let name): name
      case .simulator(let scenario): "sim:\(scenario) (simulated)"
      case .firstFound: "the first one that is plugged in"
      }
    }
    let policy = policyExists ? LocationPolicy.path : "none (\(LocationPolicy.path) does not exist)"
    var lines = ["socket \(socket); receiver \(names.joined(separator: ", ")); policy \(policy)"]
    for case .device(let name) in sources {
      if let text = fault(name) { lines.append("\(text) (the service waits for it)") }
    }
    return lines
  }
}
