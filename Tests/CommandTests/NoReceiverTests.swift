// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SerialPort
import Testing

@testable import sextant

/// A machine with a receiver cannot show the behaviour without one.
private let hasReceiver = ReceiverPorts.enumerate(list: DeviceList()).contains(where: \.likelihood.isPlausible)

@Suite("Commands without a receiver", .enabled(if: !hasReceiver))
struct NoReceiverTests {
  /// A command line, and its exit code.
  private struct Row {
    var words: [String]
    var code: Int32
    /// Whether it opens a receiver.
    var opensReceiver = true
  }

  /// The rows of each command and subcommand; FOLDER is replaced with a folder of the test.
  private static let rows: [String: [Row]] = [
    "devices": [Row(words: ["--json"], code: 0, opensReceiver: false)],
    "probe": [Row(words: [], code: 69), Row(words: ["--json", "--read-only"], code: 69)],
    "watch": [Row(words: ["--json", "--seconds", "0.5"], code: 69), Row(words: ["--seconds", "0.5"], code: 69)],
    "view": [Row(words: ["--listen", "127.0.0.1:29511", "--seconds", "0.5"], code: 69)],
    "track": [
      Row(words: ["--json", "--seconds", "1"], code: 69), Row(words: ["--once", "--seconds", "1"], code: 69),
      Row(words: ["--significant", "--seconds", "1"], code: 69),
    ],
    "authorize show": [Row(words: ["--json"], code: 0, opensReceiver: false)],
    "authorize allow": [Row(words: ["/bin/true"], code: 0, opensReceiver: false)],
    "authorize grant": [Row(words: ["/bin/true", "always"], code: 0, opensReceiver: false)],
    "authorize deny": [Row(words: ["/bin/true"], code: 0, opensReceiver: false)],
    "authorize reset": [Row(words: ["--all"], code: 0, opensReceiver: false)],
    "authorize services": [Row(words: ["on"], code: 0, opensReceiver: false)],
    // These commands write the policy of the machine.
    "authorize restrict": [], "authorize unrestrict": [],
    "configure": [
      Row(words: ["show", "--json"], code: 69), Row(words: ["get", "rate"], code: 69),
      Row(words: ["set", "rate=5Hz"], code: 69), Row(words: ["save"], code: 69),
      Row(words: ["backup", "FOLDER/backup"], code: 69), Row(words: ["factory-reset", "--yes"], code: 69),
      Row(words: ["restore", "FOLDER/settings"], code: 69),
    ],
    "record": [
      Row(words: ["FOLDER/recording"], code: 69), Row(words: ["--configure", "FOLDER/recording"], code: 69),
      Row(words: ["-"], code: 69), Row(words: ["--json", "FOLDER/recording"], code: 69),
    ],
    "decode": [Row(words: ["FOLDER/sentence.nmea"], code: 0, opensReceiver: false)],
    "report": [
      Row(words: ["FOLDER/sentence.nmea", "-o", "FOLDER/report.html"], code: 0, opensReceiver: false)
    ],
    "power": [
      Row(words: [], code: 69), Row(words: ["sleep", "10"], code: 69), Row(words: ["wake"], code: 69),
      Row(words: ["mode", "cyclic:5"], code: 69),
    ],
    "poll": [Row(words: ["MON-VER"], code: 69), Row(words: ["MON-VER", "--json"], code: 69)],
    "send": [
      Row(words: ["CFG-RATE", "measRate=200", "--json"], code: 69), Row(words: ["$PUBX,00"], code: 69),
      Row(words: ["CFG-RATE", "--read-only"], code: 64, opensReceiver: false),
    ],
    "reset": [
      Row(words: ["hot"], code: 69), Row(words: ["warm"], code: 69), Row(words: ["cold", "--json"], code: 69),
      Row(words: ["hot", "--read-only"], code: 64, opensReceiver: false),
    ],
    "bridge": [Row(words: ["--listen", "127.0.0.1:29512"], code: 69)],
    "base": [
      Row(words: ["--survey", "60,2"], code: 69),
      Row(words: ["--position=48,11,500", "--caster", "29513/BASE"], code: 69),
    ],
    "check": [Row(words: [], code: 69), Row(words: ["--out", "FOLDER/recording"], code: 69)],
    "batch": [
      Row(words: ["status", "--json"], code: 69), Row(words: ["start"], code: 69), Row(words: ["status"], code: 69),
      Row(words: ["retrieve"], code: 69),
    ],
    // The simulator, and measurements that name their simulated days.
    "simulate": [Row(words: ["--seconds", "0.2"], code: 0, opensReceiver: false)],
    "bench": [],
    // It waits for a receiver, as sextantd does.
    "serve": [],
    // It is a client of the location service and does not open a receiver.
    "uplink": [],
    "feed odometer": [Row(words: [], code: 69, opensReceiver: false)],
    "status": [Row(words: ["--json"], code: 69, opensReceiver: false)],
    "time": [Row(words: ["--json"], code: 69, opensReceiver: false)],
  ]

  /// A command without subcommands, from the program's description.
  private struct Leaf {
    var path: String
    var options: Set<String>
    /// The values of each positional argument that has a fixed set of them.
    var actions: [[String]]
  }

  /// All commands without subcommands, from the program's own description of its command line.
  private static func leaves() throws -> [Leaf] {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let text = try CommandProgram.run(["--experimental-dump-help"], in: path).output
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let root = try #require(object?["command"] as? [String: Any])
    var leaves: [Leaf] = []
    func walk(_ command: [String: Any], _ path: [String]) {
      let subcommands = (command["subcommands"] as? [[String: Any]] ?? []).filter {
        $0["commandName"] as? String != "help"
      }
      for sub in subcommands { walk(sub, path + [sub["commandName"] as? String ?? ""]) }
      guard subcommands.isEmpty else { return }
      let arguments = command["arguments"] as? [[String: Any]] ?? []
      let names = arguments.flatMap { $0["names"] as? [[String: Any]] ?? [] }.compactMap { $0["name"] as? String }
      let actions = arguments.filter { $0["kind"] as? String == "positional" }.compactMap {
        $0["allValues"] as? [String]
      }
      leaves.append(Leaf(path: path.joined(separator: " "), options: Set(names), actions: actions))
    }
    walk(root, [])
    return leaves
  }

  @Test("Each command of the command table has rows here: all that open a receiver, with all of their actions")
  func isComplete() throws {
    let leaves = try Self.leaves()
    #expect(leaves.map(\.path).sorted() == Self.rows.keys.sorted(), "each command has its rows here")
    #expect(leaves.count >= 18)
    // A command with the service's socket names a receiver of the service.
    for leaf in leaves where leaf.options.contains("device") && !leaf.options.contains("socket") {
      let rows = (Self.rows[leaf.path] ?? []).filter(\.opensReceiver)
      #expect(!rows.isEmpty, "\(leaf.path) opens a receiver")
      for action in leaf.actions.joined() {
        #expect(rows.contains { $0.words.contains(action) }, "\(leaf.path) \(action) has a row")
      }
      if leaf.options.contains("json") {
        #expect(rows.contains { $0.words.contains("--json") }, "\(leaf.path) --json has a row")
      }
    }
  }

  @Test("Each command reports that there is no receiver, and reports and writes nothing simulated")
  func allCommands() throws {
    for (name, rows) in Self.rows { for row in rows { try check(name, row) } }
  }

  private func check(_ name: String, _ row: Row) throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    try "$GPTXT,01,01,02,ANTENNA OK*36\r\n".write(toFile: "\(path)/sentence.nmea", atomically: false, encoding: .utf8)
    try "sextant-configuration 1\nCFG-RATE-MEAS = 0.2\n".write(
      toFile: "\(path)/settings", atomically: false, encoding: .utf8)
    let words =
      name.split(separator: " ").map(String.init) + row.words.map { $0.replacingOccurrences(of: "FOLDER", with: path) }
    let result = try CommandProgram.run(words, in: path)
    #expect(result.code == row.code, "\(words): \(result.errors)")
    guard row.opensReceiver else { return }
    // A service that never had a receiver is refused at once.
    let isReported = result.errors.contains("no receiver") || result.errors.contains("attach a receiver")
    #expect(isReported, "\(words): \(result.errors)")
    for word in ["TPV", "didUpdateLocations", "SAM-M10Q", "latitude"] {
      #expect(!result.output.contains(word), "\(words): \(result.output)")
    }
    for file in ["recording", "backup", "state/newest-location", "run"] {
      #expect(!FileManager.default.fileExists(atPath: "\(path)/\(file)"), "\(words) wrote \(file)")
    }
  }

  @Test("The next step of a command that does not wait is in its error, and --demo uses the simulator and reports it")
  func nextStep() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let errors = try CommandProgram.run(["probe"], in: path).errors
    for step in ["plug one in", "--device", "GNSS_DEVICE", "--demo"] { #expect(errors.contains(step), "\(errors)") }
    let demo = try CommandProgram.run(["probe", "--demo", "--json"], in: path)
    #expect(demo.code == 0 && demo.errors.contains("simulator"), "\(demo)")
    #expect(demo.output.contains("built-in simulator"), "\(demo)")
  }

  @Test("A file without a frame is refused with 65 by decode and by simulate --replay; a partial recording is decoded")
  func noFrames() throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let text = String(repeating: "some words of a text, such as those of a README\n", count: 400)
    try text.write(toFile: "\(path)/text", atomically: false, encoding: .utf8)
    try "$GPTXT,01,01,02,ANTENNA OK*36\r\n$GPTXT,01,".write(
      toFile: "\(path)/part", atomically: false, encoding: .utf8)
    for format in ["tpv", "messages", "summary"] {
      let refused = try CommandProgram.run(["decode", "--format", format, "\(path)/text"], in: path)
      #expect(refused.code == 65 && refused.errors.contains("no frame"), "\(format): \(refused)")
      let part = try CommandProgram.run(["decode", "--format", format, "\(path)/part"], in: path)
      #expect(part.code == 0, "\(format): \(part)")
    }
    let replay = try CommandProgram.run(["simulate", "--replay", "\(path)/text"], in: path)
    #expect(replay.code == 65 && replay.errors.contains("no frame"), "\(replay)")
    for words in [["watch"], ["record", "\(path)/recording"], ["track", "--once"], ["probe", "--read-only"]] {
      let replayed = try CommandProgram.run(words + ["--device", "replay:\(path)/text"], in: path)
      #expect(replayed.code == 65 && replayed.errors.contains("no frame"), "\(words): \(replayed)")
      // A file has no positions of this computer: it is read only if the command line says so.
      let unnamed = try CommandProgram.run(words + ["--device", "\(path)/part"], in: path)
      #expect(unnamed.code == 66 && unnamed.errors.contains("replay:\(path)/part"), "\(words): \(unnamed)")
    }
    let variable = try CommandProgram.run(["watch"], in: path, variables: ["GNSS_DEVICE": "\(path)/part"])
    #expect(variable.code == 66 && variable.errors.contains("replay:\(path)/part"), "\(variable)")
  }

  @Test(
    "configure get takes each name that set takes",
    arguments: [
      ("constellations", "CFG-SIGNAL-GPS_ENA"), ("messages", "CFG-MSGOUT-"), ("nmea", "CFG-UART1OUTPROT-NMEA"),
      ("baud", "CFG-UART1-BAUDRATE"),
    ])
  func several(name: String, item: String) throws {
    let path = try CommandProgram.folder()
    defer { CommandProgram.remove(path) }
    let result = try CommandProgram.run(["configure", "get", name, "--device", "sim:walk"], in: path)
    #expect(result.code == 0 && result.output.contains(item), "\(result)")
  }
}
