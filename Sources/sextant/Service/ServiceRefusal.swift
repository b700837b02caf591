// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages

/// An error of the service as the failure of a command.
enum ServiceRefusal {
  static func failure(_ error: VarlinkError, path: String) -> CommandFailure {
    let device = error.parameters["device"]?.string ?? path
    switch error.name {
    case "org.sextant.Receivers.NotPermitted":
      return CommandFailure(
        .noPermission,
        "\(device): no permission for the receiver of the location service; "
          + (error.parameters["group"]?.string.map {
            "join its group with `sudo usermod -aG \($0) $USER`, then log in again"
          } ?? "run as root"))
    case "org.sextant.Receivers.Lent":
      return CommandFailure(
        .held, "\(device): the location service has lent it to \(holder(of: error)); try again after its end")
    case "org.sextant.Receivers.Unavailable":
      return CommandFailure(exitCode: code(of: error), description: error.parameters["reason"]?.string ?? device)
    case "org.sextant.Receivers.ReadOnly":
      return CommandFailure(
        .configuration, "\(path): the location service is read-only (`sextantd --read-only`), and the command sends")
    case "org.sextant.Location.NoReceiver", "org.sextant.Receivers.NoReceiver":
      return CommandFailure(.unavailable, "\(path): the location service has no receiver; see `sextant status`")
    case "org.sextant.Location.Denied", "org.sextant.Location.NotDetermined":
      return CommandFailure(
        .noPermission,
        "\(path): no permission for the receiver; join its group with `sudo usermod -aG gnss $USER` and log in again, or "
          + "have it granted with `sudo sextant authorize grant sextant always --user $UID`")
    case "org.varlink.service.InterfaceNotFound", "org.varlink.service.MethodNotFound":
      return CommandFailure(.unavailable, "\(path): the location service does not know this call; update sextantd")
    default: return CommandFailure(.unavailable, "\(path): the location service answers with \(error.name)")
    }
  }

  private static func holder(of error: VarlinkError) -> String {
    var text = error.parameters["name"]?.string ?? "another program"
    if case .integer(let process)? = error.parameters["pid"] { text += " (pid \(process))" }
    return text
  }

  private static func code(of error: VarlinkError) -> Int32 {
    guard case .integer(let code)? = error.parameters["code"], let code = Int32(exactly: code), 64...78 ~= code else {
      return SystemExitCode.unavailable.rawValue
    }
    return code
  }
}
