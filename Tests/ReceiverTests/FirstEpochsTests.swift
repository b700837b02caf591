import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing
import UBX

@Suite("A receiver that is configured while it serves")
struct FirstEpochsTests {
  @Test(
    "No second is lost between its sentences and its own messages", arguments: SessionTests.uBlox,
    [9600, 38_400] as [UInt32])
  func whole(_ model: ReceiverModel, at rate: UInt32) {
    // At twenty moments of the second.
    for phase in 0..<20 {
      let scene = SessionScene(model, baud: rate)
      scene.move(to: scene.now + Milliseconds(UInt64(phase) * 57))
      #expect(scene.run(30) { $0.isSteady }, "\(phase)")
      scene.run(4)
      expectWhole(scene, phase)
    }
  }

  // An X20's epochs are longer than a second at 9600 baud: there is no quiet moment for the change.
  @Test("No second is lost while the line's rate is raised", arguments: SessionTests.uBlox.filter { $0 != .x20 })
  func raised(_ model: ReceiverModel) {
    for phase in 0..<20 {
      let scene = SessionScene(model, baud: 9600) { settings in
        settings.wish = { description in
          var wish = ReceiverWish.navigation(for: description)
          wish.leastPortRate = 115_200
          return wish
        }
      }
      scene.move(to: scene.now + Milliseconds(UInt64(phase) * 57))
      #expect(scene.run(30) { $0.isSteady && $0.line.hostRate == 115_200 }, "\(phase)")
      scene.run(4)
      expectWhole(scene, phase)
    }
  }

  /// From the first epoch on there is one of each second.
  private func expectWhole(_ scene: SessionScene, _ phase: Int) {
    let seconds = Set(scene.positions.compactMap { $0.fix.time.map(Self.second) })
    guard let first = seconds.min(), let last = seconds.max() else {
      Issue.record("no fix, \(phase)")
      return
    }
    let missing = (first...last).filter { !seconds.contains($0) }
    #expect(missing.isEmpty, "\(missing.map { $0 - first }) s after the first, \(phase)")
    #expect(seconds.count >= 4, "\(phase)")
  }

  private static func second(_ time: UTCTime) -> Int64 { (time.nanosecondsSince1970 + 500_000_000) / 1_000_000_000 }
}
