// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Testing

@testable import LocationService

@Suite("Locations of the program that has the receiver open")
struct PublishedLocationTests {
  /// A watch of a mark, in milliseconds.
  private struct Watched {
    var watch = PublishedLocationWatch<Int>()

    mutating func setHeld(_ isHeld: Bool, mark: Int = 1, at milliseconds: UInt64) {
      watch.setHeld(isHeld, mark: mark, at: .zero + Milliseconds(milliseconds))
    }

    mutating func fresh(_ marks: [(mark: Int, at: UInt64)]) -> [Bool] {
      marks.map { watch.poll(mark: $0.mark, at: .zero + Milliseconds($0.at)) }
    }
  }

  @Test("A location that changes between two polls is fresh; one from before the first poll is not")
  func fresh() {
    var watched = Watched()
    watched.setHeld(true, at: 0)
    #expect(watched.watch.deadline == .zero + Milliseconds(1000))
    let fresh = watched.fresh([(2, 999), (1, 1000), (2, 2000), (2, 3000), (3, 4000)])
    #expect(fresh == [false, false, true, false, true])
  }

  @Test("The receiver is found held again and again: this does not put off the next poll")
  func heldAgain() {
    var watched = Watched()
    watched.setHeld(true, at: 0)
    watched.setHeld(true, mark: 2, at: 900)
    let fresh = watched.fresh([(2, 1000)])
    #expect(fresh == [true])
  }

  @Test("Without a held receiver no published location is read")
  func off() {
    var watched = Watched()
    let before = watched.fresh([(2, 5000)])
    watched.setHeld(true, at: 6000)
    watched.setHeld(false, at: 6500)
    let after = watched.fresh([(2, 9000)])
    #expect(before == [false] && after == [false] && watched.watch.deadline == nil)
  }
}
