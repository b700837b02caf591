// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import SerialPort

/// Another program reads part of a line's bytes without taking a lock.
@Suite("Other readers of a line")
struct OtherReadersTests {
  /// A program that has a node open without a lock until it is ended.
  private final class Reader {
    private let child: ChildProcess
    var processID: Int32 { child.processID }

    init(of path: String) throws {
      child = try ChildProcess("/bin/sh", ["-c", "exec sleep 60 < \(path)"])
      let deadline = generousDeadline()
      while !has(path), clock() < deadline { usleep(5000) }
    }

    private func clock() -> UInt64 { generousDeadline() - 20_000_000_000 }

    /// The shell opens the node before it becomes the program.
    private func has(_ path: String) -> Bool {
      let folder = "/proc/\(processID)"
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/0")
      return link == path && (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8)) == "sleep\n"
    }

    func end() {
      child.kill()
      _ = child.end()
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
    let holder = PortHolder(processID: reader.processID, program: "sleep")
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
    #expect(port.otherReaders.map(\.processID) == [reader.processID])
  }

  /// A process with both ends of a pseudo-terminal, which then does `work`.
  private final class Emulator {
    private let child: ChildProcess
    let path: String

    init(_ work: String) throws {
      child = try ChildProcess(
        "/usr/bin/env",
        ["python3", "-c", "import os, pty, time; m, s = pty.openpty(); print(os.ttyname(s), flush=True)\n" + work])
      var path: [UInt8] = []
      while path.last != UInt8(ascii: "\n") {
        child.waitForOutput()
        path += try #require(child.read())
      }
      self.path = String(decoding: path.dropLast(), as: UTF8.self)
    }

    deinit { child.kill() }
  }

  @Test("A process with both ends of the pseudo-terminal is the receiver's side")
  func master() throws {
    let emulator = try Emulator("time.sleep(60)")
    _ = try SerialPort(opening: emulator.path, access: .readWrite, baud: nil)
  }

  @Test("A process that the receiver's side starts has both ends until it executes its program, and is not a reader")
  func forking() throws {
    // Each child has the two ends for a moment, as between fork(2) and execve(2).
    let emulator = try Emulator("while True:\n  if not os.fork(): os.execv('/bin/true', ['true'])\n  os.wait()")
    let node = try Syscalls.status(ofPath: emulator.path)
    for _ in 0..<1500 { #expect(findOtherReaders(of: node) == []) }
  }

  @Test("Devices that many programs have open, such as /dev/null, have no readers")
  func memory() throws {
    #expect(findOtherReaders(of: try Syscalls.status(ofPath: "/dev/null")) == [])
  }
}
