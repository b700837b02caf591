// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@testable import SerialPort

@Suite("Refusals to open, and their messages")
struct RefusalTests {
  private let program = String(
    decoding: ((try? UserFile.readBytes("/proc/self/comm")) ?? []).dropLast(), as: UTF8.self)

  @Test("A second opener is refused, with the pid and name of the holder")
  func held() throws {
    let device = try PseudoTerminal()
    let first = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    let error = try #require(failureOpening(first.path))
    #expect(error.cause == .held(by: [PortHolder(processID: getpid(), program: program)]))
    #expect(error.exitCode == 75)
    #expect(error.description.contains("\(program) (pid \(getpid()))"))
  }

  @Test("Bytes and settings of the first opener are unaffected by the refused one")
  func heldUndisturbed() throws {
    let device = try PseudoTerminal()
    let first = try SerialPort(opening: device.path, access: .readWrite, baud: 115_200)
    let path = first.path
    let error = failure { () throws(SerialPortError) in
      _ = try SerialPort(opening: path, access: .readWrite, baud: 4800)
    }
    #expect(error?.exitCode == 75)
    #expect(first.baudRate == 115_200)
  }

  @Test("Exclusive mode without a lock is respected, also by a privileged user")
  func heldExclusively() throws {
    let device = try PseudoTerminal()
    let other = try Syscalls.open(device.path, O_RDWR | O_NOCTTY)
    try Syscalls.setExclusive(other.number, true)
    let error = try #require(failureOpening(device.path))
    #expect(error.exitCode == 75)
    #expect(error.description.contains("pid \(getpid())"))
  }

  @Test("After the first one is closed the line is free")
  func free() throws {
    let device = try PseudoTerminal()
    _ = try SerialPort(opening: device.path, access: .readWrite, baud: nil)
    #expect(failureOpening(device.path) == nil)
  }

  @Test("The owner of the lock is read from the kernel's list")
  func lockOwnerInList() throws {
    let node = try Syscalls.status(ofPath: "/dev/null")
    let place = hexadecimalPlace(of: node)
    let locks = """
      1: POSIX  ADVISORY  WRITE 11 \(place) 0 EOF
      2: FLOCK  ADVISORY  WRITE 12 00:00:1 0 EOF
      2: -> FLOCK  ADVISORY  WRITE 13 \(place) 0 EOF
      3: FLOCK  ADVISORY  WRITE 412 \(place) 0 EOF
      """
    #expect(lockOwner(of: node, inLocks: locks) == 412)
    #expect(lockOwner(of: node, inLocks: "3: FLOCK  ADVISORY  WRITE 0 \(place) 0 EOF") == nil)
    #expect(lockOwner(of: node, inLocks: "nonsense") == nil)
  }

  private func hexadecimalPlace(of node: NodeStatus) -> String {
    let major = String(node.fileSystem >> 8 & 0xfff, radix: 16)
    let minor = String(node.fileSystem & 0xff, radix: 16)
    return "\(major):\(minor):\(node.inode)"
  }

  @Test("A missing file")
  func missing() throws {
    let error = try #require(failureOpening("/nonexistent/ttyUSB7"))
    #expect(error.cause == .notFound)
    #expect(error.errno == ENOENT)
    #expect(error.exitCode == 66)
    let cure = "no such device or file; connect the device, or correct the path"
    #expect(error.description == "/nonexistent/ttyUSB7: \(cure)")
  }

  @Test("A directory")
  func directory() throws {
    let folder = try TemporaryFolder()
    let error = try #require(failureOpening(folder.path))
    #expect(error.cause == .directory)
    #expect(error.exitCode == 66)
  }

  @Test("A node without permission names the group to join, or reports that no group has access")
  func permission() {
    let closed = SerialPortError(
      cause: .noPermission(group: "dialout"), operation: .open, path: "/dev/ttyUSB0", errno: EACCES)
    #expect(closed.exitCode == 77)
    #expect(closed.description.contains("sudo usermod -aG dialout $USER"))
    let ungrouped = SerialPortError(
      cause: .noPermission(group: nil), operation: .open, path: "/dev/ttyUSB0", errno: EACCES)
    #expect(ungrouped.description.contains("udev rule"))
  }

  @Test(
    "Each errno of an opening and of an open port has its cause",
    arguments: [
      (ENOENT, .notFound), (ENXIO, .notFound), (EIO, .notFound), (EISDIR, .directory), (EMFILE, .inputOutput),
    ] as [(Int32, SerialPortError.Cause)])
  func causes(pair: (Int32, SerialPortError.Cause)) {
    #expect(SerialPortError(opening: "/dev/null", Errno(rawValue: pair.0)).cause == pair.1)
  }

  @Test("The loss of a device has many errnos and one cause", arguments: [EIO, ENXIO, ENODEV])
  func gone(code: Int32) {
    let error = SerialPortError(Errno(rawValue: code), .read, "/dev/ttyACM0")
    #expect(error.cause == .gone)
    #expect(error.exitCode == 74)
    #expect(error.errno == code)
  }

  @Test("Every message is one line")
  func oneLine() {
    let causes: [SerialPortError.Cause] = [
      .notFound, .directory, .unsuitable, .noPermission(group: "gnss"), .noPermission(group: nil), .held(by: []),
      .held(by: [PortHolder(processID: 1, program: "gpsd"), PortHolder(processID: 2, program: "")]), .gone,
      .inputOutput,
      .unsupportedBaudRate(requested: 1, offered: 2), .unsupportedBaudRate(requested: 1, offered: nil), .notSupported,
    ]
    for cause in causes {
      let error = SerialPortError(cause: cause, operation: .read, path: "/dev/ttyS0", errno: EIO)
      #expect(error.description.hasPrefix("/dev/ttyS0: "))
      #expect(!error.description.contains("\n"))
    }
  }
}
