// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream

/// An app in virtual time: inputs in seconds and metres, delegate events as text.
struct Scene {
  static let origin = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
  /// Second 0 on the UTC clock.
  static let startUTC: Int64 = 1_780_000_000
  /// Along the meridian there; slightly less than the true value, so that a nominal move of 10 m is at least 10 m.
  static let metresPerDegree = 111_189.0

  var engine: PositioningEngine
  private(set) var seconds: Double

  init(
    _ status: AuthorizationStatus = .authorizedAlways, _ application: ApplicationState = .foreground,
    keys: UsageKeys = Scene.allKeys, restored: PositioningEngine.Restored = .init(),
    hostCapabilities: HostCapabilities = Scene.everything, settings: PositioningSettings = .init(),
    override: AuthorizationStatus? = nil, managers: Int = 1,
    from seconds: Double = 1000
  ) {
    self.seconds = seconds
    var restored = restored
    restored.authorization = restored.authorization ?? Authorization.Record(status: status)
    engine = PositioningEngine(
      keys: keys, hostCapabilities: hostCapabilities, application: application, settings: settings,
      authorizationOverride: override,
      restored: restored,
      at: Scene.instant(seconds))
    for number in 0..<managers {
      engine.add(ClientID(number))
      call(.setDelegate([.takesLocations, .takesErrors]), by: number)
    }
    engine.outputs = []
  }

  static var allKeys: UsageKeys {
    var keys = UsageKeys()
    keys.whenInUse = "to show where you are"
    keys.alwaysAndWhenInUse = "to remember where you were"
    keys.hasLocationMode = true
    return keys
  }

  static var everything: HostCapabilities {
    HostCapabilities(hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: true, hasBluetooth: true)
  }

  static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }
  static func utc(_ seconds: Double) -> UTCTime {
    UTCTime(nanosecondsSince1970: startUTC * 1_000_000_000 + Int64(seconds * 1e9))
  }

  var instant: Instant { Scene.instant(seconds) }
  var now: Moment { Moment(instant, utc: Scene.utc(seconds)) }

  /// A place this number of metres north of the origin.
  static func north(_ metres: Double) -> Coordinate {
    Coordinate(
      latitudeDegrees: origin.latitudeDegrees + metres / metresPerDegree, longitudeDegrees: origin.longitudeDegrees)
  }

  static func location(_ north: Double, accuracy: Double = 5, at seconds: Double) -> Location {
    Location(Scene.north(north), horizontalAccuracyMetres: accuracy, timestamp: utc(seconds))
  }

  // MARK: Inputs

  mutating func call(_ call: ClientCall, by number: Int = 0) { engine.call(call, by: ClientID(number), at: instant) }

  /// Advances the time; the engine is woken at its deadlines.
  mutating func wait(_ duration: Double) {
    let end = seconds + duration
    var guardCount = 0
    while let deadline = engine.deadline, deadline <= Scene.instant(end), guardCount < 100_000 {
      seconds = max(seconds, Double(deadline.nanoseconds) / 1e9)
      engine.wake(at: now)
      guardCount += 1
    }
    seconds = end
  }

  /// A fix now, at this number of metres north.
  mutating func fix(_ north: Double, accuracy: Double = 5) {
    engine.receive(Scene.location(north, accuracy: accuracy, at: seconds), at: now)
  }

  /// Fixes a second apart, the first after a second; `north` returns the place for the seconds since now.
  mutating func fixes(_ count: Int, every interval: Double = 1, accuracy: Double = 5, _ north: (Double) -> Double) {
    for index in 1...count {
      wait(interval)
      fix(north(Double(index) * interval), accuracy: accuracy)
    }
  }

  // MARK: Events

  /// The events of a manager since the last call, without recalled ones; the events of other managers are kept.
  mutating func events(_ number: Int = 0) -> [DelegateEvent] {
    var events: [DelegateEvent] = []
    var others: [PositioningOutput] = []
    for output in engine.outputs {
      if case .event(let id, let event, let ticket) = output, id == ClientID(number) {
        if engine.isCurrent(ticket, for: id), engine.isWanted(event, by: id) { events.append(event) }
      } else {
        others.append(output)
      }
    }
    engine.outputs = others
    return events
  }

  /// The same as text.
  mutating func delivered(_ number: Int = 0) -> [String] { events(number).map(Scene.word) }

  /// The advice since the last call.
  mutating func advice() -> [Advice] {
    var advice: [Advice] = []
    engine.outputs.removeAll { output in
      guard case .advice(_, let line) = output else { return false }
      advice.append(line)
      return true
    }
    return advice
  }

  mutating func prompts() -> [Authorization.Prompt] {
    var prompts: [Authorization.Prompt] = []
    engine.outputs.removeAll { output in
      guard case .prompt(let prompt) = output else { return false }
      prompts.append(prompt)
      return true
    }
    return prompts
  }

  /// Events as text: locations as metres north, errors as numbers.
  static func word(_ event: DelegateEvent) -> String {
    switch event {
    case .didUpdateLocations(let locations):
      "at " + locations.map { "\(Int(metresNorth($0).rounded()))" }.joined(separator: " ")
    case .didFail(let error): "failed \(error.rawValue)"
    case .didFailToAsk: "failed \(PositioningError.promptDeclined.rawValue)"
    case .didPauseLocationUpdates: "paused"
    case .didResumeLocationUpdates: "resumed"
    case .didFinishDeferredUpdates(let error): "finished" + (error.map { " \($0.rawValue)" } ?? "")
    case .didUpdateHeading(let heading):
      "heading \(Int(heading.magneticDegrees.rounded()))"
        + (heading.trueDegrees < 0 ? "" : " true \(Int(heading.trueDegrees.rounded()))")
    case .shouldDisplayHeadingCalibration: "calibrate?"
    case .didStartMonitoring(let region): "monitoring \(region.identifier)"
    case .didEnter(let region): "entered \(region.identifier)"
    case .didExit(let region): "left \(region.identifier)"
    case .didDetermineState(let state, let region): "\(region.identifier) is \(state)"
    case .monitoringDidFail(let region, let error): "monitoring \(region?.identifier ?? "all") failed \(error.rawValue)"
    case .didRange(let beacons, _): "ranged " + beacons.map { "\($0.minor):\($0.proximity)" }.joined(separator: " ")
    case .rangingDidFail(_, let error): "ranging failed \(error.rawValue)"
    case .didVisit(let visit): visit.departure == nil ? "arrived" : "departed"
    case .didChangeAuthorization(let status, _): "status \(status)"
    }
  }

  static func metresNorth(_ location: Location) -> Double {
    (location.coordinate.latitudeDegrees - origin.latitudeDegrees) * metresPerDegree
  }
}
