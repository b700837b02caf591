// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("Satellites of UBX with numbers that do not exist")
struct UBXNumberTests {
  /// A system's number, the first and the last of its satellites.
  static let ranges: [(UInt8, UInt8, UInt8)] = [
    (0, 1, 32), (1, 120, 158), (2, 1, 36), (3, 1, 63), (4, 1, 10), (5, 1, 10), (6, 1, 32), (7, 1, 14),
  ]

  @Test("They are omitted, from NAV-SAT and NAV-SIG", arguments: [true, false])
  func omitted(hasSignals: Bool) {
    for system in UInt8(0)...9 {
      let all = Array(UInt8(1)...255)
      var playback = Playback()
      playback.receive(navPVT(12))
      playback.receive(
        ubx {
          if hasSignals {
            NavSIG.encode(into: &$0, length: 8 + 16 * all.count) {
              $0.iTOW(timeOfWeek(10, 11, 12))
              $0.numSigs(255)
              for index in all.indices {
                $0.signal_gnssId(index, system)
                $0.signal_svId(index, all[index])
              }
            }
          } else {
            NavSAT.encode(into: &$0, length: 8 + 12 * all.count) {
              $0.iTOW(timeOfWeek(10, 11, 12))
              $0.numSvs(255)
              for index in all.indices {
                $0.satellite_gnssId(index, system)
                $0.satellite_svId(index, all[index])
              }
            }
          }
        })
      playback.finish()
      let expected = Self.ranges.first { $0.0 == system }.map { Array($0.1...$0.2) } ?? []
      #expect(playback.last?.satellites.map(\.number) == expected, "system \(system)")
    }
  }
}
