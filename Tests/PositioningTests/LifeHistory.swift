// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport

/// A program with every service through foreground and background, permission, Bluetooth and relaunches. Its events are
/// compared with the rules; `broken` lists the violations.
struct LifeHistory {
  private static let managers = 2
  private static let family = BeaconUUID(high: 3, low: 3)

  private(set) var scene = Scene(.authorizedAlways, managers: managers)
  private(set) var broken: [String] = []
  /// The number of events of each kind, so that an empty history fails.
  private(set) var reported: [String: Int] = [:]
  private var random: SeededRandomNumberGenerator
  private var place = 0.0
  private var record = Authorization.Record(status: .authorizedAlways)
  private var isInForeground = true
  private var areServicesOn = true
  private var hasBluetooth = true
  private var isShopNear = false
  private var activities = Set<Int>()

  /// The last reported states of regions, keyed by name.
  private var sides: [String: RegionState] = [:]
  private var visit: Visit?
  private var lastDeparture: UTCTime?
  private var conditions: [String: Monitor.State] = [:]
  private var lastReported = [UTCTime?](repeating: nil, count: managers)
  private var lastUpdate: [Int: LiveUpdate] = [:]

  init(seed: Int) {
    random = SeededRandomNumberGenerator(seed: UInt64(seed))
    begin()
  }

  mutating func step() {
    switch random.int(0...9) {
    case 0: application()
    case 1: permission()
    case 2: service(random.int(0...Self.managers - 1))
    case 3: modern()
    case 4: if random.int(0...4) == 0 { relaunch() }
    case 5: bluetooth()
    case 6: scene.wait(Double(random.int(0...4000)))
    default: move()
    }
    scene.wait(0)
    listen()
    if let deadline = scene.engine.deadline, deadline <= scene.instant { broken.append("a deadline in the past") }
  }

  // MARK: Inputs

  private mutating func begin() {
    for name in 0..<3 { monitor(name) }
    scene.call(.startMonitoring(Region("shop", .beacon(BeaconIdentity(uuid: Self.family)))))
    scene.call(.startVisits)
    scene.call(.startUpdatingLocation, by: 0)
    scene.call(.startSignificantChanges, by: 1)
    scene.engine.openMonitor("m", at: scene.instant)
    for name in 0..<3 { condition(name) }
    scene.engine.addCondition(
      .beacon(BeaconIdentity(uuid: Self.family)), identifier: "shop", to: "m", at: scene.now)
  }

  private mutating func monitor(_ name: Int) {
    sides["\(name)"] = nil
    scene.call(.startMonitoring(Region("\(name)", circle(name))))
  }

  private mutating func condition(_ name: Int) {
    conditions["\(name)"] = nil
    scene.engine.addCondition(circle(name), identifier: "\(name)", to: "m", at: scene.now)
  }

  private func circle(_ name: Int) -> Region.Shape {
    .circle(Circle(centre: Scene.north(Double(name) * 1000), radiusMetres: 150))
  }

  private mutating func application() {
    isInForeground = random.int(0...1) == 0
    scene.engine.setApplication(isInForeground ? .foreground : .background, at: scene.instant)
  }

  private mutating func permission() {
    switch random.int(0...3) {
    case 0:
      areServicesOn = random.int(0...2) > 0
      scene.engine.setServicesEnabled(areServicesOn, at: scene.instant)
    case 1:
      record.accuracy = random.int(0...2) == 0 ? .reduced : .full
      scene.engine.authorizationChanged(to: record, at: scene.instant)
    default:
      let statuses: [AuthorizationStatus] = [
        .authorizedAlways, .authorizedAlways, .authorizedWhenInUse, .authorizedWhenInUse, .denied,
      ]
      record.status = statuses[random.int(0...4)]
      scene.engine.authorizationChanged(to: record, at: scene.instant)
    }
  }

  private mutating func service(_ manager: Int) {
    switch random.int(0...7) {
    case 0: scene.call(.startUpdatingLocation, by: manager)
    case 1: scene.call(.stopUpdatingLocation, by: manager)
    case 2: scene.call(.startSignificantChanges, by: manager)
    case 3: scene.call(.stopSignificantChanges, by: manager)
    case 4:
      listen()
      monitor(random.int(0...2))
    case 5: scene.call(.startRanging(.constraint(BeaconIdentity(uuid: Self.family))), by: manager)
    case 6: scene.call(.startHeading, by: manager)
    default: scene.call(.setDistanceFilter(metres: random.int(0...1) == 0 ? -1 : 60), by: manager)
    }
  }

  private mutating func modern() {
    switch random.int(0...5) {
    case 0:
      let id = random.int(0...1)
      listen()
      scene.engine.endLiveUpdates(id)
      lastUpdate[id] = nil
      scene.engine.beginLiveUpdates(id, .fitness, at: scene.instant)
    case 1:
      listen()
      condition(random.int(0...2))
    case 2:
      let id = random.int(0...1)
      if isInForeground { activities.insert(id) }
      scene.engine.beginBackgroundActivity(id, at: scene.instant)
    case 3:
      let id = random.int(0...1)
      activities.remove(id)
      scene.engine.endBackgroundActivity(id, at: scene.instant)
    default: take()
    }
  }

  private mutating func bluetooth() {
    if random.int(0...2) == 0 {
      hasBluetooth.toggle()
      var hostCapabilities = Scene.everything
      hostCapabilities.hasBluetooth = hasBluetooth
      scene.engine.setHostCapabilities(hostCapabilities)
      if hasBluetooth { scene.engine.beaconScanResumed(at: scene.instant) } else { scene.engine.rangingFailed() }
    } else {
      isShopNear.toggle()
    }
  }

  /// The program ends and is started again with its stored state.
  private mutating func relaunch() {
    take()
    listen()
    let conditions = scene.engine.monitor("m")?.records ?? []
    var restored = PositioningEngine.Restored()
    restored.newest = scene.engine.newest
    restored.authorization = scene.engine.authorization.record
    restored.regions = scene.engine.regions.records
    restored.visits = scene.engine.visits.record
    var hostCapabilities = Scene.everything
    hostCapabilities.hasBluetooth = hasBluetooth
    let seconds = scene.seconds + Double(random.int(0...3000))
    scene = Scene(
      .authorizedAlways, isInForeground ? .foreground : .background, restored: restored,
      hostCapabilities: hostCapabilities,
      managers: Self.managers, from: seconds)
    scene.engine.setServicesEnabled(areServicesOn, at: scene.instant)
    scene.engine.openMonitor("m", restored: conditions, at: scene.instant)
    scene.call(.startUpdatingLocation, by: 0)
    activities = []
    lastUpdate = [:]
    lastReported = lastReported.map { _ in nil }
  }

  private mutating func move() {
    let speeds: [Double] = [0, 0, 0.3, 1.4, 15, -1.4, -15]
    let speed = speeds[random.int(0...6)]
    for _ in 0..<random.int(0...400) {
      scene.wait(random.int(0...30) == 0 ? 25 : 1)
      place = max(-500, min(3500, place + speed))
      let isOutlier = random.int(0...60) == 0
      let accuracy = isOutlier && random.int(0...1) == 0 ? 250 : Double(random.int(3...25))
      scene.fix(place + (isOutlier ? 300 : 0), accuracy: accuracy)
      if isShopNear, hasBluetooth {
        scene.engine.receive(
          BeaconSighting(
            uuid: Self.family, major: 1, minor: 1, strengthDecibelMilliwatts: -60,
            strengthAtOneMetreDecibelMilliwatts: -59, received: scene.now))
      }
      scene.wait(0)
      listen()
    }
  }

  // MARK: Events

  private var isAuthorized: Bool { scene.engine.authorization.status.isAuthorized }
  private var isPermitted: Bool {
    isAuthorized
      && (isInForeground || !activities.isEmpty || scene.engine.authorization.status == .authorizedAlways)
  }

  private mutating func expect(_ isKept: Bool, _ promise: @autoclosure () -> String) {
    if !isKept { broken.append("\(Int(scene.seconds)): \(promise())") }
  }

  private mutating func take() {
    while let event = scene.engine.takeEvent(of: "m") ?? scene.engine.takeHindrance(of: "m", at: scene.now.utc) {
      reported["condition", default: 0] += 1
      // The reason why it is not monitored may change, or be repeated in the next run.
      expect(
        event.state == .unmonitored || conditions[event.identifier] != event.state,
        "condition \(event.identifier) \(event.state) twice")
      conditions[event.identifier] = event.state
    }
  }

  private mutating func listen() {
    for output in scene.engine.outputs {
      guard case .live(let id, let update) = output else { continue }
      reported["live", default: 0] += 1
      expect(update.location == nil || isPermitted, "a stream receives a location")
      expect(update.location != nil || lastUpdate[id] != update, "a stream receives \(update.diagnostic) twice")
      lastUpdate[id] = update
    }
    for manager in 0..<Self.managers {
      for event in scene.events(manager) { receive(event, manager) }
    }
    scene.engine.outputs = []
  }

  private mutating func receive(_ event: DelegateEvent, _ manager: Int) {
    let word = Scene.word(event)
    reported[String(word.prefix { $0 != " " }), default: 0] += 1
    switch event {
    case .didUpdateLocations(let locations):
      expect(isPermitted, "\(manager) \(word) unpermitted")
      for location in locations {
        expect(lastReported[manager].map { $0 <= location.timestamp } ?? true, "\(manager) receives an older location")
        lastReported[manager] = location.timestamp
      }
    case .didEnter(let region), .didExit(let region):
      expect(isPermitted, "\(word) unpermitted")
      var state = RegionState.inside
      if case .didExit = event { state = .outside }
      guard manager == 0 else { return }
      expect(sides[region.identifier] != state, "\(word) twice")
      sides[region.identifier] = state
    case .didVisit(let new):
      expect(isPermitted, "\(word) unpermitted")
      guard manager == 0 else { return }
      receive(new)
    case .didUpdateHeading, .didRange, .didPauseLocationUpdates:
      expect(isPermitted, "\(manager) \(word) unpermitted")
    default: break
    }
  }

  private mutating func receive(_ new: Visit) {
    if let departure = new.departure {
      expect(visit?.arrival == new.arrival && visit != nil, "a departure without an arrival")
      expect(new.arrival.map { $0 < departure } ?? true, "a departure before the arrival")
      lastDeparture = departure
      visit = nil
    } else {
      expect(visit == nil, "an arrival during a visit")
      if let arrival = new.arrival, let lastDeparture { expect(lastDeparture <= arrival, "visits overlap") }
      visit = new
    }
  }
}
