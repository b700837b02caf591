// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import TestSupport
import Testing

/// Programs that the stack starts.
@Suite("Child processes")
struct ChildProcessTests {
  @Test("A program reads all of its input and then its end, and the output, errors and code are its own")
  func input() throws {
    let input = (0..<3000).map { UInt8(truncatingIfNeeded: $0) }
    let child = try ChildProcess("/bin/sh", ["-c", "cat; echo no more >&2; exit 3"], input: input)
    #expect(child.readToEnd(limit: 3000) == input)
    let (code, errors) = child.end()
    #expect(code == 3 && errors == "no more\n")
  }

  @Test("Without an input, the program's input ends with the value")
  func open() throws {
    let folder = try TemporaryFolder()
    var child: ChildProcess? = try ChildProcess(
      "/bin/sh", ["-c", "echo ready; cat; : > \"$1\"", "sh", "\(folder.path)/ended"])
    var output: [UInt8] = []
    while !output.contains(UInt8(ascii: "\n")) {
      child?.waitForOutput()
      output += try #require(child?.read())
    }
    #expect(output == Array("ready\n".utf8))
    #expect(folder.names == [])
    child = nil
    // It has ended on its own: it was not killed.
    #expect(folder.names == ["ended"])
  }

  @Test("An input that a pipe cannot take, and a program that does not exist, are errors with the program's name")
  func refused() {
    #expect(throws: ChildProcessError.self) {
      try ChildProcess("/bin/cat", [], input: [UInt8](repeating: 0, count: 1 << 20))
    }
    let error = #expect(throws: ChildProcessError.self) { try ChildProcess("/nowhere/program", []) }
    #expect(error?.description == "/nowhere/program: No such file or directory")
  }

  @Test("A program whose output is no longer wanted is ended")
  func unwanted() throws {
    let child = try ChildProcess("/bin/sh", ["-c", "echo begun; exec sleep 1000"])
    var checks = 0
    let output = child.readToEnd(limit: 10_000) {
      checks += 1
      return checks < 2
    }
    #expect(output == nil && checks == 2 && child.end().exitCode == nil)
  }

  @Test("An output that is too long is refused, and the program ends with the value")
  func tooLong() throws {
    let child = try ChildProcess("/bin/sh", ["-c", "exec cat /dev/zero"])
    #expect(child.readToEnd(limit: 10_000) == nil)
    child.kill()
    #expect(child.end().exitCode == nil)
  }
}
