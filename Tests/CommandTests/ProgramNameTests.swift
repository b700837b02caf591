// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Testing

@testable import sextant

@Suite("The name of a program in the authorization store")
struct ProgramNameTests {
  private static let named = Array("<plist><dict><key>CFBundleIdentifier</key></dict></plist>".utf8)
  private static let unnamed = Array("<plist><dict><key>NSLocationUsageDescription</key></dict></plist>".utf8)

  @Test("An executable without an Info.plist is known by its name")
  func name() throws {
    #expect(try ProgramName.ofExecutable("/a/hike") { _ in nil } == "hike")
    #expect(try ProgramName.ofExecutable("./hike") { $0 == "/Info.plist" ? Self.named : nil } == "hike")
  }

  @Test("An executable whose Info.plist has no bundle identifier is known by its name")
  func withoutIdentifier() throws {
    #expect(try ProgramName.ofExecutable("/a/hike") { $0 == "/a/hike.plist" ? Self.unnamed : nil } == "hike")
    // The list named after the program replaces the one that it shares with others.
    #expect(
      try ProgramName.ofExecutable("/a/hike") {
        $0 == "/a/hike.plist" ? Self.unnamed : $0 == "/a/Info.plist" ? Self.named : nil
      } == "hike")
  }

  @Test(
    "An executable with an Info.plist is to be named by its bundle identifier",
    arguments: [
      ("/a/hike", "/a/Info.plist"), ("./hike", "./Info.plist"), ("/a/hike", "/a/hike.plist"),
      ("/a/hike", "/a/hike.app/Contents/Info.plist"), ("/a/hike", "/a/hike.app/Info.plist"),
      ("/usr/bin/hike", "/usr/share/hike/Info.plist"),
      ("/a/H.app/Contents/Linux/H", "/a/H.app/Contents/Info.plist"),
    ])
  func bundle(path: String, list: String) {
    let failure = #expect(throws: CommandFailure.self) {
      try ProgramName.ofExecutable(path) { $0 == list ? Self.named : nil }
    }
    #expect(failure?.exitCode == SystemExitCode.usage.rawValue)
    #expect(
      failure?.description
        == "\(path): is known by its bundle identifier; name that (CFBundleIdentifier in \(list))")
  }
}
