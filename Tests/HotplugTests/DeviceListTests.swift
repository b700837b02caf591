// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SerialPort

@Suite("The user's list of devices")
struct DeviceListTests {
  private func list(_ text: String) throws -> DeviceList { try DeviceList(parsing: text, file: "devices") }

  @Test("A device in the list is a receiver with its name, whatever its other attributes")
  func receiver() throws {
    let port = ReceiverPort(.arduino("/dev/ttyACM0"), list: try list("2341:0043 my own receiver # on a board"))
    #expect(port.likelihood == .receiver)
    #expect(port.name == "my own receiver")
  }

  @Test("A device that the list excludes is not a receiver")
  func excluded() throws {
    let port = ReceiverPort(.receiver("/dev/ttyACM0"), list: try list("# lab\n\nnot 1546:01a8\n"))
    #expect(port.likelihood == .other(.excludedByList))
  }

  @Test("A line about one interface does not apply to others")
  func interface() throws {
    var attributes = DeviceAttributes.arduino("/dev/ttyACM0")
    attributes.interface = 2
    #expect(ReceiverPort(attributes, list: try list("2341:0043 if02 mine")).likelihood == .receiver)
    #expect(ReceiverPort(attributes, list: try list("2341:0043 if00 mine")).likelihood == .other(.developmentBoard))
    #expect(ReceiverPort(attributes, list: try list("2341:0043 if0a")).name == "Arduino")
  }

  @Test("The first line that matches decides, and the user's file precedes the machine's")
  func order() throws {
    let both = try list("not 1546:01a8").followed(by: try list("1546:01a8 mine"))
    #expect(ReceiverPort(.receiver("/dev/ttyACM0"), list: both).likelihood == .other(.excludedByList))
    #expect(
      DeviceList.paths(configurationFolder: "/home/a/cfg", home: "/home/a")
        == ["/home/a/cfg/sextant/devices", "/etc/sextant/devices"])
    #expect(
      DeviceList.paths(configurationFolder: nil, home: "/home/a")
        == ["/home/a/.config/sextant/devices", "/etc/sextant/devices"])
    #expect(DeviceList.paths(configurationFolder: nil, home: nil) == ["/etc/sextant/devices"])
  }

  @Test(
    "A mistake is reported with its line and the next step",
    arguments: [
      ("1546:01a8\n1546 01a8", "devices:2: `1546` is not a pair"),
      ("1546:1a8", "devices:1: `1546:1a8` is not a pair"),
      ("\n\nnot", "devices:3: `not` needs USB ids"),
      ("not 1546:01a8 mine", "devices:1: `mine` is not allowed"),
      ("15g6:01a8\r\n", "devices:1: `15g6:01a8` is not a pair"),
    ])
  func mistakes(text: String, start: String) {
    #expect {
      try list(text)
    } throws: { error in
      "\(error)".hasPrefix(start) && "\(error)".contains("as in") || "\(error)".contains("after `not`")
    }
  }

  @Test("Line ends of other systems are accepted")
  func otherLineEnds() throws {
    #expect(try list("1546:01a8 a\r\nnot 2341:0043\r\n").entries.count == 2)
  }

  @Test("A missing file is empty; a folder in its place is reported")
  func files() throws {
    #expect(try DeviceList.read("/nonexistent/devices") == DeviceList())
    #expect(throws: DeviceListError.self) { try DeviceList.read("/") }
  }
}
