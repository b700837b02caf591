// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The program `sextant`, which is built beside the tests, without the variables that name a receiver.
enum CommandProgram {
  struct Result {
    var code: Int32
    var output: String
    var errors: String
  }

  /// Runs the program to its end.
  ///
  /// - Parameters:
  ///   - words: the command line.
  ///   - folder: a folder of the test, for state and output.
  ///   - input: a file for standard input; nil for none.
  ///   - variables: further variables of the environment.
  static func run(
    _ words: [String], in folder: String, input: String? = nil, variables: [String: String] = [:]
  ) throws -> Result {
    let tests = try #require(CommandLine.arguments.first { $0.contains("PackageTests.xctest") })
    let place = tests.split(separator: "/", omittingEmptySubsequences: false).prefix {
      !$0.hasSuffix("PackageTests.xctest")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: place.joined(separator: "/") + "/sextant")
    process.arguments = words
    var environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder, "XDG_CONFIG_HOME": folder, "SEXTANT_STATE_DIR": "\(folder)/state",
      "SEXTANT_RUN_DIR": "\(folder)/run",
    ].merging(variables) { $1 }
    // Under the address sanitizer the program is instrumented as well.
    environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    process.environment = environment
    let (output, errors) = ("\(folder)/output", "\(folder)/errors")
    for path in [output, errors] { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
    process.standardInput = try input.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
    try process.run()
    process.waitUntilExit()
    // Bytes of a receiver are no text.
    return Result(
      code: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self),
      errors: try String(contentsOfFile: errors, encoding: .utf8))
  }

  /// Makes a folder for one run.
  static func folder() throws -> String {
    let path = "/tmp/sextant-commands-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return path
  }

  static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
