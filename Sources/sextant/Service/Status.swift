// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import Messages
import WireBytes

/// `sextant status`: the receivers and the programs of the location service.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the receivers and the programs of the location service.",
    discussion: """
      For each receiver: its power state and the reason. For each program: its permission, its demands, and the number of \
      events that it was sent, and of those that were joined because it read too slowly.
      """)

  @Option(help: "The socket of the service. Default: SEXTANT_SERVICE, else /run/sextant/location.")
  var socket: String?

  @Flag(help: "Print a JSON object.")
  var json = false

  func run() throws {
    var client = try ServiceClient(path: socket ?? ServiceClient.socketPath)
    guard let status = try client.call("org.sextant.Location.GetStatus")["status"] else {
      throw CommandFailure(.badData, "the location service sent no status; update sextantd")
    }
    if json {
      try Output.write(try status.text() + [UInt8(ascii: "\n")])
    } else {
      try Output.write(Self.text(of: status))
    }
  }

  /// The solution with carrier phases; empty for another one.
  private static func solution(of receiver: JSON) -> String {
    switch receiver["solution"]?.string {
    case "float"?: ", RTK float"
    case "fixed"?: ", RTK fixed"
    default: ""
    }
  }

  /// The trust in the signals and its reasons; nil where nothing is wrong.
  private static func trust(of receiver: JSON) -> String? {
    guard let trust = receiver["trust"]?.string, !["ok", "unknown"].contains(trust) else { return nil }
    let reasons = (receiver["reasons"]?.elements ?? []).compactMap(\.string).map { PrintedText.escaped($0) }
    return PrintedText.escaped(trust) + ": " + reasons.joined(separator: "; ")
  }

  private static func fusion(_ fusion: JSON) -> String {
    let sensors = (fusion["sensors"]?.elements ?? []).map { sensor in
      let state = sensor["isUsed"] == .bool(true) ? "used" : "not used"
      let faults = (sensor["faults"]?.elements ?? []).compactMap(\.string)
      return ([(sensor["name"]?.string ?? "") + " " + state, sensor["calibration"]?.string ?? ""] + faults)
        .joined(separator: ", ")
    }
    return PrintedText.escaped(([fusion["mode"]?.string ?? ""] + sensors).joined(separator: "; "))
  }

  private static func corrections(_ corrections: JSON) -> String {
    var words = [
      PrintedText.escaped(corrections["source"]?.string ?? ""), PrintedText.escaped(corrections["state"]?.string ?? ""),
    ]
    if let age = corrections["ageSeconds"]?.number { words.append("\(Int(clamping: age)) s old") }
    words.append("\(corrections["bytes"]?.integer ?? 0) bytes")
    if let reason = corrections["reason"]?.string { words.append(PrintedText.escaped(reason)) }
    if let keys = corrections["keys"], let state = keys["state"]?.string {
      let until = keys["validUntil"]?.string.map { state == "expired" ? "at \($0)" : "until \($0)" }
      let detail = until ?? keys["validFrom"]?.string.map { "valid from \($0)" } ?? keys["reason"]?.string
      words.append(PrintedText.escaped("keys \(state)" + (detail.map { " \($0)" } ?? "")))
    }
    return words.joined(separator: ", ")
  }

  private static func text(of status: JSON) -> String {
    var lines: [String] = []
    func words(_ object: JSON, _ names: [String]) -> String {
      names.compactMap { object[$0]?.string }.map { PrintedText.escaped($0) }.filter { !$0.isEmpty }.joined(
        separator: ", ")
    }
    let receivers = status["receivers"]?.elements ?? []
    for receiver in receivers {
      let device = receiver["device"]?.string ?? ""
      lines.append(
        "receiver \(device.isEmpty ? "(none yet)" : PrintedText.escaped(device)): "
          + words(receiver, ["model", "state", "reason", "fix"]) + Self.solution(of: receiver))
      if let text = Self.trust(of: receiver) { lines.append("  signals " + text) }
      if let fusion = receiver["fusion"] { lines.append("  sensor fusion " + Self.fusion(fusion)) }
      if let text = receiver["corrections"].map(Self.corrections) { lines.append("  corrections " + text) }
    }
    for program in status["programs"]?.elements ?? [] {
      let demands = PrintedText.escaped(
        (program["demands"]?.elements ?? []).compactMap(\.string).joined(separator: "; "))
      let process =
        program["pid"]?.integer.map { "process \($0)" }
        ?? "\(PrintedText.escaped(program["unit"]?.string ?? "")) does not run"
      lines.append(
        "program \(PrintedText.escaped(program["name"]?.string ?? "")) (\(process), user "
          + "\(program["uid"]?.integer ?? 0)): \(program["authorization"]?.string ?? ""), "
          + "\(demands.isEmpty ? "no demand" : demands), \(program["delivered"]?.integer ?? 0) events"
          + ((program["dropped"]?.integer).map { $0 > 0 ? ", \($0) joined" : "" } ?? ""))
    }
    let service = status["service"] ?? .empty
    lines.append(
      "sextantd \(service["version"]?.string ?? ""), up \(Int(clamping: service["uptimeSeconds"]?.number ?? 0)) s")
    return lines.joined(separator: "\n") + "\n"
  }
}

extension JSON {
  fileprivate var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
}
