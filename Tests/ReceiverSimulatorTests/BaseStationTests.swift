// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import ReceiverSimulator

@Suite("A simulated base station")
struct BaseStationTests {
  private static let outputs: [UInt32] = [0x2091_02BE, 0x2091_02CD, 0x2091_02D2, 0x2091_0319, 0x2091_02D7, 0x2091_0304]

  private static func item(_ key: UInt32, _ value: Int64, _ size: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: key >> ($0 * 8)) }
      + (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// The frames of RTCM 3 that a host's line has.
  private static func frames(_ host: inout Host, seconds: Double) -> [(number: Int, bytes: [UInt8])] {
    var found: [(Int, [UInt8])] = []
    var stream = FrameStream()
    let end = host.now + Milliseconds(seconds: seconds)
    while host.now < end {
      host.now = host.now + Milliseconds(50)
      host.line.advance(to: host.now)
      let bytes = host.line.takeReceived()
      stream.receive(bytes) { frame in
        if let correction = frame.rtcm3, let number = correction.messageNumber {
          found.append((number, [UInt8](copying: correction.bytes)))
        }
      }
    }
    return found
  }

  private static func configured(_ model: ReceiverModel, _ items: [[UInt8]]) -> Host {
    var host = Host(model)
    host.run(seconds: 10)
    let all = outputs.map { item($0, 1, 1) } + items
    #expect(host.configure(0x068A, [0, 1, 0, 0] + all.flatMap(\.self)) == true)
    return host
  }

  @Test("1005 has the given position, and each epoch has observations", arguments: [ReceiverModel.f9p, .x20])
  func position(model: ReceiverModel) throws {
    // 48.164212345, -11.605612345, 557.6123 m.
    var host = Self.configured(
      model,
      [
        Self.item(0x2003_0002, 1, 1), Self.item(0x4003_0009, 481_642_123, 4), Self.item(0x2003_000C, 45, 1),
        Self.item(0x4003_000A, -116_056_123, 4), Self.item(0x2003_000D, -45, 1), Self.item(0x4003_000B, 55_761, 4),
        Self.item(0x2003_000E, 23, 1), Self.item(0x2003_0001, 2, 1),
      ])
    let frames = Self.frames(&host, seconds: 10)
    for number in [1005, 1077, 1087, 1097, 1127, 1230] {
      #expect((9...11).contains(frames.count { $0.number == number }), "\(number): \(frames.map(\.number))")
    }
    let place = try #require(frames.first { $0.number == 1005 }?.bytes)
    let sent = Self.position(place)
    let given = GeodeticPosition(
      latitudeDegrees: 48.164212345, longitudeDegrees: -11.605612345, heightMetres: 557.6123)
    let between = sent - given.earthCentredMetres
    #expect((between * between).sum().squareRoot() < 0.001)
  }

  @Test("A survey becomes valid after its time and with its accuracy; 1005 follows")
  func survey() throws {
    var host = Self.configured(
      .f9p,
      [
        Self.item(0x4003_0010, 30, 4), Self.item(0x4003_0011, 20_000, 4), Self.item(0x2003_0001, 1, 1),
        Self.item(0x2091_0089, 1, 1),
      ])
    let before = Self.frames(&host, seconds: 20)
    #expect(!before.contains { $0.number == 1005 } && before.contains { $0.number == 1077 })
    let after = Self.frames(&host, seconds: 30)
    #expect(after.contains { $0.number == 1005 })
    host.forget()
    host.run(seconds: 2)
    let report = try #require(host.messages.last { $0.identity == 0x013B }?.payload)
    #expect(report.unsigned4(8) >= 30 && report.unsigned4(28) <= 20_000 && report[36] == 1 && report[37] == 0)
    // Only the time is solved.
    #expect(host.line.receiver.solution.isBase)
  }

  // MARK: Other makers

  /// The RTCM 3 frames and the lines that a receiver sends within a time.
  private static func output(_ host: inout FamilyHost, seconds: Double) -> (frames: [Int: [UInt8]], counts: [Int: Int])
  {
    host.received = []
    host.run(seconds: seconds)
    var found: ([Int: [UInt8]], [Int: Int]) = ([:], [:])
    var stream = FrameStream()
    stream.receive(host.received) { frame in
      guard let correction = frame.rtcm3, let number = correction.messageNumber else { return }
      found.0[number] = [UInt8](copying: correction.bytes)
      found.1[number, default: 0] += 1
    }
    return found
  }

  @Test("A UM980 is a base at once: with a given position, by a survey, and no more")
  func unicore() throws {
    var host = FamilyHost(.um980)
    func command(_ line: String) -> String? {
      host.send(Array("\(line)\r\n".utf8))
      return host.wait(for: "command,\(line),response:")
    }
    let place = GeodeticPosition(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, heightMetres: 557.6)
    let centre = place.earthCentredMetres
    #expect(command("MODE BASE \(centre.x) \(centre.y) \(centre.z)")?.hasSuffix("OK") == true)
    for line in ["RTCM1005 1", "RTCM1033 10", "RTCM1074 1", "RTCM1124 2", "GNGGA 1"] {
      #expect(command(line)?.hasSuffix("OK") == true, "\(line)")
    }
    let given = Self.output(&host, seconds: 20)
    #expect(given.counts[1005] == 20 && given.counts[1033] == 2 && given.counts[1074] == 20 && given.counts[1124] == 10)
    let between = Self.position(try #require(given.frames[1005])) - centre
    #expect((between * between).sum().squareRoot() < 0.001)
    #expect(
      host.lines.contains {
        $0.hasPrefix("$GNGGA") && $0.split(separator: ",", omittingEmptySubsequences: false)[6] == "7"
      })
    #expect(command("MODE BASE TIME 30")?.hasSuffix("OK") == true)
    host.send(Array("MODE\r\n".utf8))
    #expect(host.wait(for: "MODE,")?.hasSuffix(";MODE BASE TIME 30 0 0,") == true)
    #expect(Self.output(&host, seconds: 10).counts[1005] == nil)
    #expect(Self.output(&host, seconds: 30).counts[1005] != nil)
    #expect(command("MODE ROVER SURVEY")?.hasSuffix("OK") == true && command("UNLOG RTCM1074")?.hasSuffix("OK") == true)
    let after = Self.output(&host, seconds: 5).counts
    #expect(after[1005] == nil && after[1074] == nil && after[1124] != nil)
    for line in ["MODE BASE TIME", "MODE BASE TIME 3601", "MODE BASE 1 2", "MODE MOON", "RTCM1099 1"] {
      #expect(command(line)?.hasSuffix("OK") == false, "\(line)")
    }
  }

  @Test("An LG290P is a base after a save and a restart; its messages change with the mode")
  func quectel() throws {
    var host = FamilyHost(.lg290p)
    let place = GeodeticPosition(latitudeDegrees: -48.1642, longitudeDegrees: 11.6056, heightMetres: 557.6)
    let centre = place.earthCentredMetres
    let status = "PQTMCFGMSGRATE,W,PQTMSVINSTATUS,1,1"
    #expect(host.ask(status, for: "PQTMCFGMSGRATE") == "PQTMCFGMSGRATE,ERROR,3")
    let survey = "PQTMCFGSVIN,W,2,0,0,\(centre.x),\(centre.y),\(centre.z)"
    #expect(host.ask(survey, for: "PQTMCFGSVIN") == "PQTMCFGSVIN,OK")
    #expect(host.ask("PQTMCFGRCVRMODE,W,2", for: "PQTMCFGRCVRMODE") == "PQTMCFGRCVRMODE,OK")
    #expect(host.ask("PQTMCFGRCVRMODE,R", for: "PQTMCFGRCVRMODE") == "PQTMCFGRCVRMODE,OK,2")
    #expect(Self.output(&host, seconds: 3).counts.isEmpty)
    #expect(host.ask("PQTMSAVEPAR", for: "PQTMSAVEPAR") == "PQTMSAVEPAR,OK")
    host.send("PQTMSRR")
    host.run(seconds: 30)
    let base = Self.output(&host, seconds: 10)
    #expect(Set(base.counts.keys) == [1005, 1074, 1084, 1094, 1124] && base.counts.values.allSatisfy { 9...11 ~= $0 })
    #expect(!host.lines.contains { $0.hasPrefix("$G") })
    let between = Self.position(try #require(base.frames[1005])) - centre
    #expect((between * between).sum().squareRoot() < 0.001)
    #expect(host.ask(status, for: "PQTMCFGMSGRATE") == "PQTMCFGMSGRATE,OK")
    let state = host.wait(for: "PQTMSVINSTATUS")
    #expect(state?.split(separator: ",", omittingEmptySubsequences: false).dropFirst(3).first == "2")
    _ = host.ask("PQTMCFGRCVRMODE,W,1", for: "PQTMCFGRCVRMODE")
    _ = host.ask("PQTMSAVEPAR", for: "PQTMSAVEPAR")
    host.send("PQTMSRR")
    host.run(seconds: 30)
    #expect(Self.output(&host, seconds: 3).counts.isEmpty)
    #expect(host.lines.count { $0.hasPrefix("$GNGGA") } >= 29)
  }

  /// X, Y and Z of 1005 in metres.
  private static func position(_ frame: [UInt8]) -> SIMD3<Double> {
    func signed(_ start: Int) -> Double {
      var value: Int64 = 0
      for bit in start..<start + 38 { value = value << 1 | Int64(frame[3 + bit / 8] >> UInt8(7 - bit % 8) & 1) }
      return Double((value << 26) >> 26) / 10_000
    }
    return SIMD3(signed(34), signed(74), signed(114))
  }
}
