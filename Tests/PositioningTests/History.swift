// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream
import TestSupport

/// Three managers with random events, and the counts that the rules require of every history.
struct History {
  static let managers = 3

  var scene = Scene(.authorizedAlways, managers: managers)
  private var random: SeededRandomNumberGenerator
  private var place = 0.0

  /// Calls that allow deferral, and their ends (DF-1).
  private(set) var allowed = 0
  private(set) var finished = 0
  /// Whether pauses and resumes alternate, with no location in between (PA-7, PA-8).
  private(set) var isConsistent = true
  private var isPaused = [Bool](repeating: false, count: managers)
  private var times = [[UTCTime]](repeating: [], count: managers)
  /// The number of permitted repetitions of a cached fix (SU-1, SC-1, RQ-15) for each manager.
  private var begins = [Int](repeating: 0, count: managers)

  init(seed: Int) { random = SeededRandomNumberGenerator(seed: UInt64(seed)) }

  mutating func step() {
    let manager = random.int(0...Self.managers - 1)
    switch random.int(0...5) {
    case 0: call(manager)
    case 1: configure(manager)
    case 2: world()
    case 3: modern(manager)
    default: move()
    }
    scene.wait(0)
    listen()
  }

  /// Ends every open deferral.
  mutating func end() {
    for manager in 0..<Self.managers { scene.call(.disallowDeferredUpdates, by: manager) }
    listen()
  }

  /// Whether each fix was delivered once, except cached ones.
  var isRepeatingNothing: Bool {
    zip(times, begins).allSatisfy { $0.count - Set($0).count <= $1 }
  }

  private mutating func call(_ manager: Int) {
    switch random.int(0...9) {
    case 0, 1:
      if isPaused[manager] { isPaused[manager] = false }
      scene.call(.startUpdatingLocation, by: manager)
      begins[manager] += 1
    case 2:
      scene.call(.stopUpdatingLocation, by: manager)
      isPaused[manager] = false
    case 3:
      scene.call(.requestLocation, by: manager)
      begins[manager] += 1
    case 4, 5:
      scene.call(
        .allowDeferredUpdates(metres: Double(random.int(0...500)), seconds: Double(random.int(0...300))), by: manager)
      allowed += 1
    case 6: scene.call(.disallowDeferredUpdates, by: manager)
    case 7:
      scene.call(.startSignificantChanges, by: manager)
      begins[manager] += 1
    case 8: scene.call(.stopSignificantChanges, by: manager)
    default: scene.call(.startVisits, by: manager)
    }
  }

  private mutating func configure(_ manager: Int) {
    switch random.int(0...3) {
    case 0: scene.call(.setDistanceFilter(metres: random.int(0...1) == 0 ? -1 : 40), by: manager)
    case 1: scene.call(.setDesiredAccuracy(metres: random.int(0...1) == 0 ? -1 : 100), by: manager)
    case 2:
      scene.call(.setPausesAutomatically(random.int(0...2) > 0), by: manager)
    default:
      let circle = Circle(centre: Scene.north(Double(random.int(0...2000))), radiusMetres: 100)
      scene.call(.startMonitoring(Region("\(random.int(0...25))", .circle(circle))), by: manager)
    }
  }

  private mutating func world() {
    switch random.int(0...5) {
    case 0:
      let states = [ApplicationState.foreground, .background, .background, .suspended]
      scene.engine.setApplication(states[random.int(0...3)], at: scene.instant)
    case 1:
      let isOn = random.int(0...2) > 0
      scene.engine.setServicesEnabled(isOn, at: scene.instant)
      if !isOn { isPaused = isPaused.map { _ in false } }
      begins = begins.map { $0 + 2 }
    case 2, 3: scene.engine.sourceBecame(random.int(0...1) == 0 ? .idle : .searching, at: scene.instant)
    case 4: scene.engine.movementNoticed(at: scene.instant)
    default: scene.wait(Double(random.int(0...2000)))
    }
  }

  /// Beacons, monitors, streams, headings, prompts.
  private mutating func modern(_ manager: Int) {
    let family = BeaconUUID(high: 1, low: UInt64(random.int(0...2)))
    switch random.int(0...11) {
    case 0: scene.call(.startRanging(.constraint(BeaconIdentity(uuid: family))), by: manager)
    case 1: scene.call(.stopRanging(.constraint(BeaconIdentity(uuid: family))), by: manager)
    case 2:
      scene.call(.startMonitoring(Region("\(family.low)", .beacon(BeaconIdentity(uuid: family)))), by: manager)
    case 3, 4:
      scene.engine.receive(
        BeaconSighting(
          uuid: family, major: 1, minor: UInt16(random.int(0...2)), strengthDecibelMilliwatts: -60,
          strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now))
    case 5:
      scene.engine.openMonitor("m", at: scene.instant)
      scene.engine.addCondition(
        .beacon(BeaconIdentity(uuid: family)), identifier: "\(random.int(0...30))", to: "m", at: scene.now)
    case 6: _ = scene.engine.takeEvent(of: "m")
    case 7: scene.engine.beginLiveUpdates(random.int(0...3), .fitness, at: scene.instant)
    case 8: scene.engine.endLiveUpdates(random.int(0...3))
    case 9:
      scene.call(.startHeading, by: manager)
      scene.engine.receive(
        HeadingSample(magneticDegrees: Double(random.int(0...359)), accuracyDegrees: 3, timestamp: scene.now.utc))
      scene.engine.calibrationWanted()
    case 10:
      scene.call(random.int(0...1) == 0 ? .requestAlways : .requestWhenInUse, by: manager)
      scene.engine.authorizationAnswered(random.int(0...1) == 0 ? .once : .always, at: scene.instant)
    default: batch()
    }
  }

  /// A receiver was idle and its memory is read.
  private mutating func batch() {
    scene.engine.sourceBecame(.idle, at: scene.instant)
    let start = scene.seconds
    scene.wait(Double(random.int(1...200)))
    scene.engine.batchBegins(until: Scene.instant(scene.seconds + 10))
    for second in stride(from: start + 1, to: scene.seconds, by: 1) {
      place += 1
      scene.engine.receive(
        Scene.location(place, at: second), measured: Scene.instant(second), at: scene.now)
    }
    if random.int(0...3) > 0 { scene.engine.batchEnded(at: scene.now) } else { scene.wait(11) }
    scene.engine.sourceBecame(.searching, at: scene.instant)
  }

  private mutating func move() {
    let speed = random.int(0...2) == 0 ? 0 : Double(random.int(0...30))
    for _ in 0..<random.int(0...80) {
      scene.wait(random.int(0...9) == 0 ? 25 : 1)
      place += speed
      scene.fix(place, accuracy: Double(random.int(3...25)))
      listen()
    }
  }

  private mutating func listen() {
    for manager in 0..<Self.managers {
      for event in scene.events(manager) {
        switch event {
        case .didFinishDeferredUpdates: finished += 1
        case .didPauseLocationUpdates:
          isConsistent = isConsistent && !isPaused[manager]
          isPaused[manager] = true
        case .didResumeLocationUpdates: isPaused[manager] = false
        case .didUpdateLocations(let locations):
          isConsistent =
            isConsistent && !locations.isEmpty && locations == locations.sorted { $0.timestamp < $1.timestamp }
          times[manager] += locations.map(\.timestamp)
        default: break
        }
      }
    }
    scene.engine.outputs = []
  }
}
