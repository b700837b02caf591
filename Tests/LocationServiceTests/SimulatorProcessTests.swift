// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import SerialPort
import Testing

@testable import LocationService

@Suite("The simulated receiver in a process of its own")
struct SimulatorProcessTests {
  /// The program is built with the tests.
  private static let candidates: [String] =
    CommandLine.arguments.compactMap { argument in
      guard argument.contains("PackageTests.xctest") else { return nil }
      let folder = argument.split(separator: "/", omittingEmptySubsequences: false)
        .prefix { !$0.hasSuffix("PackageTests.xctest") }
      return folder.joined(separator: "/") + "/sextant"
    } + SimulatorProcess.candidates

  /// Reads until there is a path or a failure.
  private func start(_ scenario: String) throws -> SimulatorProcess {
    let process = try SimulatorProcess(scenario: scenario, candidates: Self.candidates)
    var poller = try Poller()
    try poller.add(process.fileDescriptor, token: Poller.Token(rawValue: 1))
    while process.path == nil {
      let events = try poller.wait(deadline: SystemClock.monotonic.nanoseconds + 30_000_000_000)
      if events.contains(.timeout) { throw SimulatorFailure(problem: nil, description: "nothing came in 30 s") }
      try process.read()
    }
    return process
  }

  private func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  @Test(
    "A program that was built in a package names the one command that builds the simulator",
    arguments: [
      ("/home/ada/hike/.build/x86_64-unknown-linux-gnu/debug/hike", "swift build --product sextant`"),
      ("/home/ada/hike/.build/release/hike", "swift build --product sextant -c release`"),
      ("/usr/bin/hike", "install it"), (nil, "install it"),
    ])
  func advice(path: String?, expected: String) {
    #expect(SimulatorProcess.advice(ownPath: path).contains(expected))
  }

  @Test("The receiver exists as long as the value, in a folder that only this user can enter")
  func lives() throws {
    var process: SimulatorProcess? = try start("walk")
    let path = try #require(process?.path)
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    #expect(status(folder).map { $0.st_mode & 0o7777 } == 0o700)
    #expect(status(path).map { $0.st_mode & S_IFMT } == S_IFCHR)
    process = nil
    #expect(status(path) == nil)
    #expect(status(folder) == nil)
  }

  @Test("An unknown scenario is reported with the next step")
  func failures() throws {
    let nowhere = #expect(throws: SimulatorFailure.self) { try start("nowhere") }
    #expect(nowhere?.problem == .misnamed)
    #expect(nowhere?.description.hasPrefix("nowhere: no such scenario; there are ") == true)
    let missing = #expect(throws: SimulatorFailure.self) { try start("/none/none.scenario") }
    #expect(missing?.problem == .misnamed)
    #expect(missing?.description == "/none/none.scenario: no such file; check the name")
  }

  @Test("A missing program is reported with the next step")
  func noProgram() throws {
    let failure = #expect(throws: SimulatorFailure.self) {
      try SimulatorProcess(scenario: "walk", candidates: ["/none"])
    }
    #expect(failure?.problem == nil)
    #expect(
      failure?.description
        == "GNSS_DEVICE=sim:walk needs the program sextant: \(SimulatorProcess.advice)")
  }
}
