// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import ReceiverStream
import Testing

@Suite("Updates for a program that does not read")
struct JoinTests {
  private static func location(_ second: Int64) -> Location {
    Location(
      Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), horizontalAccuracyMetres: 3,
      timestamp: UTCTime(nanosecondsSince1970: second * 1_000_000_000))
  }

  private static func event(_ manager: Int, _ second: Int64) -> ServiceEvent {
    .delegate(manager: manager, .didUpdateLocations([location(second)]), .unrecalled)
  }

  private static func update(_ events: [ServiceEvent]) -> ServiceUpdate {
    ServiceUpdate(events: events, changes: .init())
  }

  private static func seconds(_ update: ServiceUpdate, _ manager: Int) -> [Int64] {
    update.events.flatMap { event -> [Int64] in
      guard case .delegate(manager, .didUpdateLocations(let locations), _) = event else { return [] }
      return locations.map { $0.timestamp.nanosecondsSince1970 / 1_000_000_000 }
    }
  }

  @Test("SU-16 the locations of each manager become one event, oldest first, however many managers there are")
  func managers() {
    var joined = Self.update([Self.event(1, 0), Self.event(2, 0)])
    for second in 1..<100 as Range<Int64> { joined.join(Self.update([Self.event(1, second), Self.event(2, second)])) }
    #expect(joined.events.count == 2)
    for manager in [1, 2] { #expect(Self.seconds(joined, manager) == Array(0..<100)) }
  }

  @Test("Another event of a manager keeps its place between the locations")
  func order() {
    var joined = Self.update([Self.event(1, 0)])
    joined.join(Self.update([.delegate(manager: 1, .didPauseLocationUpdates, .unrecalled)]))
    joined.join(Self.update([Self.event(1, 1)]))
    joined.join(Self.update([Self.event(1, 2)]))
    #expect(joined.events.count == 3)
    #expect(joined.events[1] == .delegate(manager: 1, .didPauseLocationUpdates, .unrecalled))
    #expect(Self.seconds(joined, 1) == [0, 1, 2])
  }

  @Test(
    "Joined updates are bounded: each manager loses its oldest locations, and single events are kept")
  func bounded() {
    let region = Region(
      "home", .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)))
    var joined = Self.update([.delegate(manager: 1, .didEnter(region), .unrecalled)])
    for second in 0..<3000 as Range<Int64> {
      joined.join(
        Self.update((1...4).map { Self.event($0, second) } + [.live(1, LiveUpdate(location: Self.location(second)))]))
      let count = joined.events.count + (1...4).map { Self.seconds(joined, $0).count }.reduce(0, +)
      #expect(count <= ServiceUpdate.joinLimit + 4)
    }
    #expect(joined.events.first == .delegate(manager: 1, .didEnter(region), .unrecalled))
    for manager in 1...4 {
      let seconds = Self.seconds(joined, manager)
      #expect(seconds.last == 2999)
      #expect(seconds.count > 100)
      #expect(seconds == Array((seconds.first ?? 0)...2999))
    }
  }
}
