// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Hotplug
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

  /// The rows of a command; FOLDER stands for a folder of the test.
  private static let rows: [String: [Row]] = [
    "devices": [Row(words: ["--json"], code: 0, opensReceiver: false)],
    "probe": [Row(words: [], code: 69), Row(words: ["--json", "--read-only"], code: 69)],
    "watch": [Row(words: ["--json", "--seconds", "0.5"], code: 69), Row(words: ["--seconds", "0.5"], code: 69)],
    "track": [
      Row(words: ["--json", "--seconds", "1"], code: 69), Row(words: ["--once", "--seconds", "1"], code: 69),
      Row(words: ["--significant", "--seconds", "1"], code: 69),
    ],
    "authorize": [Row(words: ["show"], code: 0, opensReceiver: false)],
    "configure": [
      Row(words: ["show", "--json"], code: 69), Row(words: ["get", "rate"], code: 69),
      Row(words: ["set", "rate=5Hz"], code: 69), Row(words: ["save"], code: 69),
      Row(words: ["backup", "FOLDER/backup"], code: 69), Row(words: ["factory-reset", "--yes"], code: 69),
      Row(words: ["restore", "FOLDER/settings"], code: 69),
    ],
    "record": [
      Row(words: ["FOLDER/recording"], code: 69), Row(words: ["--configure", "FOLDER/recording"], code: 69),
      Row(words: ["-"], code: 69),
    ],
    "decode": [Row(words: ["FOLDER/sentence.nmea"], code: 0, opensReceiver: false)],
    "power": [
      Row(words: [], code: 69), Row(words: ["sleep", "10"], code: 69), Row(words: ["wake"], code: 69),
      Row(words: ["mode", "cyclic:5"], code: 69),
    ],
    "batch": [Row(words: ["start"], code: 69), Row(words: ["status"], code: 69), Row(words: ["retrieve"], code: 69)],
    // The simulator itself, and measurements that name their simulated days.
    "simulate": [Row(words: ["--seconds", "0.2"], code: 0, opensReceiver: false)],
    "bench": [],
  ]

  private struct Result {
    var code: Int32
    var output: String
    var errors: String
  }

  /// Runs the program, which is built beside the tests, without the variables that name a receiver.
  private func run(_ words: [String], in folder: String) throws -> Result {
    let tests = try #require(CommandLine.arguments.first { $0.contains("PackageTests.xctest") })
    let place = tests.split(separator: "/", omittingEmptySubsequences: false).prefix {
      !$0.hasSuffix("PackageTests.xctest")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: place.joined(separator: "/") + "/sextant")
    process.arguments = words
    process.environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder, "XDG_CONFIG_HOME": folder, "SEXTANT_STATE_DIR": "\(folder)/state",
      "SEXTANT_RUN_DIR": "\(folder)/run",
    ]
    let (output, errors) = ("\(folder)/output", "\(folder)/errors")
    for path in [output, errors] { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
    try process.run()
    process.waitUntilExit()
    return Result(
      code: process.terminationStatus, output: try String(contentsOfFile: output, encoding: .utf8),
      errors: try String(contentsOfFile: errors, encoding: .utf8))
  }

  /// Makes a folder for one run.
  private static func folder() throws -> String {
    let path = "/tmp/sextant-no-receiver-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return path
  }

  @Test("Each command reports that there is no receiver, and reports and writes nothing simulated")
  func allCommands() throws {
    var names: [String] = []
    for command in Sextant.configuration.subcommands { names.append(command.configuration.commandName ?? "") }
    let tested = Self.rows.keys.sorted()
    #expect(names.sorted() == tested, "each command has its rows here")
    for name in names { for row in Self.rows[name] ?? [] { try check(name, row) } }
  }

  private func check(_ name: String, _ row: Row) throws {
    let path = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "$GPTXT,01,01,02,ANTENNA OK*36\r\n".write(toFile: "\(path)/sentence.nmea", atomically: false, encoding: .utf8)
    try "sextant-configuration 1\nCFG-RATE-MEAS = 0.2\n".write(
      toFile: "\(path)/settings", atomically: false, encoding: .utf8)
    let words = [name] + row.words.map { $0.replacingOccurrences(of: "FOLDER", with: path) }
    let result = try run(words, in: path)
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
    let path = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let errors = try run(["probe"], in: path).errors
    for step in ["plug one in", "--device", "GNSS_DEVICE", "--demo"] { #expect(errors.contains(step), "\(errors)") }
    let demo = try run(["probe", "--demo", "--json"], in: path)
    #expect(demo.code == 0 && demo.errors.contains("simulator"), "\(demo)")
    #expect(demo.output.contains("built-in simulator"), "\(demo)")
  }

  @Test("A file without a frame is refused with 65 by decode and by simulate --replay; a partial recording is decoded")
  func noFrames() throws {
    let path = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let text = String(repeating: "some words of a text, such as those of a README\n", count: 400)
    try text.write(toFile: "\(path)/text", atomically: false, encoding: .utf8)
    try "$GPTXT,01,01,02,ANTENNA OK*36\r\n$GPTXT,01,".write(
      toFile: "\(path)/part", atomically: false, encoding: .utf8)
    for format in ["tpv", "messages", "summary"] {
      let refused = try run(["decode", "--format", format, "\(path)/text"], in: path)
      #expect(refused.code == 65 && refused.errors.contains("no frame"), "\(format): \(refused)")
      let part = try run(["decode", "--format", format, "\(path)/part"], in: path)
      #expect(part.code == 0, "\(format): \(part)")
    }
    let replay = try run(["simulate", "--replay", "\(path)/text"], in: path)
    #expect(replay.code == 65 && replay.errors.contains("no frame"), "\(replay)")
  }

  @Test(
    "configure get takes each name that set takes",
    arguments: [
      ("constellations", "CFG-SIGNAL-GPS_ENA"), ("messages", "CFG-MSGOUT-"), ("nmea", "CFG-UART1OUTPROT-NMEA"),
      ("baud", "CFG-UART1-BAUDRATE"),
    ])
  func several(name: String, item: String) throws {
    let path = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let result = try run(["configure", "get", name, "--device", "sim:walk"], in: path)
    #expect(result.code == 0 && result.output.contains(item), "\(result)")
  }
}
