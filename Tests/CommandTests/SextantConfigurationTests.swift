// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import Testing

@testable import ReceiverRuntime

@Suite("The configuration file")
struct SextantConfigurationTests {
  private func read(_ text: String) throws -> SextantConfiguration {
    try SextantConfiguration(parsing: text, file: "/etc/sextant/config")
  }

  @Test("A line is divided by its bytes: a character of a value hides no space, and a value is not cut")
  func bytes() throws {
    let configuration = try read(
      "device /dev/\u{301}a \u{301}b # c\u{301}\nspartn-keys = /k\u{301} \u{301}l\r\ngpsd = on\r\n")
    #expect(configuration.devices.map { Array($0.utf8) } == [Array("/dev/\u{301}a \u{301}b".utf8)])
    #expect(configuration.spartnKeys.map { Array($0.utf8) } == Array("/k\u{301} \u{301}l".utf8))
    #expect(configuration.gpsd?.isOn == true)
    for text in ["gpsd = on, every 6\u{600}s", "gpsd = off\u{301}", "gpsd = \u{301}on"] {
      #expect(throws: SextantConfigurationError.self, "\(text)") { try read(text) }
    }
  }

  @Test("Keys and values, comments, several receivers")
  func values() throws {
    let text = """
      # The van's receivers
      device     /dev/gnss/by-id/usb-u-blox#1   # the roof
      device /dev/serial/by-path/with space
      \tbaud\t115200\r
      read-only yes

      supply gpio /dev/gpiochip0 17
      geocoder https://maps.example.org
      gpsd = on, every 90 s, accuracy 30 m   # the cabin
      corrections = ntrip://me@caster.example/NEAR
      corrections = serial:/dev/ttyUSB1@57600   # the radio
      corrections-always = on
      spartn-keys = /etc/sextant/spartn keys   # of the provider
      assistance = broadcast
      assistnow = on, 14 days
      """
    var wanted = SextantConfiguration()
    wanted.devices = ["/dev/gnss/by-id/usb-u-blox#1", "/dev/serial/by-path/with space"]
    wanted.baud = 115_200
    wanted.isReadOnly = true
    wanted.supply = "gpio /dev/gpiochip0 17"
    wanted.geocoder = "https://maps.example.org"
    wanted.gpsd = GPSDSetting("on, accuracy 30 m, every 1.5 min")
    wanted.corrections = [
      .ntrip(host: "caster.example", port: 2101, mount: "NEAR", credentials: "me"),
      .serial(path: "/dev/ttyUSB1", baud: 57_600),
    ]
    wanted.hasCorrectionsAlways = true
    wanted.spartnKeys = "/etc/sextant/spartn keys"
    wanted.assistance = .broadcast
    wanted.assistNow = AssistNow("on, 14 days")
    #expect(try read(text) == wanted)
    #expect(try read("") == SextantConfiguration())
    // These may have an equals sign too.
    let plain = "device /dev/a\nbaud 9600\nread-only yes\nsupply file:/s\ngeocoder https://m\n"
    #expect(try read(plain.replacing(" ", with: " = ")) == read(plain))
    #expect(try read("\u{FEFF}" + text.replacing("\n", with: "\r\n")) == wanted)
  }

  @Test(
    "A mistake is reported with the file, the line and the next step",
    arguments: [
      ("device", 1, "has no value"), ("\nbaud fast", 2, "baud 115200"), ("baud 0", 1, "baud 115200"),
      ("read-only maybe", 1, "yes"), ("speed 9600", 1, "device, baud, read-only, supply and geocoder"),
      ("baud 9600\nbaud 9600", 2, "second time"), ("supply # none", 1, "has no value"),
      ("gpsd on", 1, "gpsd = on, every 60 s"), ("gpsd = on, every 60", 1, "gpsd = on, every 60 s"),
      ("gpsd = off\ngpsd = on", 2, "second time"), ("corrections ntrip://c/M", 1, "write `corrections = `"),
      ("corrections = http://c/M", 1, "ntrip://USER@HOST"), ("corrections-always = yes", 1, "corrections-always = on"),
      ("corrections-always = on\ncorrections-always = on", 2, "second time"),
      ("spartn-keys = keys", 1, "the path of the file"), ("spartn-keys /keys", 1, "the path of the file"),
      ("spartn-keys = /a\nspartn-keys = /a", 2, "second time"), ("assistance = all", 1, "assistance = broadcast"),
      ("assistance broadcast", 1, "assistance = broadcast"),
      ("assistance = own\nassistance = own", 2, "second time"), ("assistnow = yes", 1, "assistnow = CODE, live"),
      ("assistnow = on\nassistnow = on", 2, "second time"), ("epo = on", 1, "not supported"),
    ])
  func mistakes(text: String, line: Int, words: String) {
    #expect {
      try read(text)
    } throws: { error in
      let text = "\(error)"
      return text.hasPrefix("/etc/sextant/config:\(line): ") && text.contains(words)
    }
  }

  @Test("The paths of the files: the user's comes first")
  func places() {
    func paths(_ variables: [String: String]) -> [String] { SextantConfiguration.paths { variables[$0] } }
    #expect(paths(["HOME": "/h"]) == ["/h/.config/sextant/config", "/etc/sextant/config"])
    #expect(paths(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]).first == "/x/sextant/config")
    #expect(paths(["XDG_CONFIG_HOME": "x"]) == ["/etc/sextant/config"])
  }

  @Test("The user's file overrides the machine's key by key, and a missing file is empty")
  func files() throws {
    let folder = "/tmp/sextant-configuration-tests-\(UInt64.random(in: 0 ... .max))"
    _ = try PrivateFolder(folder + "/sextant", makingWith: 0o700)
    defer { UserFile.remove(folder + "/sextant/config") }
    func installed() throws -> SextantConfiguration {
      try SextantConfiguration.installed { $0 == "XDG_CONFIG_HOME" ? folder : nil }
    }
    let before = try installed()
    try UserFile.replace(folder + "/sextant/config", with: "device /dev/mine\n")
    #expect(try installed().devices == ["/dev/mine"])
    #expect(try installed().baud == before.baud)
    try UserFile.replace(folder + "/sextant/config", with: "devise /dev/mine\n")
    #expect(throws: SextantConfigurationError.self) { try installed() }
  }
}
