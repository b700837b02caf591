// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ReceiverSimulator

@Suite("The filter of the log in flash")
struct FlashLogTests {
  @Test("The distance filter of the log counts metres at any latitude", arguments: [0.0, 48, 70])
  func logDistance(latitude: Double) {
    let plane = TangentPlane(at: Place(latitudeDegrees: latitude, longitudeDegrees: 179.9999))
    var log = FlashLog()
    let isCreated = log.create([0, 0, 0, 0, 0, 0, 0, 0])
    #expect(isCreated)
    var filter = Settings.LogFilter()
    (filter.records, filter.distanceMetres) = (true, 100)
    for (seconds, metres) in [(0, 0.0), (10, 99), (20, 101)] as [(Int64, Double)] {
      var solution = Solution()
      (solution.hasFix, solution.utcMilliseconds) = (true, seconds * 1000)
      (solution.latitudeDegrees, solution.longitudeDegrees) =
        plane.coordinates(of: TangentPlane.Point(north: 0, east: metres))
      log.record(solution, filter)
    }
    #expect(log.entries.map(\.secondsSince1970) == [0, 20])
  }
}
