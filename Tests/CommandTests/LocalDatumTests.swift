// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing

@testable import sextant

@Suite("Positions in another datum than WGS 84")
struct LocalDatumTests {
  private func notice(_ sentences: String...) -> String? {
    var stream = FrameStream()
    var datum = LocalDatum()
    for sentence in sentences { stream.receive(Wire.nmea(sentence).raw) { datum.receive($0) } }
    return datum.notice
  }

  @Test("The first other datum is named")
  func other() throws {
    let text = try #require(
      notice("GPDTM,W84,,0.0,N,0.0,E,0.0,W84", "GPDTM,P90,,0.08,N,0.07,E,-47.7,W84", "GPDTM,999,,0.1,N,0.1,E,0.0,W84"))
    #expect(text.contains("datum P90 (DTM)"))
  }

  @Test("WGS 84, no datum and no sentence have no notice")
  func none() {
    #expect(notice("GPDTM,W84,,0.0,N,0.0,E,0.0,W84", "GPDTM,,,,,,,,", "GPRMC,,V,,,,,,,,,,N") == nil)
  }
}
