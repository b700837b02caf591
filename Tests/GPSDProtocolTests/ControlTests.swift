// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import ReceiverStream
import TestSupport
import Testing

@Suite("Commands of gpsd's control socket")
struct ControlTests {
  @Test("A control connection is not greeted, and needs no receiver")
  func greeting() {
    var scene = Scene(.control)
    #expect(scene.read() == "")
    #expect(scene.client.demand == .none)
  }

  @Test(
    "Each command has its sign; LF and CR-LF end it",
    arguments: [
      ("+/dev/ttyACM0\n", .add("/dev/ttyACM0")), ("-/dev/ttyACM0\r\n", .remove("/dev/ttyACM0")),
      ("+/dev/ttyACM0 \n", .add("/dev/ttyACM0")),
      ("!/dev/ttyACM0=$PUBX,40,GLL=0\n", .sendText("$PUBX,40,GLL=0", path: "/dev/ttyACM0")),
      ("&/dev/ttyACM0=b5620A04\n", .sendBytes([0xB5, 0x62, 0x0A, 0x04], path: "/dev/ttyACM0")),
    ] as [(String, ControlCommand)])
  func commands(line: String, expected: ControlCommand) {
    var scene = Scene(.control)
    scene.send(line)
    #expect(scene.events == [.command(expected)])
    scene.client.replyToCommand(refusal: nil)
    #expect(scene.read() == "OK\n")
  }

  @Test(
    "A line that is not a command has a reply that begins with ERROR, and the next line is served",
    arguments: [
      "+\n", "-\n", "+/dev/a b\n", "!/dev/ttyACM0\n", "!/dev/ttyACM0=\n", "&/dev/ttyACM0=b5620\n",
      "&/dev/ttyACM0=xy\n",
      "&/dev/ttyACM0=\n", "&/dev/ttyACM0=１２\n", "&=00\n", "?version\n", "hello\n", "+/dev/tty\u{0}ACM0\n",
      "-/dev/a \u{345}\n",
    ])
  func refused(line: String) {
    var scene = Scene(.control)
    scene.send(line + "?devices\n")
    #expect(scene.events == [])
    let replies = scene.read().split(separator: "\n")
    #expect(replies.count == 3)
    #expect((replies.first ?? "").hasPrefix("ERROR "))
    #expect(replies.dropFirst() == ["/dev/ttyACM0", "OK"])
  }

  @Test("A command without its end is not applied")
  func unfinished() {
    var scene = Scene(.control)
    scene.send("+/dev/ttyACM0")
    #expect(scene.events == [])
    #expect(scene.read() == "")
  }

  @Test("A command of ten kilobytes is refused once")
  func oversize() {
    var scene = Scene(.control)
    scene.send("+" + String(repeating: "A", count: 10_000) + "\n-/dev/ttyACM0\n")
    #expect(scene.events == [.command(.remove("/dev/ttyACM0"))])
    #expect(scene.read().split(separator: "\n").count == 1)
  }

  @Test("Any cut of the commands gives the same replies", arguments: 0..<40)
  func cuts(seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed))
    let words = ["+/dev/a", "-/dev/a", "!/dev/a=$X", "&/dev/a=00", "?devices", "\n", "\r\n", "=", " ", "\u{0}", "é"]
    let stream = Array((0..<60).map { _ in words.randomElement(using: &random)! }.joined().utf8)
    var (whole, cut) = (Scene(.control), Scene(.control))
    whole.send(stream)
    var position = 0
    while position < stream.count {
      let end = min(stream.count, position + Int.random(in: 1...7, using: &random))
      cut.send(Array(stream[position..<end]))
      position = end
    }
    #expect(cut.events == whole.events)
    #expect(cut.read() == whole.read())
  }
}

@Suite("The receivers of gpsd's clients")
struct ReceiverListTests {
  private let noon = UTCTime(nanosecondsSince1970: 1_800_000_000_000_000_000)

  private func device(_ number: Int, isActive: Bool = true) -> GPSDDevice {
    GPSDDevice(path: "/dev/ttyACM\(number)", number: number, isActive: isActive)
  }

  @Test("A receiver that is removed is reported as inactive, and the others keep their numbers")
  func removed() {
    var state = GPSDState(release: "1.0")
    _ = state.update([device(0), device(1), device(2)], at: noon)
    let reports = state.update([device(0), device(2)], at: noon)
    #expect(reports.map { $0.device } == ["/dev/ttyACM1"])
    #expect(reports.map { String(decoding: $0.json, as: UTF8.self).contains(#""activated":0"#) } == [true])
    #expect(state.devices.map(\.number) == [0, 2])
    #expect(state.device(number: 2).map(\.path) == "/dev/ttyACM2")
    #expect(state.update([device(0), device(1), device(2)], at: noon).map(\.device) == ["/dev/ttyACM1"])
    #expect(state.devices.map(\.number) == [0, 1, 2])
  }

  @Test("A receiver that rests has the form of its bytes, and a long version fits into libgps's devconfig_t")
  func fields() throws {
    var state = GPSDState(release: "1.0")
    _ = state.update([device(0, isActive: false)], at: noon)
    let resting = try JSON(parsing: state.text(of: state.devices[0]))
    #expect(resting["parity"] == "N" && resting["stopbits"] == 1 && resting["activated"] == nil)
    let version = ["SPG 4.04", "00080000"] + Array(repeating: "é" + String(repeating: "x", count: 29), count: 30)
    _ = state.update([GPSDDevice(path: "/dev/ttyACM0", number: 0, isActive: true, version: version)], at: noon)
    let awake = try JSON(parsing: state.text(of: state.devices[0]))
    #expect(awake["subtype"] == "SW SPG 4.04,HW 00080000")
    let rest = try #require(awake["subtype1"]?.string)
    #expect((125...127).contains(rest.utf8.count) && version.dropFirst(2).joined(separator: ",").hasPrefix(rest))
  }

  @Test("A receiver whose first one is missing is found by its number")
  func withoutFirst() {
    var state = GPSDState(release: "1.0")
    _ = state.update([device(1)], at: noon)
    #expect(state.device(number: 1).map(\.path) == "/dev/ttyACM1")
    _ = state.update([device(0), device(1)], at: noon)
    #expect(state.devices.map(\.path) == ["/dev/ttyACM0", "/dev/ttyACM1"])
  }
}
