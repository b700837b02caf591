// SPDX-License-Identifier: Apache-2.0
import Receiver
import Testing

@Suite("The on-time edge of a pulse")
struct PulseShapeTests {
  /// The edges of pulses of 100 ms that start at whole seconds; times in milliseconds.
  private func pulses(_ count: Int64, beginningWith first: PulseShape.Edge = .rising) -> [(PulseShape.Edge, Int64)] {
    (0..<count).flatMap { [(first, $0 * 1000), (first == .rising ? .falling : .rising, $0 * 1000 + 100)] }
  }

  /// The times of the on-time edges.
  private func onTime(_ edges: [(PulseShape.Edge, Int64)]) -> [Int64] {
    var shape = PulseShape()
    return edges.compactMap { edge, time in shape.take(edge, atNanoseconds: time * 1_000_000) ? time : nil }
  }

  @Test("The rising edge begins a short pulse, and counts before the phases are known")
  func upright() {
    #expect(onTime(pulses(5)) == [0, 1000, 2000, 3000, 4000])
  }

  @Test("At an inverted line the falling edge begins the short phase")
  func inverted() {
    // The first rising edge, before both phases are known, is not the on-time edge.
    #expect(onTime(pulses(5, beginningWith: .falling)) == [100, 1000, 2000, 3000, 4000])
  }

  @Test("An edge or a pulse that is lost does not change the edge")
  func losses() {
    var edges = pulses(8)
    // The end of the third pulse, the beginning of the fifth, and all of the seventh.
    for place in [13, 12, 8, 5] { edges.remove(at: place) }
    #expect(onTime(edges) == [0, 1000, 2000, 3000, 5000, 7000])
  }

  @Test("Equal phases: the rising edge")
  func equal() { #expect(onTime([(.rising, 0), (.falling, 500), (.rising, 1000), (.falling, 1500)]) == [0, 1000]) }
}
