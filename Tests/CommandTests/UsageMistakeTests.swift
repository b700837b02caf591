// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverRuntime
import Testing

@testable import sextant

@Suite("Mistakes in a command line")
struct UsageMistakeTests {
  @Test(
    "Each is one line with exit code 64 that ends with the command's help",
    arguments: [
      (["watch", "--devcie", "x"], "sextant: unknown option '--devcie'", "sextant watch --help"),
      (["watch", "--count", "0"], "sextant: --count must be a number from 1 on", "sextant watch --help"),
      (["watch", "--count"], "sextant: missing value for '--count <count>'", "sextant watch --help"),
      (
        ["watch", "--count", "two"], "sextant: the value 'two' is invalid for '--count <count>'", "sextant watch --help"
      ),
      (["record"], "sextant: missing expected argument '<file>'", "sextant record --help"),
      (
        ["watch", "/dev/a", "--device", "/dev/b"], "sextant: /dev/a: --device names the receiver already",
        "watch --help"
      ),
      (["report", "a", "--truth", "x"], "sextant: --truth must be LAT,LON", "sextant report --help"),
      (["authorize", "grant"], "sextant: missing expected argument '<app>'", "sextant authorize grant --help"),
    ])
  func oneLine(words: [String], begin: String, end: String) throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    let result = try CommandProgram.run(words, in: folder)
    #expect(result.code == 64)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix(begin), "\(result.errors)")
    #expect(result.errors.hasSuffix("\(end)`\n"), "\(result.errors)")
    #expect(result.errors.count { $0 == "\n" } == 1)
  }

  @Test("The help of a command with commands is not a mistake, also with its hint at the help of those")
  func hints() {
    let usage = "USAGE: sextant <subcommand>\n\n  See 'sextant help <subcommand>' for detailed help."
    #expect(UsageMistake.text(usage, full: usage) == nil)
    let mistake = "Error: Unknown option '--x'\nUsage: sextant\n  See 'sextant --help' for more information."
    #expect(UsageMistake.text("Unknown option '--x'", full: mistake) == "unknown option '--x'; see `sextant --help`")
  }

  @Test("Help and version are not mistakes")
  func requests() throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    for words in [["--help"], ["watch", "--help"], ["help", "watch"], ["--version"], []] {
      let result = try CommandProgram.run(words, in: folder)
      #expect(result.code == 0 && result.errors == "" && !result.output.isEmpty, "\(words)")
    }
  }

  @Test("The help groups the commands by task, and lists bench only where it is installed")
  func groups() throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    let help = try CommandProgram.run(["--help"], in: folder).output
    for name in ["WATCH", "RECORDING", "RECEIVER", "SERVICE", "SIMULATION"] {
      #expect(help.contains("\n\(name) SUBCOMMANDS:\n"))
    }
    let isInstalled = help.contains("\n  bench ")
    let tests = try #require(CommandLine.arguments.first { $0.contains("PackageTests.xctest") })
    let place = tests.split(separator: "/", omittingEmptySubsequences: false).prefix {
      !$0.hasSuffix("PackageTests.xctest")
    }
    #expect(isInstalled == FileManager.default.fileExists(atPath: place.joined(separator: "/") + "/sextant-bench"))
  }

  @Test("A receiver is named as an argument, by -d and by --device, and its rate by -b")
  func places() throws {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    for words in [["sim:walk"], ["-d", "sim:walk"], ["--device", "sim:walk"], ["-b", "9600", "sim:walk"]] {
      let result = try CommandProgram.run(["watch"] + words + ["--json", "--count", "1"], in: folder)
      #expect(result.code == 0, "\(words): \(result.errors)")
      #expect(result.output.contains(#""class":"TPV""#))
    }
    let missing = try CommandProgram.run(["probe", "/dev/ttyACM77"], in: folder)
    #expect(missing.code == 66)
    #expect(missing.errors.hasPrefix("sextant: /dev/ttyACM77: no such device"), "\(missing.errors)")
  }

  @Test("A shell is offered the built-in scenarios as devices")
  func completion() {
    #expect(DeviceCompletion.words.contains("sim:walk"))
    #expect(Set(DeviceCompletion.words).count == DeviceCompletion.words.count)
  }
}
