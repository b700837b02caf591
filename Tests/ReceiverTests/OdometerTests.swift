// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import Testing
import UBX

@testable import Receiver

@Suite("Odometer measurements and the state of sensor fusion")
struct OdometerTests {
  private static func measurement(_ values: [String: Double]) throws(OdometerMeasurement.Refusal) -> OdometerMeasurement
  {
    try OdometerMeasurement(values.keys) { values[$0] }
  }

  private static func payload(_ values: [String: Double], at now: UInt64 = 0) throws -> [UInt8] {
    let frame = try measurement(values).frame(at: now)
    let scan = unsafe UBXFrame.scan(frame.span.bytes)
    #expect(scan == .frame(frame.count) && Array(frame[2...3]) == [0x10, 0x02])
    return Array(frame[6..<frame.count - 2])
  }

  @Test("Speed is in millimetres a second in type 11, ticks with their direction in types 6 to 10")
  func words() throws {
    let speed = try Self.payload(["speed": 1.5], at: 0x1_0203_0405)
    #expect(speed == [0x05, 0x04, 0x03, 0x02, 0, 0x08, 0, 0, 0xDC, 0x05, 0, 11])
    let backwards = try Self.payload(["speed": -1.5])
    #expect(Array(backwards[8...]) == [0x24, 0xFA, 0xFF, 11])
    let ticks = try Self.payload(["ticks": 0x80_0001, "backward": 1, "milliseconds": 7])
    #expect(ticks == [7, 0, 0, 0, 0, 0x08, 0, 0, 1, 0, 0x80, 10])
    let wheels = try Self.payload(["rearLeft": 1, "rearRight": 2, "frontLeft": 3, "frontRight": 4])
    #expect(wheels[5] == 4 << 3 && stride(from: 11, to: 24, by: 4).map { wheels[$0] } == [6, 7, 8, 9])
  }

  @Test("A line that is not a measurement is refused by name")
  func refusals() {
    #expect(throws: OdometerMeasurement.Refusal.empty) { try Self.measurement(["backward": 1]) }
    #expect(throws: OdometerMeasurement.Refusal.unknown("velocity")) { try Self.measurement(["velocity": 1]) }
    let cases: [(String, Double)] = [
      ("speed", 9000), ("speed", .nan), ("speed", -.infinity), ("ticks", -1), ("ticks", 1.5), ("ticks", 1e300),
      ("backward", 2), ("milliseconds", -1),
    ]
    for (name, value) in cases {
      #expect(throws: OdometerMeasurement.Refusal.outOfRange(name)) {
        try Self.measurement(["speed": 1, "ticks": 1].merging([name: value]) { $1 })
      }
    }
    #expect(throws: OdometerMeasurement.Refusal.outOfRange("speed")) { try OdometerMeasurement(["speed"]) { _ in nil } }
  }

  @Test("At most 25 measurements a second are sent; a clock that goes back does not stop them")
  func pacing() {
    var pacing = OdometerPacing()
    var sent = 0
    for millisecond in 1000..<2000 as Range<UInt64> where pacing.admits(at: millisecond) { sent += 1 }
    #expect(sent == 25)
    let isAdmitted = pacing.admits(at: 5)
    #expect(isAdmitted)
  }

  @Test("Signals of a DBC file in both byte orders, with sign, factor and offset")
  func signals() throws {
    let data: [UInt8] = [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0]
    func value(_ text: String) -> Double? { CANSignal(text)?.value(in: data) }
    #expect(value("0|8@1+") == 0x12 && value("8|16@1+(1,0)") == 0x5634)
    #expect(value("7|16@0+") == 0x1234 && value("3|8@0+") == 0x23)
    #expect(value("56|8@1- (0.5, 1)") == -7 && value("4|8@1+") == 0x41)
    #expect(value("0|64@1-") == Double(Int64(bitPattern: 0xF0DE_BC9A_7856_3412)))
    #expect(CANSignal("8|16@1+")?.value(in: [1, 2]) == nil)
    for text in [
      "", "8", "8|16", "8|16@2+", "8|16@1", "64|1@1+", "60|8@1+", "0|0@1+", "0|65@1+", "8|16@1+(1)", "8|16@1+(0,1)",
      "8|16@1+(nan,0)", "8|16@1+(1,0", "-1|8@1+", "56|16@0+",
    ] {
      #expect(CANSignal(text) == nil, "\(text)")
    }
  }

  @Test("A frame of SocketCAN has its id and data; errors and remote requests are not used")
  func frames() throws {
    var bytes = [UInt8](repeating: 0, count: 16)
    func put(_ word: UInt32) { bytes.set(u4: word, at: 0) }
    put(0x123)
    bytes[4] = 2
    bytes[8] = 7
    let frame = try #require(CANFrame(bytes))
    #expect(frame.id == 0x123 && !frame.isExtended && frame.data == [7, 0])
    put(0x9ABC_DEF0)
    #expect(CANFrame(bytes).map { $0.id == 0x1ABC_DEF0 && $0.isExtended } == true)
    for word in [0x4000_0123, 0x2000_0123] as [UInt32] {
      put(word)
      #expect(CANFrame(bytes) == nil)
    }
    put(0x123)
    bytes[4] = 9
    #expect(CANFrame(bytes) == nil && CANFrame([]) == nil)
  }

  @Test("Arbitrary frames and signals give a value or none")
  func arbitrary() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let data = (0..<Int.random(in: 0...8, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let text =
        "\(Int.random(in: 0...63))|\(Int.random(in: 1...64))@\(Int.random(in: 0...1))\(["+", "-"].randomElement()!)"
      guard let value = CANSignal(text)?.value(in: data) else { continue }
      #expect(value.isFinite)
    }
  }

  @Test("ESF-STATUS has the mode, and the sensors with their states")
  func status() throws {
    func status(_ mode: UInt8, _ sensors: [[UInt8]]) -> FusionStatus? {
      var payload = [UInt8](repeating: 0, count: 16)
      (payload[4], payload[12], payload[15]) = (2, mode, UInt8(sensors.count))
      let frame = frameBytes(EsfSTATUS.identity, payload + sensors.flatMap(\.self))
      guard let view = unsafe UBXFrame(frame.span.bytes) else { return nil }
      return FusionStatus(view)
    }
    let found = try #require(status(1, [[0x40 | 11, 0b0110, 10, 0], [10, 1, 0, 0b0101]]))
    #expect(found.mode == .fusion && found.sensors.map(\.isUsed) == [true, false])
    #expect(
      found.text
        == "fusion; speed used, calibrated; speed ticks not used, calibrating, badMeas, missingMeas")
    #expect(status(0, [])?.text == "initialization" && status(4, []) == nil)
  }
}
