// SPDX-License-Identifier: Apache-2.0
import Glibc
import ReceiverRuntime
import Testing

@Suite("The supply switch of a receiver")
struct SupplySwitchTests {
  @Test("A switch is addressed by chip and line, or by a file and its words")
  func names() throws {
    let line = try SupplySwitchAddress("gpio:gpiochip0/17")
    #expect(line.mechanism == .gpio(chip: "/dev/gpiochip0", line: .number(17), isActiveLow: false) && !line.keepsMemory)
    let named = try SupplySwitchAddress("gpio:/dev/gpiochip2/GNSS_EN,active-low,keeps-memory")
    #expect(
      named.mechanism == .gpio(chip: "/dev/gpiochip2", line: .name("GNSS_EN"), isActiveLow: true) && named.keepsMemory)
    #expect(try SupplySwitchAddress("file:/sys/a").mechanism == .file(path: "/sys/a", on: "1", off: "0"))
    let regulator = try SupplySwitchAddress("file:/sys/x=y/state=enabled/disabled,keeps-memory")
    #expect(
      regulator.mechanism == .file(path: "/sys/x=y/state", on: "enabled", off: "disabled") && regulator.keepsMemory)
  }

  @Test(
    "An invalid address is refused with the correct form",
    arguments: [
      ("17", "gpio:gpiochip0/17"), ("gpio:17", "chip and line"), ("gpio:/17", "chip and line"),
      ("gpio:a/", "chip and line"),
      ("gpio:gpiochip0/1,low", "active-low"), ("file:a", "begin with /"), ("file:/a=on", "=enabled/disabled"),
      ("file:/a=1/1", "=enabled/disabled"), ("file:/a,active-low", "=0/1"), ("", "gpio:gpiochip0/17"),
    ])
  func refused(_ text: String, _ cure: String) {
    do throws(SupplySwitchError) {
      _ = try SupplySwitchAddress(text)
      Issue.record("\(text) is not a switch")
    } catch {
      #expect(error.description.contains(cure) && error.exitCode == 64, "\(error)")
    }
  }

  @Test("A file gets the word for on when it is opened, and each word as it is switched")
  func file() throws {
    var template = Array("/tmp/sextant-switch-XXXXXX".utf8CString)
    // mkstemp(3) writes the name into the array, which outlives the call.
    let descriptor = unsafe mkstemp(&template)
    try #require(descriptor >= 0)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    func content() -> String {
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
      return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
    let supply = try SupplySwitch(SupplySwitchAddress("file:\(path)=enabled/disabled"))
    #expect(content() == "enabled\n")
    try supply.set(isOn: false)
    #expect(content() == "disabled\n")
    try supply.set(isOn: true)
    #expect(content() == "enabled\n")
  }

  @Test(
    "An error of the system is reported with the next step",
    arguments: [
      ("gpio:nowhere/1", "gpiochip", 66 as Int32), ("gpio:/dev/null/1", "not a GPIO chip", 74),
      ("file:/nowhere/state", "check the name", 66),
    ])
  func failures(_ text: String, _ cure: String, _ code: Int32) throws {
    let address = try SupplySwitchAddress(text)
    do throws(SupplySwitchError) {
      _ = try SupplySwitch(address)
      Issue.record("\(text) cannot be there")
    } catch {
      #expect(error.description.contains(cure) && error.exitCode == code, "\(error)")
    }
  }
}
