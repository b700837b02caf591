// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Messages
import WireBytes

/// `sextant time`: the receiver's time and the computer's, and who reads it.
struct Time: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "time",
    abstract: "Show how a receiver serves the computer's clock.",
    discussion: """
      The offset of the system's clock by pulses and by messages, their jitter, and the sockets and segments of time daemons. \
      The key `time` of /etc/sextant/policy switches it on.
      """)

  @Option(help: "The socket of the service. Default: SEXTANT_SERVICE, else /run/sextant/location.")
  var socket: String?

  @Flag(help: "Print a JSON object.")
  var json = false

  func run() throws {
    var client = try ServiceClient(path: socket ?? ServiceClient.socketPath)
    let reply = try client.call("org.sextant.Time.GetTime") { error in
      error.name.hasPrefix("org.varlink.service.")
        ? CommandFailure(.unavailable, "the location service does not serve the clock; update sextantd") : nil
    }
    guard let time = reply["time"] else {
      throw CommandFailure(.badData, "the location service sent no time; update sextantd")
    }
    try Output.write(json ? try time.text() + [UInt8(ascii: "\n")] : Array(Self.text(of: time).utf8))
  }

  static func text(of time: JSON) -> String {
    let policy = time["policy"]?.string ?? ""
    let state = time["state"]?.string ?? ""
    if state == "off" { return "the clock is not served; write `time = continuous` into /etc/sextant/policy\n" }
    var lines = ["time: \(policy), \(state)" + (time["receiver"]?.string.map { ", \($0)" } ?? "")]
    if time["isProgram"] == .bool(true) {
      lines.append("the receiver is a program at a pseudo-terminal: the offset is from its time, which need not be UTC")
    }
    for (name, label) in [("pulse", "pulses"), ("messages", "messages")] {
      guard let sample = time[name] else { continue }
      var words = ["offset \(seconds(sample["offset"]))"]
      if sample["jitter"] != nil { words.append("jitter \(seconds(sample["jitter"]))") }
      if name == "pulse", let device = time["pulseDevice"]?.string { words.append("from \(device)") }
      if let leap = sample["leap"]?.string, leap != "none" { words.append("leap second: \(leap)") }
      lines.append("\(label): " + words.joined(separator: ", "))
    }
    if time["messageDelay"] != nil { lines.append("message delay: \(seconds(time["messageDelay"]))") }
    let refusals = (time["refusals"]?.elements ?? []).compactMap { refusal -> String? in
      guard let reason = refusal["reason"]?.string, case .integer(let count)? = refusal["count"] else { return nil }
      return "\(count) \(reason)"
    }
    if !refusals.isEmpty { lines.append("refused pulses: " + refusals.joined(separator: ", ")) }
    for output in time["outputs"]?.elements ?? [] {
      let isRead = output["isRead"] == .bool(true)
      lines.append(
        "\(output["name"]?.string ?? "") (\(output["source"]?.string ?? "")): " + (isRead ? "read" : "nobody reads it"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A time in a unit that suits it, with three digits behind the point.
  private static func seconds(_ value: JSON?) -> String {
    let seconds: Double =
      switch value {
      case .double(let value)?: value
      case .integer(let value)?: Double(value)
      default: 0
      }
    let (factor, unit) =
      abs(seconds) < 0.001 ? (1e6, "µs") : abs(seconds) < 1 ? (1e3, "ms") : (1.0, "s")
    return "\((seconds * factor).decimals(3)) \(unit)"
  }
}
