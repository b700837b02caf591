// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream
import Testing

@Suite("Managers of an earlier engine")
struct ResumptionTests {
  /// The times at which a resumed manager's locations were measured: an engine with a cached fix from second 1010
  /// receives kept fixes from seconds 1005 to 1010, and a fresh one.
  private static func times(delivered: Double?) -> [Double] {
    var old = Scene()
    old.call(.startUpdatingLocation)
    var restored = PositioningEngine.Restored()
    restored.newest = Scene.location(0, at: 1010)
    var scene = Scene(restored: restored, managers: 0, from: 1020)
    let resumption = ClientResumption(
      services: old.engine.services(of: ClientID(0))!, status: .authorizedAlways, accuracy: .full, settings: [],
      delivered: delivered.map { Scene.location(0, at: $0) })
    scene.engine.resume(ClientID(0), resumption, at: scene.instant)
    for second in [1005, 1006, 1007, 1008, 1009, 1010, 1021] as [Double] {
      scene.wait(0.01)
      scene.engine.receive(Scene.location(0, at: second), measured: scene.instant, at: scene.now)
    }
    return scene.engine.outputs.flatMap { output -> [Double] in
      guard case .event(_, .didUpdateLocations(let locations), _) = output else { return [] }
      return locations.map { Double($0.timestamp.nanosecondsSince1970 / 1_000_000_000 - Scene.startUTC) }
    }
  }

  @Test("A location that the delegate has received does not come again, and those that were kept come in order")
  func once() {
    #expect(Self.times(delivered: 1007) == [1008, 1009, 1010, 1021])
    #expect(Self.times(delivered: 1010) == [1021])
    #expect(Self.times(delivered: 1004) == [1005, 1006, 1007, 1008, 1009, 1010, 1021])
  }

  @Test("SU-19 after an earlier engine earlier times are repetitions until they advance as live ones, or for longer")
  func steppedBack() {
    var old = Scene()
    old.call(.startUpdatingLocation)
    var scene = Scene(managers: 0, from: 1020)
    let resumption = ClientResumption(
      services: old.engine.services(of: ClientID(0))!, status: .authorizedAlways, accuracy: .full, settings: [],
      delivered: Scene.location(0, at: 90_000))
    scene.engine.resume(ClientID(0), resumption, at: scene.instant)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 3 }
    #expect(scene.delivered() == ["at 3"])
    scene.engine.batchBegins(until: Scene.instant(1100))
    scene.wait(1)
    scene.engine.receive(Scene.location(500, at: 1023.5), measured: Scene.instant(1023.5), at: scene.now)
    #expect(scene.delivered() == [])
    scene.engine.batchEnded(at: scene.now)
    scene.fixes(2) { $0 }
    #expect(scene.delivered() == ["at 1", "at 2"])
  }

  @Test("SU-16 after an earlier engine locations whose times advance too fast are repetitions for a minute")
  func faster() {
    var old = Scene()
    old.call(.startUpdatingLocation)
    var scene = Scene(managers: 0, from: 1020)
    let resumption = ClientResumption(
      services: old.engine.services(of: ClientID(0))!, status: .authorizedAlways, accuracy: .full, settings: [],
      delivered: Scene.location(0, at: 90_000))
    scene.engine.resume(ClientID(0), resumption, at: scene.instant)
    for step in 0..<130 {
      scene.wait(0.5)
      scene.engine.receive(Scene.location(Double(step), at: Double(step)), measured: scene.instant, at: scene.now)
    }
    #expect(scene.delivered().first == "at 119" || scene.delivered().first == "at 120")
  }

  @Test("SU-8 SC-2 after an earlier engine the filter and significant changes count from the delivered location")
  func filters() {
    var old = Scene()
    old.call(.setDistanceFilter(metres: 500))
    old.call(.startUpdatingLocation)
    old.call(.startSignificantChanges)
    var scene = Scene(managers: 0, from: 1020)
    let resumption = ClientResumption(
      services: old.engine.services(of: ClientID(0))!, status: .authorizedAlways, accuracy: .full,
      settings: [.setDistanceFilter(metres: 500)], delivered: Scene.location(0, at: 1010))
    scene.engine.resume(ClientID(0), resumption, at: scene.instant)
    scene.fixes(3) { _ in 1 }
    #expect(scene.delivered() == [])
    scene.fixes(1) { _ in 600 }
    #expect(scene.delivered() == ["at 600"])
  }

  @Test("The last location is known before the next one, so that a second return repeats none either")
  func known() {
    var old = Scene()
    old.call(.startUpdatingLocation)
    var scene = Scene(managers: 0, from: 1020)
    let last = Scene.location(0, at: 1007)
    let resumption = ClientResumption(
      services: old.engine.services(of: ClientID(0))!, status: .authorizedAlways, accuracy: .full, settings: [],
      delivered: last)
    scene.engine.resume(ClientID(0), resumption, at: scene.instant)
    #expect(scene.engine.deliveredLocation(of: ClientID(0)) == last)
  }

  @Test("SU-1 a manager without a location begins with the cached one")
  func cached() {
    #expect(Self.times(delivered: nil).first == 1010)
  }
}
