import FileSystem
import HostSensors
import MonotonicTime
import Positioning
import SerialPort
import Synchronization

/// Asks the computer's own sensors, in a thread of its own: a measurement can take a tenth of a second, for which no fix is
/// to wait. There is no thread while nobody asks.
final class SensorThread: Sendable {
  private struct State {
    var demand = SensorDemand()
    var isRunning = false
    var waker: Poller.Waker?
  }

  private let service: LocationService
  private let state = Mutex(State())

  init(_ service: LocationService) { self.service = service }

  /// What is wanted from now on.
  func set(_ demand: SensorDemand) {
    let (starts, waker) = state.withLock { state in
      state.demand = demand
      let starts = !state.isRunning && Self.isNeeded(demand)
      if starts { state.isRunning = true }
      return (starts, state.waker)
    }
    waker?.wake()
    guard starts else { return }
    let isStarted = BackgroundWork.start { [self] in
      System.leaveSignalsToOthers()
      run()
    }
    if !isStarted { state.withLock { $0.isRunning = false } }
  }

  private static func isNeeded(_ demand: SensorDemand) -> Bool { demand.headingFilterDegrees != nil || demand.movement }

  private func run() {
    guard var poller = try? Poller() else { return state.withLock { $0.isRunning = false } }
    let waker = poller.waker
    state.withLock { $0.waker = waker }
    var work = SensorWork(service)
    // Who asks again after this was decided starts another thread.
    while let demand = next() {
      let due = work.round(demand, &poller)
      guard let events = try? poller.wait(deadline: due?.nanoseconds) else { break }
      work.hear(events, &poller)
    }
    work.finish()
  }

  private func next() -> SensorDemand? {
    state.withLock { state in
      if Self.isNeeded(state.demand) { return state.demand }
      state.isRunning = false
      state.waker = nil
      return nil
    }
  }
}

/// The sensors that are open, and when each is asked next.
private struct SensorWork {
  /// How often a sensor that is not there, or does not answer, is looked for.
  private static let retry = Milliseconds(5000)

  private let service: LocationService
  private let tree: SensorTree
  private var magnetometer: SensorReader?
  private var accelerometer: SensorReader?
  private var isAccelerometerSought = false
  private var found: SensorTree.Found?
  private var compass = Compass()
  private var movement: MovementWatch?
  /// Where the accelerometer itself tells that something has changed, nobody asks it until then.
  private var events: MotionEventSource?
  private var alert: AlertWatch?
  private static let eventToken = Poller.Token(rawValue: 1)
  private var nextHeading = Instant.zero
  private var nextMovement = Instant.zero

  init(_ service: LocationService) {
    self.service = service
    tree = SensorTree(root: service.settings.sensorRoot)
  }

  /// Does what is due. Returns when there is more to do.
  mutating func round(_ demand: SensorDemand, _ poller: inout Poller) -> Instant? {
    if !isAccelerometerSought {
      isAccelerometerSought = true
      found = tree.first(.acceleration)
      accelerometer = found.flatMap { try? SensorReader($0) }
    }
    var due: Instant?
    if let filter = demand.headingFilterDegrees {
      let now = System.now()
      if now.instant >= nextHeading { look(filter, at: now) }
      due = nextHeading
    } else if magnetometer != nil {
      finish()
    }
    guard demand.movement, accelerometer != nil else {
      (movement, alert) = (nil, nil)
      stopEvents(&poller)
      return due
    }
    let now = System.now()
    if movement == nil, alert == nil { startEvents(&poller, at: now.instant) }
    if alert != nil { return Instant.earlier(due, sampleIfAlert(at: now)) }
    if now.instant >= nextMovement { sample(at: now) }
    return Instant.earlier(due, nextMovement)
  }

  // MARK: An accelerometer's own events

  private mutating func startEvents(_ poller: inout Poller, at now: Instant) {
    // A folder that stands for /sys has no devices.
    guard service.settings.sensorRoot == "/sys", let found, let source = MotionEventSource(found) else { return }
    guard (try? poller.add(source.fileDescriptor, token: Self.eventToken)) != nil else { return }
    events = source
    alert = AlertWatch(at: now)
  }

  private mutating func stopEvents(_ poller: inout Poller) {
    if let events { poller.remove(events.fileDescriptor) }
    events = nil
  }

  /// What the poller reported.
  mutating func hear(_ reported: [Poller.Event], _ poller: inout Poller) {
    guard let events, reported.contains(where: { $0 == .readable(Self.eventToken) || $0 == .hangUp(Self.eventToken) })
    else { return }
    if events.drain() { return alert?.changed(at: System.now().instant) ?? () }
    // It tells nothing any more: it is asked as one that has no events.
    stopEvents(&poller)
    alert = nil
    movement = MovementWatch()
  }

  private mutating func sampleIfAlert(at now: Moment) -> Instant? {
    guard let due = alert?.deadline, now.instant >= due else { return alert?.deadline }
    guard let acceleration = acceleration() else {
      service.accelerometerFailed(at: now.instant)
      return now.instant + Self.retry
    }
    if alert?.receive(acceleration, at: now.instant) == true { service.movementNoticed(at: now) }
    return alert?.deadline
  }

  /// What was learnt is kept.
  mutating func finish() {
    compass.finish()
    deliverEvents()
    magnetometer = nil
  }

  private mutating func look(_ filterDegrees: Double, at now: Moment) {
    do throws(SensorReader.Failure) {
      let reader = try opened()
      guard let reader else {
        nextHeading = now.instant + Self.retry
        return
      }
      nextHeading =
        now.instant
        + CompassRate.period(filterDegrees: filterDegrees, sensorPeriodSeconds: reader.sensor.periodSeconds)
      let field = try reader.read()
      let reading = compass.receive(field: field, acceleration: acceleration(), at: now.instant)
      if let reading { service.receive(reading, at: now) } else { service.compassFailed(nil, at: now.instant) }
      deliverEvents()
    } catch {
      magnetometer = nil
      nextHeading = now.instant + Self.retry
      service.compassFailed("there is no heading: \(error)", at: now.instant)
    }
  }

  private mutating func opened() throws(SensorReader.Failure) -> SensorReader? {
    if let magnetometer { return magnetometer }
    guard let found = tree.first(.magneticField) else { return nil }
    let reader = try SensorReader(found)
    let kept = service.settings.stateFolder.flatMap {
      try? PrivateFile.read("\($0)/\(StateFile.compass.path(of: service.app))")
    }
    compass = Compass(calibration: kept.flatMap { StateText.calibration(in: $0, sensor: found.sensor.name) })
    magnetometer = reader
    return reader
  }

  /// nil without an accelerometer, also one that went away.
  private mutating func acceleration() -> SIMD3<Double>? {
    guard let reader = accelerometer else { return nil }
    if let acceleration = try? reader.read() { return acceleration }
    accelerometer = nil
    return nil
  }

  private mutating func sample(at now: Moment) {
    nextMovement = now.instant + MovementWatch.period
    guard let acceleration = acceleration() else { return service.accelerometerFailed(at: now.instant) }
    var watch = movement ?? MovementWatch()
    if watch.receive(acceleration) { service.movementNoticed(at: now) }
    movement = watch
  }

  private mutating func deliverEvents() {
    guard let name = magnetometer?.sensor.name else { return }
    while let event = compass.nextEvent() { service.receive(event, ofSensor: name) }
  }
}
