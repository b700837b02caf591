// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

/// Sentences that are off until they are requested, read here without the project's decoder.
@Suite("Sentences of a simulated receiver")
struct SentenceTests {
  /// The fields of the last sentence of each address, after a minute with a fix.
  private static func sentences(_ model: ReceiverModel) -> (host: Host, fields: [String: [String]]) {
    var host = Host(model)
    host.run(seconds: 60)
    for id in 0...5 as ClosedRange<UInt8> { #expect(host.configure(0x0601, [0xF0, id, 0], within: 4) == true) }
    for id in [7, 8, 0x0A, 0x0D] as [UInt8] { #expect(host.configure(0x0601, [0xF0, id, 1], within: 4) == true) }
    for id in [3, 4] as [UInt8] { #expect(host.configure(0x0601, [0xF1, id, 1], within: 4) == true) }
    host.run(seconds: 5.5)
    var fields: [String: [String]] = [:]
    for sentence in host.sentences {
      let body = sentence.prefix { $0 != "*" }.dropFirst()
      let parts = body.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      fields[parts[0] == "PUBX" ? "PUBX" + parts[1] : String(parts[0].suffix(3))] = parts
    }
    return (host, fields)
  }

  /// Degrees of ddmm.mmmm.
  private static func degrees(_ text: String, _ hemisphere: String, digits: Int) throws -> Double {
    let (whole, minutes) = try (#require(Double(text.prefix(digits))), #require(Double(text.dropFirst(digits))))
    return (whole + minutes / 60) * (hemisphere == "S" || hemisphere == "W" ? -1 : 1)
  }

  @Test("GNS has the position with a mode of each system, GST its accuracy, DTM the datum")
  func position() throws {
    let (host, fields) = Self.sentences(.m8)
    let truth = host.line.receiver.truth(at: host.now)
    let gns = try #require(fields["GNS"])
    #expect(try abs(Self.degrees(gns[2], gns[3], digits: 2) - truth.latitudeDegrees) < 3e-4)
    #expect(try abs(Self.degrees(gns[4], gns[5], digits: 3) - truth.longitudeDegrees) < 3e-4)
    #expect(gns[6].first == "A" && gns[6].allSatisfy { "AN".contains($0) }, "\(gns)")
    #expect(try #require(Int(gns[7])) >= 4)
    let gst = try #require(fields["GST"])
    #expect(gst.count == 9)
    for place in [2, 6, 7, 8] { #expect(try #require(Double(gst[place])) > 0, "\(gst)") }
    let dtm = try #require(fields["DTM"])
    #expect(dtm[1] == "W84" && dtm[8] == "W84", "\(dtm)")
  }

  @Test("ZDA has the date of UTC, and PUBX,04 has the GPS week too")
  func time() throws {
    let (_, fields) = Self.sentences(.m8)
    // The start is 2026-05-28 at 20:26:40 UTC: GPS week 2420, second 419,218.
    let zda = try #require(fields["ZDA"])
    #expect(zda[1].hasPrefix("2027") && Array(zda[2...]) == ["28", "05", "2026", "00", "00"], "\(zda)")
    let pubx = try #require(fields["PUBX04"])
    #expect(pubx[2].hasPrefix("2027") && pubx[3] == "280526", "\(pubx)")
    let (hour, minute) = try (#require(Int(pubx[2].prefix(2))), #require(Int(pubx[2].dropFirst(2).prefix(2))))
    let second = try hour * 3600 + minute * 60 + #require(Int(pubx[2].dropFirst(4).prefix(2)))
    #expect(try #require(Double(pubx[4])) == Double(419_218 + second - (20 * 3600 + 26 * 60 + 40)))
    #expect(pubx[5] == "2420" && pubx[6] == "18", "\(pubx)")
  }

  @Test("PUBX,03 has six fields of each satellite, and those that are used")
  func satellites() throws {
    let (_, fields) = Self.sentences(.m8)
    let pubx = try #require(fields["PUBX03"])
    let count = try #require(Int(pubx[2]))
    #expect(count >= 4 && pubx.count == 3 + 6 * count, "\(pubx)")
    let states = stride(from: 4, to: pubx.count, by: 6).map { pubx[$0] }
    #expect(states.count { $0 == "U" } >= 4 && states.allSatisfy { ["U", "e", "-"].contains($0) }, "\(states)")
    for place in stride(from: 5, to: pubx.count, by: 6) {
      #expect((0..<360).contains(try #require(Int(pubx[place]))), "\(pubx)")
      #expect((-90...90).contains(try #require(Int(pubx[place + 1]))), "\(pubx)")
    }
  }
}
