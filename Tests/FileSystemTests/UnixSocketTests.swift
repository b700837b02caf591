// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxIO
import MonotonicTime
import SystemPackage
import Testing

@Suite("A socket that listens at a path")
struct UnixSocketTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

  @Test("It has its permissions, accepts, and leaves no other name")
  func listens() throws {
    let path = folder + "/socket"
    let listener = try UnixSocket(listeningAt: path, permissions: 0o600)
    _ = try UnixSocket(connectingTo: path)
    #expect(try listener.accept() != nil)
    #expect(names() == ["socket"])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? Int) == 0o600)
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test("One that a killed process has left is replaced; one that accepts connections is not, nor is another file")
  func occupied() throws {
    let path = folder + "/socket"
    do { _ = try UnixSocket(listeningAt: path, permissions: 0o600) }
    let listener = try UnixSocket(listeningAt: path, permissions: 0o600)
    #expect(throws: Errno.addressInUse) { _ = try UnixSocket(listeningAt: path, permissions: 0o600) }
    _ = try UnixSocket(connectingTo: path)
    #expect(try listener.accept() != nil)
    #expect(names() == ["socket"])
    let file = folder + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: Data("text".utf8)))
    #expect(throws: Errno.fileExists) { _ = try UnixSocket(listeningAt: file, permissions: 0o600) }
    #expect(FileManager.default.contents(atPath: file) == Data("text".utf8))
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test("A program that connects as soon as the path exists is not refused")
  func connectsAtOnce() async throws {
    for round in 0..<100 {
      let path = folder + "/\(round)"
      let client = Task.detached { () -> Errno? in
        while true {
          do throws(Errno) {
            _ = try UnixSocket(connectingTo: path)
            return nil
          } catch {
            guard error == .noSuchFileOrDirectory else { return error }
          }
        }
      }
      let listener = try UnixSocket(listeningAt: path, permissions: 0o600)
      #expect(await client.value == nil)
      _ = consume listener
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test("A path that no program can connect to is too long")
  func length() {
    #expect(throws: Errno.fileNameTooLong) {
      _ = try UnixSocket(listeningAt: folder + "/" + String(repeating: "n", count: 108), permissions: 0o600)
    }
  }

  @Test(
    "After a refused descriptor a listener is not watched for a second, or until a descriptor is closed; one line a period"
  )
  func acceptPause() {
    var pause = AcceptPause()
    var now = Instant.zero
    func wait(_ milliseconds: UInt64) { now = now + Milliseconds(milliseconds) }
    var lines = 0
    for _ in 0..<10 {
      #expect(pause.interest == .readable && pause.deadline == nil)
      if pause.begin(at: now) { lines += 1 }
      #expect(pause.interest == [] && pause.deadline.map { $0 > now } == true)
      wait(999)
      let isEarly = pause.end(at: now)
      wait(1)
      let ends = [pause.end(at: now), pause.end(at: now)]
      #expect(!isEarly && ends == [true, false])
    }
    #expect(lines == 1)
    pause.accepted()
    let isFirst = pause.begin(at: now)
    let ends = [pause.endEarly(), pause.endEarly(), pause.end(at: now)]
    #expect(isFirst && ends == [true, false, false] && pause.interest == .readable)
  }
}
