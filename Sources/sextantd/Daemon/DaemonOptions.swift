// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import ReceiverRuntime

/// The command line of sextantd.
package struct DaemonOptions: Equatable, Sendable {
  /// A mistake in the command line, with the next step.
  package struct Mistake: Error, Equatable { package var text: String }

  package var devices: [String] = []
  package var socket: String?
  package var isReadOnly = false
  /// Whether it is the launcher of a user instead of the service.
  package var isLauncher = false
  /// The addresses for gpsd's clients, `ADDRESS:PORT`.
  package var gpsd: [String] = []
  /// Whether gpsd's clients are not served, regardless of the policy.
  package var gpsdIsOff = false
  /// The addresses for clients of NMEA, `ADDRESS:PORT` or a path.
  package var nmea: [String] = []
  /// The path of the control socket for gpsdctl.
  package var gpsdControl: String?
  /// The sources of corrections, the preferred one first.
  package var corrections: [CorrectionSource] = []
  /// The source of assistance for the first receiver at a start; nil for the line of the configuration file.
  package var assistance: AssistanceSource?
  package var showsHelp = false
  package var showsVersion = false

  package static let defaultSocket = "/run/sextant/location"

  package static let help = """
    USAGE: sextantd [--device DEVICE]... [--socket PATH] [--gpsd ADDRESS:PORT|off]... [--nmea ADDRESS:PORT|PATH]...
                    [--gpsd-control PATH] [--corrections URL]... [--assistance own|broadcast] [--read-only]
           sextantd --launcher [--socket PATH]

    Serves the receivers of this computer to all its programs. It runs in the foreground and logs to standard error.

      --device DEVICE   a receiver: a device node, or an address as for `sextant watch`; by default from
                        /etc/sextant/config, else the first one that is plugged in
      --socket PATH     the socket for programs; by default \(defaultSocket)
      --gpsd ADDRESS:PORT
                        serve clients of gpsd here, such as 127.0.0.1:2947, [::1]:2947 or localhost:2947; `off` for no
                        address. By default `gpsd = on` in /etc/sextant/policy opens localhost:2947
      --nmea ADDRESS:PORT, --nmea PATH
                        write NMEA 0183 to clients of this address, or of a Unix socket
      --gpsd-control PATH
                        take commands of gpsdctl at this path, such as /run/gpsd.sock, from users who may open receivers
      --corrections URL RTCM 3 corrections for the first receiver while a program needs the best accuracy, from
                        ntrip://USER@HOST:PORT/MOUNT (ntrips:// with TLS), tcp://HOST:PORT, serial:PATH@BAUD or file:PATH;
                        several in the order of preference, by default from /etc/sextant/config
      --assistance own|broadcast
                        what the first receiver gets at a start: time, last position and its own orbits, or also the
                        ephemerides of the corrections and of RINEX navigation files; by default from /etc/sextant/config
      --read-only       send nothing to the receivers
      --launcher        start units of this user's service manager for the location service, instead of being it
      --version         print the version
      --help            print this text

    """

  package init(_ arguments: [String]) throws(Mistake) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      var name = argument
      var attached: String?
      if argument.hasPrefix("--"), let sign = argument.firstIndex(of: "=") {
        name = String(argument[..<sign])
        attached = String(argument[argument.index(after: sign)...])
      }
      func value() throws(Mistake) -> String {
        if let value = attached ?? rest.popFirst(), !value.isEmpty { return value }
        throw Mistake(text: "\(name) needs a value; see sextantd --help")
      }
      if attached != nil,
        !["--device", "--socket", "--gpsd", "--nmea", "--gpsd-control", "--corrections", "--assistance"].contains(name)
      {
        throw Mistake(text: "\(argument): unknown option or value; see sextantd --help")
      }
      switch name {
      case "--device": devices.append(try value())
      case "--socket": socket = try value()
      case "--gpsd":
        let text = try value()
        if text == "off" { gpsdIsOff = true } else { gpsd.append(try Self.address(text, of: name)) }
      case "--nmea":
        let text = try value()
        nmea.append(text.hasPrefix("/") ? text : try Self.address(text, of: name))
      case "--gpsd-control": gpsdControl = try value()
      case "--corrections":
        // The value may contain a password, which must not be printed.
        guard let source = CorrectionSource(try value()) else {
          throw Mistake(text: "\(name): not \(CorrectionSource.forms)")
        }
        corrections.append(source)
      case "--assistance":
        let text = try value()
        guard let source = AssistanceSource(rawValue: text) else {
          throw Mistake(text: "\(name) \(text): not own or broadcast")
        }
        assistance = source
      case "--read-only": isReadOnly = true
      case "--launcher": isLauncher = true
      case "--help", "-h": showsHelp = true
      case "--version": showsVersion = true
      default: throw Mistake(text: "\(argument): unknown option; see sextantd --help")
      }
    }
    if gpsdIsOff, !gpsd.isEmpty { throw Mistake(text: "--gpsd off excludes another --gpsd") }
  }

  private static func address(_ text: String, of option: String) throws(Mistake) -> String {
    if InternetAddress.parse(text) != nil { return text }
    throw Mistake(text: "\(option) \(text): not ADDRESS:PORT, such as 127.0.0.1:2947 or [::1]:2947")
  }
}
