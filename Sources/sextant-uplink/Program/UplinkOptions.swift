// SPDX-License-Identifier: Apache-2.0

/// The command line of sextant-uplink.
struct UplinkOptions: Equatable {
  enum Mode: Equatable {
    case run
    /// Prints what would be sent.
    case dryRun
    case status(isJSON: Bool)
    case help
    case version
  }

  var mode = Mode.run
  var configuration = "/etc/sextant/uplink"

  static let help = """
    USAGE: sextant uplink [--config FILE] [--dry-run]
           sextant uplink status [--json]

    Sends the positions of this computer to a server by MQTT or HTTPS. A position waits in a queue on the disk until the server
    has acknowledged it.

      --config FILE   the configuration; by default /etc/sextant/uplink
      --dry-run       print what would be sent, and connect to no server
      status          print whether the uplink is connected, and what waits
      --json          print the status as JSON
      --version       print the version
      --help          print this text

    """

  /// - Throws: ``UplinkFailure`` for a mistake, with the next step.
  init(_ arguments: [String]) throws(UplinkFailure) {
    var rest = arguments[...]
    var isJSON = false
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": mode = .help
      case "--version": mode = .version
      case "--dry-run": mode = .dryRun
      case "--json": isJSON = true
      case "status" where mode == .run: mode = .status(isJSON: false)
      case "--config":
        guard let path = rest.popFirst(), !path.isEmpty else {
          throw UplinkFailure(.usage, "--config needs a file; write `--config FILE`")
        }
        configuration = path
      case _ where argument.hasPrefix("--config="): configuration = String(argument.dropFirst("--config=".count))
      default: throw UplinkFailure(.usage, "`\(argument)` is unknown; `sextant uplink --help` prints the options")
      }
    }
    if isJSON {
      guard case .status = mode else {
        throw UplinkFailure(.usage, "--json needs `status`; write `sextant uplink status --json`")
      }
      mode = .status(isJSON: true)
    }
  }
}
