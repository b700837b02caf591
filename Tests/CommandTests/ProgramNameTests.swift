// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import sextant

@Suite("The name of a program in the authorization store")
struct ProgramNameTests {
  @Test("An executable without an Info.plist is known by its name")
  func name() throws {
    #expect(try ProgramName.ofExecutable("/a/hike") { _ in false } == "hike")
    #expect(try ProgramName.ofExecutable("./hike") { $0 == "/Info.plist" } == "hike")
  }

  @Test(
    "An executable with an Info.plist is to be named by its bundle identifier",
    arguments: [
      ("/a/hike", "/a/Info.plist"), ("./hike", "./Info.plist"),
      ("/a/H.app/Contents/Linux/H", "/a/H.app/Contents/Info.plist"),
    ])
  func bundle(path: String, list: String) {
    let failure = #expect(throws: CommandFailure.self) { try ProgramName.ofExecutable(path) { $0 == list } }
    #expect(failure?.exitCode == CommandFailure.ExitCode.usage.rawValue)
    #expect(
      failure?.description
        == "\(path): is known by its bundle identifier; name that (CFBundleIdentifier in \(list))")
  }
}
