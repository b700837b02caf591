// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import Testing

@Suite("The request for the bytes of a receiver of gpsd")
struct GPSDRequestTests {
  private static let version =
    #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n"

  private static func devices(_ paths: String...) -> String {
    let list = paths.map { #"{"class":"DEVICE","path":"\#($0)"}"# }.joined(separator: ",")
    return #"{"class":"DEVICES","devices":[\#(list)]}"# + "\r\n"
  }

  private static func watch(_ device: String) -> String {
    #"{"class":"WATCH","enable":true,"json":false,"nmea":false,"raw":2,"device":"\#(device)"}"# + "\r\n"
  }

  /// The bytes that a request has sent and received, and its refusal.
  private struct Result: Equatable {
    var sent: [String] = []
    var bytes: [UInt8] = []
    var isGranted = false
    var refusal: String?
  }

  private static func run(device: String?, _ replies: [UInt8], pieces: Int = .max) -> Result {
    var request = GPSDRequest(device: device)
    var result = Result()
    for start in stride(from: 0, to: replies.count, by: min(pieces, replies.count)) {
      let piece = Array(replies[start..<min(start + min(pieces, replies.count), replies.count)])
      do {
        result.bytes += try request.receive(piece.span)
      } catch {
        result.refusal = error.text
      }
      while let next = request.nextRequest() { result.sent.append(String(decoding: next, as: UTF8.self)) }
      if result.refusal != nil { break }
    }
    result.isGranted = request.isGranted
    return result
  }

  private static func run(device: String?, _ replies: String...) -> Result {
    run(device: device, Array(replies.joined().utf8))
  }

  @Test("The only receiver is watched by its name, and the bytes after the reply are the receiver's")
  func only() {
    let frame: [UInt8] = [0xB5, 0x62, 0x0A, 0x04, 0, 0, 0x0E, 0x34]
    let replies =
      Array(
        (Self.version + Self.devices("/dev/ttyACM0") + Self.devices("/dev/ttyACM0") + Self.watch("/dev/ttyACM0")).utf8)
    let result = Self.run(device: nil, replies + frame)
    #expect(result.isGranted && result.refusal == nil)
    #expect(result.bytes == frame)
    #expect(
      result.sent == [
        "?DEVICES;\n", #"?WATCH={"enable":true,"json":false,"raw":2,"device":"/dev/ttyACM0"};"# + "\n",
      ])
    // The result does not depend on the pieces in which the bytes arrive.
    for pieces in [1, 2, 7, 100] { #expect(Self.run(device: nil, replies + frame, pieces: pieces) == result) }
  }

  @Test("A named receiver is chosen among several; gpsd's network devices have no leading slash")
  func named() {
    let list = Self.devices("/dev/ttyUSB0", "/dev/ttyUSB1", "tcp://board:5000")
    #expect(Self.run(device: "/dev/ttyUSB1", Self.version, list).sent.last?.contains(#""/dev/ttyUSB1""#) == true)
    #expect(
      Self.run(device: "/tcp://board:5000", Self.version, list).sent.last?.contains(#""tcp://board:5000""#) == true)
  }

  @Test("A device that gpsd does not have is refused with the devices that it has")
  func absent() {
    let result = Self.run(device: "/dev/ttyUSB7", Self.version, Self.devices("/dev/ttyUSB0"))
    #expect(result.refusal == "gpsd has no device /dev/ttyUSB7; it has /dev/ttyUSB0")
    #expect(result.sent == ["?DEVICES;\n"])
  }

  @Test("Without a name several receivers are refused, as their bytes would be mixed, and so is none")
  func several() {
    let two = Self.run(device: nil, Self.version, Self.devices("/dev/a", "/dev/b"))
    #expect(two.refusal?.hasPrefix("gpsd has several receivers (/dev/a, /dev/b)") == true)
    let none = Self.run(device: nil, Self.version, Self.devices())
    #expect(none.refusal?.hasPrefix("gpsd has no receiver") == true)
  }

  @Test("Another server and another protocol version are refused")
  func foreign() {
    for text in ["SSH-2.0-OpenSSH_9.2\r\n", "\n", "[]\n", #"{"class":"TPV"}"# + "\n", #"{"class":"VERSION"}"# + "\n"] {
      #expect(Self.run(device: nil, text).refusal?.hasPrefix("is not gpsd") == true)
    }
    let old = Self.run(device: nil, #"{"class":"VERSION","proto_major":4}"# + "\n")
    #expect(old.refusal?.contains("version 4") == true)
    #expect(Self.run(device: nil, [UInt8](repeating: 65, count: 20_000)).refusal?.hasPrefix("is not gpsd") == true)
  }

  @Test("gpsd's error is passed on without its control characters, and cut")
  func error() {
    let text = #"{"class":"ERROR","message":"No such\u001b[2J device\#(String(repeating: "x", count: 300))"}"# + "\n"
    let result = Self.run(device: nil, Self.version, Self.devices("/dev/a"), text)
    #expect(result.refusal?.hasPrefix("gpsd refuses: No such[2J device") == true)
    #expect(result.refusal?.contains("\u{1B}") == false)
    #expect((result.refusal?.count ?? 0) < 230)
  }

  @Test("A reply without raw bytes is refused; the receiver's bytes before the reply are skipped")
  func reply() {
    let off = #"{"class":"WATCH","enable":true,"raw":0}"# + "\n"
    #expect(Self.run(device: nil, Self.version, Self.devices("/dev/a"), off).refusal != nil)
    let early = Array((Self.version + Self.devices("/dev/a")).utf8) + [UInt8](repeating: 0xB5, count: 40_000) + [10]
    let result = Self.run(device: nil, early + Array(Self.watch("/dev/a").utf8) + [1, 2], pieces: 1000)
    #expect(result.isGranted && result.bytes == [1, 2])
  }
}
