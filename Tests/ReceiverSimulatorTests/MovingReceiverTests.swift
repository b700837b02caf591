import ReceiverSimulator
import ReceiverStream
import Testing

@Suite("The receiver that walks")
struct MovingReceiverTests {
  private static let start: Int64 = 1_780_000_000

  private func fixes(_ seconds: Range<Int64>) -> [Fix] {
    let receiver = MovingReceiver(start: Self.start)
    var stream = FrameStream()
    var assembler = EpochAssembler()
    var fixes: [Fix] = []
    for second in seconds {
      let bytes = receiver.epoch(at: Self.start + second)
      unsafe stream.receive(bytes.span.bytes) { frame in
        assembler.receive(frame) { report, _ in if !report.isUpdate { fixes.append(report.fix) } }
      }
    }
    let skipped = stream.counters.skippedBytes
    let rejected = assembler.rejectedFields
    #expect(skipped == 0)
    #expect(rejected == 0)
    return fixes
  }

  @Test("It writes one epoch a second, without a position until its first fix")
  func firstFix() {
    let all = fixes(0..<10)
    #expect(all.count == 10)
    #expect(all.prefix(3).allSatisfy { !$0.hasPosition && $0.time != nil })
    #expect(all.dropFirst(3).allSatisfy { $0.hasPosition && $0.kind == .threeD })
    #expect(all.map(\.time) == (0..<10).map { UTCTime(nanosecondsSince1970: (Self.start + $0) * 1_000_000_000) })
  }

  @Test("It moves as fast as it says")
  func motion() throws {
    let all = try fixes(3..<400).map { fix in
      (
        north: try #require(fix.latitudeDegrees) * 111_195,
        east: try #require(fix.longitudeDegrees) * 111_195 * 0.667,
        speed: try #require(fix.speedMetresPerSecond)
      )
    }
    for (a, b) in zip(all, all.dropFirst()) {
      let (north, east) = (b.north - a.north, b.east - a.east)
      let moved = (north * north + east * east).squareRoot()
      #expect(abs(moved - (a.speed + b.speed) / 2) < 0.05)
    }
  }

  @Test("Sentences and messages agree: nothing is told twice")
  func once() {
    #expect(fixes(3..<60).count == 57)
  }
}
