// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import SerialPort
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("The opening of lines for other programs")
struct LentLineTests {
  private func refusal(_ name: String, isPermitted: Bool = true) -> SerialPortError? {
    do throws(SerialPortError) {
      _ = try LentLine.open(name) { _ in isPermitted }
      return nil
    } catch { return error }
  }

  @Test("A file is not lent")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = try folder.file("secret")
    #expect(try #require(refusal(path)).description.contains("is a file"))
  }

  @Test("The permission is checked for the opened device")
  func permission() throws {
    let device = try PseudoTerminal()
    let path = device.path
    #expect(refusal(path) == nil)
    #expect(try #require(refusal(path, isPermitted: false)).description.contains("may not open"))
    var found: NodeAccess?
    _ = try LentLine.open(path) {
      found = $0
      return true
    }
    #expect(found == (try NodeAccess(ofPath: path)))
  }
}
