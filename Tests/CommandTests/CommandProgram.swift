// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxIO
import Testing

/// The program `sextant`, which is built with the tests, without the variables that name a receiver.
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
  ///   - input: a file for standard input; nil if there is none.
  ///   - variables: further variables of the environment.
  static func run(
    _ words: [String], in folder: String, input: String? = nil, variables: [String: String] = [:]
  ) throws -> Result {
    let tests = try #require(CommandLine.arguments.first { $0.contains("PackageTests.xctest") })
    let place = tests.split(separator: "/", omittingEmptySubsequences: false).prefix {
      !$0.hasSuffix("PackageTests.xctest")
    }
    let program = place.joined(separator: "/") + "/sextant"
    var environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder, "XDG_CONFIG_HOME": folder, "SEXTANT_STATE_DIR": "\(folder)/state",
      "SEXTANT_RUN_DIR": "\(folder)/run",
    ].merging(variables) { $1 }
    // Under the address sanitizer the program is instrumented as well.
    environment["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    let (output, errors) = ("\(folder)/output", "\(folder)/errors")
    let redirection = #"input=$1 output=$2 errors=$3; shift 3; exec "$@" <"$input" >"$output" 2>"$errors""#
    let redirected = ["/bin/sh", "-c", redirection, "sh", input ?? "/dev/null", output, errors]
    let assignments = environment.map { "\($0)=\($1)" }
    let child = try ChildProcess("/usr/bin/env", ["-i"] + assignments + redirected + [program] + words)
    // Its output is in the file; the pipe only reports the end.
    #expect(child.readToEnd(limit: 0) == [])
    // Bytes of a receiver are not text.
    return Result(
      code: child.end().exitCode ?? -1,
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
