// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import SerialPort
import Synchronization

/// Reads the computer's own sensors in a separate thread: a measurement can take a tenth of a second and must not delay
/// fixes. The thread exists while there is a demand.
final class SensorThread: Sendable {
  private struct State {
    var demand = SensorDemand()
    var isRunning = false
    var waker: Poller.Waker?
  }

  private let service: ServiceHost
  private let state = Mutex(State())

  init(_ service: ServiceHost) { self.service = service }

  /// Sets the measurements from now on.
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
    // A demand after `next` has returned nil starts another thread.
    while let demand = next() {
      let due = work.round(demand, &poller)
      guard let events = try? poller.wait(deadline: due?.nanoseconds) else { break }
      work.receive(events, &poller)
    }
    work.finishCompass()
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

/// The open sensors, and the time of the next read of each.
private struct SensorWork {
  /// The retry interval for a sensor that is absent or does not answer.
  private static let retry = Milliseconds(5000)
  private static let eventToken = Poller.Token(rawValue: 1)

  /// The method of movement detection.
  private enum Movement {
    case off
    /// The accelerometer reports changes itself and is read only after a report.
    case events(MotionEventSource, AlertWatch)
    /// The accelerometer is read regularly.
    case samples(MovementWatch, next: Instant)
  }

  private let service: ServiceHost
  private let tree: SensorTree
  private var magnetometer: SensorReader?
  private var compass = Compass()
  private var nextHeading = Instant.zero
  private let foundAccelerometer: SensorTree.Found?
  private var accelerometer: SensorReader?
  private var movement = Movement.off

  init(_ service: ServiceHost) {
    self.service = service
    tree = SensorTree(root: service.settings.sensorRoot)
    foundAccelerometer = tree.first(.acceleration)
    accelerometer = foundAccelerometer.flatMap { try? SensorReader($0) }
  }

  /// Reads the sensors that are due. Returns the time of the next round.
  mutating func round(_ demand: SensorDemand, _ poller: inout Poller) -> Instant? {
    let now = System.now()
    var due: Instant?
    if let filter = demand.headingFilterDegrees {
      if now.instant >= nextHeading { readHeading(filter, at: now.instant) }
      due = nextHeading
    } else if magnetometer != nil {
      finishCompass()
    }
    return .earlier(due, watchMovement(demand.movement, &poller, at: now.instant))
  }

  // MARK: Movement

  /// Returns the time of the next read of the accelerometer; nil if there is none.
  private mutating func watchMovement(_ isWanted: Bool, _ poller: inout Poller, at now: Instant) -> Instant? {
    guard isWanted, accelerometer != nil else {
      stopWatching(&poller)
      return nil
    }
    if case .off = movement { movement = startEvents(&poller, at: now) ?? .samples(MovementWatch(), next: now) }
    switch movement {
    case .off: return nil
    case .events(let source, var watch):
      guard let due = watch.deadline, now >= due else { return watch.deadline }
      guard let acceleration = acceleration() else { return now + Self.retry }
      if watch.receive(acceleration, at: now) { service.post(.sensing(.movement)) }
      movement = .events(source, watch)
      return watch.deadline
    case .samples(var watch, let due):
      guard now >= due else { return due }
      let next = now + MovementWatch.period
      if let acceleration = acceleration(), watch.receive(acceleration) { service.post(.sensing(.movement)) }
      movement = .samples(watch, next: next)
      return next
    }
  }

  private func startEvents(_ poller: inout Poller, at now: Instant) -> Movement? {
    // A folder that replaces /sys in tests has no devices.
    guard service.settings.sensorRoot == "/sys", let foundAccelerometer,
      let source = MotionEventSource(foundAccelerometer),
      (try? poller.add(source.fileDescriptor, token: Self.eventToken)) != nil
    else { return nil }
    return .events(source, AlertWatch(at: now))
  }

  private mutating func stopWatching(_ poller: inout Poller) {
    if case .events(let source, _) = movement { poller.remove(source.fileDescriptor) }
    movement = .off
  }

  /// Handles the events of the poller.
  mutating func receive(_ reported: [Poller.Event], _ poller: inout Poller) {
    guard case .events(let source, var watch) = movement,
      reported.contains(where: { $0 == .readable(Self.eventToken) || $0 == .hangUp(Self.eventToken) })
    else { return }
    let now = System.now().instant
    if source.drain() {
      watch.changed(at: now)
      movement = .events(source, watch)
    } else {
      // It no longer reports changes, so it is read regularly.
      stopWatching(&poller)
      movement = .samples(MovementWatch(), next: now)
    }
  }

  /// Reads the accelerometer; nil if there is none. An accelerometer that does not answer is closed and reported.
  private mutating func acceleration() -> SIMD3<Double>? {
    guard let reader = accelerometer else { return nil }
    if let acceleration = try? reader.read() { return acceleration }
    accelerometer = nil
    service.post(.sensing(.accelerometerFailed))
    return nil
  }

  // MARK: Heading

  private mutating func readHeading(_ filterDegrees: Double, at now: Instant) {
    nextHeading = now + Self.retry
    do throws(SensorReader.Failure) {
      guard let reader = try openMagnetometer() else { return }
      let field = try reader.read()
      nextHeading =
        now + CompassRate.period(filterDegrees: filterDegrees, sensorPeriodSeconds: reader.sensor.periodSeconds)
      let reading = compass.receive(field: field, acceleration: acceleration(), at: now)
      service.post(.sensing(reading.map { .compass($0) } ?? .compassFailed(nil)))
      deliverEvents()
    } catch {
      magnetometer = nil
      service.post(.sensing(.compassFailed("there is no heading: \(error)")))
    }
  }

  private mutating func openMagnetometer() throws(SensorReader.Failure) -> SensorReader? {
    if let magnetometer { return magnetometer }
    guard let found = tree.first(.magneticField) else { return nil }
    let reader = try SensorReader(found)
    let place = StateFile.compass.path(of: service.app)
    let kept = service.settings.stateFolder.flatMap { try? PrivateFile.read("\($0)/\(place)") }
    let calibration = kept.flatMap {
      StateText.calibration(in: ChecksummedText($0, place: place).content, sensor: found.sensor.name)
    }
    compass = Compass(calibration: calibration)
    magnetometer = reader
    return reader
  }

  /// Closes the magnetometer and stores its calibration.
  mutating func finishCompass() {
    compass.finish()
    deliverEvents()
    magnetometer = nil
  }

  private mutating func deliverEvents() {
    guard let name = magnetometer?.sensor.name else { return }
    while let event = compass.nextEvent() { service.post(.sensing(.compassEvent(event, sensor: name))) }
  }
}
