// SPDX-License-Identifier: Apache-2.0
import FileSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SerialPort

/// Another program reads part of a line's bytes although it took no lock.
@Suite("Other readers of a line")
struct OtherReadersTests {
  /// A program that has a node open without a lock until it is ended.
  private final class Reader {
    let process = Process()

    init(of path: String) throws {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "exec sleep 60 < \(path)"]
      try process.run()
      let deadline = generousDeadline()
      while !has(path), clock() < deadline { usleep(5000) }
    }

    private func clock() -> UInt64 { generousDeadline() - 20_000_000_000 }

    private func has(_ path: String) -> Bool {
      let link = "/proc/\(process.processIdentifier)/fd/0"
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path
    }

    func end() {
      // SIGTERM may be blocked: a poller of another test blocks it for the processes that its thread starts.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  @Test("A program that has the pseudo-terminal open without a lock is named before it is opened")
  func named() throws {
    let device = try PseudoTerminal()
    let reader = try Reader(of: device.path)
    defer { reader.end() }
    let error = failure { () throws(SerialPortError) in
      _ = try SerialPort(opening: device.path, access: .readOnly, baud: nil)
    }
    #expect(error?.exitCode == 75)
    let holder = PortHolder(processID: reader.process.processIdentifier, program: "sleep")
    #expect(error?.cause == .held(by: [holder]))
    reader.end()
    _ = try SerialPort(opening: device.path, access: .readOnly, baud: nil)
  }

  @Test("A program that opens the line later is found at the open port")
  func later() throws {
    let device = try PseudoTerminal()
    let port = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(port.otherReaders == [])
    let reader = try Reader(of: device.path)
    defer { reader.end() }
    #expect(port.otherReaders.map(\.processID) == [reader.process.processIdentifier])
  }

  @Test("A process with both ends of the pseudo-terminal is the receiver's side")
  func master() throws {
    let program = Process()
    program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    program.arguments = [
      "python3", "-c",
      "import os, pty, time; m, s = pty.openpty(); print(os.ttyname(s), flush=True); time.sleep(60)",
    ]
    let output = Pipe()
    program.standardOutput = output
    try program.run()
    defer { kill(program.processIdentifier, SIGKILL) }
    var path = ""
    while !path.hasSuffix("\n") {
      let piece = output.fileHandleForReading.availableData
      try #require(!piece.isEmpty)
      path += String(decoding: piece, as: UTF8.self)
    }
    _ = try SerialPort(opening: String(path.dropLast()), access: .readWrite, baud: nil)
  }

  @Test("Devices that many programs have open, such as /dev/null, have no readers")
  func memory() throws {
    #expect(findOtherReaders(of: try Syscalls.status(ofPath: "/dev/null")) == [])
  }
}
