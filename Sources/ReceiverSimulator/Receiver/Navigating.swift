// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX
import WireBytes

import func Glibc.cos
import func Glibc.exp
import func Glibc.sin

// Epochs: the satellites in view, the solution, the batch and log entries, and the output.
extension VirtualReceiver {
  /// The kind of a start with the aiding data that the receiver has now.
  var currentStartKind: StartKind {
    guard memory.hasTime, memory.position != nil else { return .cold }
    let utc = utcMilliseconds(at: now)
    let truth = truth(at: now)
    let known = Constellation.satellites(
      of: settings.systems, latitude: truth.latitudeDegrees, longitude: truth.longitudeDegrees,
      secondsSince1970: utc / 1000
    ).filter {
      $0.elevationDegrees >= 10 && (memory.hasEphemeris($0.slot, at: utc) || memory.hasPrediction($0.slot, at: utc))
    }
    guard known.count >= 4 else { return memory.hasAlmanac ? .warm : .cold }
    let isAided =
      memory.isTimeFromHost || memory.isPositionFromHost
      || known.contains { memory.isFromHost[$0.slot] || !memory.hasEphemeris($0.slot, at: utc) }
    return isAided ? .aided : .hot
  }

  /// Sets the navigation memory to the state of a receiver that was used a moment ago.
  mutating func rememberEverything() {
    let (utc, truth) = (utcMilliseconds(at: now), truth(at: now))
    memory.hasTime = true
    memory.hasLeapSeconds = true
    memory.position = (truth.latitudeDegrees, truth.longitudeDegrees)
    for satellite in Constellation.satellites(
      of: .all, latitude: truth.latitudeDegrees, longitude: truth.longitudeDegrees, secondsSince1970: utc / 1000)
    where satellite.elevationDegrees >= 5 { memory.ephemeris[satellite.slot] = utc }
  }

  /// Schedules the next epoch at the next multiple of the period in UTC.
  mutating func scheduleEpoch() {
    guard engine.isRunning else { return nextEpoch = nil }
    let period = Int64(settings.epochMilliseconds)
    let left = period - utcMilliseconds(at: now) % period
    nextEpoch = now + Milliseconds(UInt64(left))
  }

  /// Completes a search: stores the orbits that it needed, the time and the position.
  mutating func becomeFixed() {
    let utc = utcMilliseconds(at: now)
    refreshVisible(utc)
    for satellite in visible.filter({ signal(of: $0, utc) > 0 }).prefix(6)
    where !memory.hasEphemeris(satellite.slot, at: utc) {
      memory.ephemeris[satellite.slot] = utc
      memory.isFromHost[satellite.slot] = false
    }
    memory.hasTime = true
    memory.isTimeFromHost = false
    memory.isPositionFromHost = false
    memory.hasLeapSeconds = true
    let truth = truth(at: now)
    memory.position = (truth.latitudeDegrees, truth.longitudeDegrees)
    noise.restart(deviation: deviation)
  }

  mutating func runEpoch() {
    scheduleEpoch()
    guard !disturbances.isFrozen(at: now) else { return }
    epochs += 1
    observe()
    solution = solve()
    lastEpoch = now
    if settings.batch.isEnabled {
      batch.append(
        BatchBuffer.Entry(
          solution: solution, keepsPVT: settings.batch.keepsPVT, keepsOdometer: settings.batch.keepsOdometer),
        size: settings.batch.size)
    }
    if settings.logFilter.records { log.record(solution, settings.logFilter) }
    sendEpoch()
    if settings.powerSave.mode != .continuous || mode.isOptimised { advancePowerSave() }
  }

  /// Records the satellites in view, and the ephemerides that were collected from them.
  private mutating func observe() {
    let utc = utcMilliseconds(at: now)
    refreshVisible(utc)
    let received = visible.filter { signal(of: $0, utc) > 0 }.map(\.slot)
    engine.track(received, at: now)
    guard engine.sky == .open || engine.sky == .urban else { return }
    for slot in received {
      guard let since = engine.trackedSince[slot] else { continue }
      guard now.seconds(since: since) >= NavigationMemory.collectionSeconds else { continue }
      memory.ephemeris[slot] = utc
      memory.isFromHost[slot] = false
    }
  }

  /// The list is kept for 30 s: satellites move by half a degree a minute.
  private mutating func refreshVisible(_ utc: Int64) {
    if let visibleAt, now.seconds(since: visibleAt) < 30 { return }
    let truth = truth(at: now)
    visible = Constellation.satellites(
      of: settings.systems, latitude: truth.latitudeDegrees, longitude: truth.longitudeDegrees,
      secondsSince1970: utc / 1000)
    visibleAt = now
  }

  /// Carrier-to-noise density ratio, dBHz; 0 without a signal.
  private func signal(of satellite: VisibleSatellite, _ utc: Int64) -> Int {
    let (least, loss) =
      switch engine.sky {
      case .open: (5.0, 0.0)
      case .urban: (25.0, 6.0)
      case .indoor: (35.0, 19.0)
      case .none: (91.0, 0.0)
      }
    guard satellite.elevationDegrees >= least else { return 0 }
    let flutter = sin(Double(utc / 1000) * 0.7 + Double(satellite.slot)) * 1.5
    return Int(clamping: 24 + 22 * sin(satellite.elevationDegrees * .pi / 180) - loss + flutter)
  }

  /// Standard deviation of a horizontal axis, metres. It decreases after the first fix.
  private var deviation: Double {
    let age = now.seconds(since: engine.fixedSince)
    let settled = FixNoise.deviation(under: engine.sky, highPrecision: traits.hasHighPrecision)
    return settled * (1 + 2 * exp(-age / 15))
  }

  private mutating func solve() -> Solution {
    let utc = utcMilliseconds(at: now)
    var next = Solution()
    next.utcMilliseconds = utc
    next.uptimeMilliseconds = UInt32(truncatingIfNeeded: now.milliseconds(since: bootedAt))
    next.hasTime = memory.hasTime
    next.isTimeResolved = memory.hasTime && memory.hasLeapSeconds && !memory.isTimeFromHost
    next.powerSaveState = powerSaveCode
    next.isSpoofed = disturbances.isSpoofed(at: now)
    next.timeToFirstFix = UInt32(truncatingIfNeeded: engine.timeToFirstFix?.count ?? 0)
    next.hasFix = engine.hasFix
    for satellite in visible {
      let signal = signal(of: satellite, utc)
      let seconds = memory.ephemerisSeconds(satellite.slot, at: utc)
      let isUsed = engine.hasFix && signal > 0 && seconds > 0
      next.satellites.append(
        SatelliteState(satellite: satellite, signal: signal, isUsed: isUsed, ephemerisSeconds: seconds))
      if isUsed { next.used += 1 }
    }
    if engine.hasFix { solvePosition(&next) }
    next.odometerMetres = odometerMetres
    next.totalMetres = memory.totalMetres
    return next
  }

  private mutating func solvePosition(_ next: inout Solution) {
    let truth = truth(at: now)
    let elapsed = lastEpoch.map { now.seconds(since: $0) } ?? 1
    next.differential = differential.use(hasRTK: traits.hasHighPrecision, under: engine.sky, at: now)
    let axis = min(deviation, next.differential.deviation ?? deviation)
    let error = noise.next(after: elapsed, deviation: axis)
    // A sphere, whose deviation is millimetres for an error of metres.
    let metresPerDegree = 111_195.0
    next.latitudeDegrees = truth.latitudeDegrees + error.north / metresPerDegree
    next.longitudeDegrees =
      truth.longitudeDegrees + error.east / (metresPerDegree * cos(truth.latitudeDegrees * .pi / 180))
    next.longitudeDegrees = TangentPlane.wrapped(next.longitudeDegrees)
    // A scenario has no limits here; the fields of messages and sentences have.
    next.latitudeDegrees = max(-90, min(90, next.latitudeDegrees))
    next.altitudeMetres = max(-1e6, min(1e6, truth.altitudeMetres + error.up))
    next.velocityNorth = max(-1e4, min(1e4, truth.northMetresPerSecond + noise.velocity(under: engine.sky)))
    next.velocityEast = max(-1e4, min(1e4, truth.eastMetresPerSecond + noise.velocity(under: engine.sky)))
    next.velocityDown = noise.velocity(under: engine.sky)
    next.horizontalMetres = axis * 2.0.squareRoot() * 1.1
    next.verticalMetres = axis * 1.5 * 1.1
    next.speedAccuracy = FixNoise.velocityDeviation(under: engine.sky) * 2.0.squareRoot() * 1.5
    next.hdop = 0.5 + 4 / Double(max(4, next.used))
    next.vdop = next.hdop * 1.5
    next.used = max(4, next.used)
    memory.position = (truth.latitudeDegrees, truth.longitudeDegrees)
    timeMode.set(settings.timeMode)
    timeMode.observe(next, after: elapsed)
    if let place = timeMode.place {
      next.isBase = true
      (next.latitudeDegrees, next.longitudeDegrees) = (place.latitude, place.longitude)
      next.altitudeMetres = place.height - Solution.geoidSeparation
      (next.velocityNorth, next.velocityEast, next.velocityDown) = (0, 0, 0)
    }
    if settings.hasOdometer, next.speed > 0.2 {
      odometerMetres += next.speed * elapsed
      memory.totalMetres += next.speed * elapsed
    }
  }

  /// Sends the messages of the epoch that are due, in the firmware's order.
  private mutating func sendEpoch() {
    if family != nil { return sendFamilyEpoch() }
    guard !settings.rates.isEmpty, !disturbances.isMute(at: now),
      settings.sendsNMEA || settings.sendsUBX || settings.sendsRTCM3
    else { return }
    let sentences = SentenceOutput(solution: solution, version: settings.nmeaVersion, systems: settings.systems)
    let messages = NavigationOutput(solution: solution, traits: traits)
    var frames: [[UInt8]] = []
    for rate in settings.rates where epochs % UInt64(rate.every) == 0 {
      let message = OutputMessage.all[rate.message]
      let identity = message.identity.key
      if let number = message.correction {
        guard settings.sendsRTCM3 else { continue }
        if let frame = CorrectionOutput(solution: solution, base: timeMode.place).frame(number) { frames.append(frame) }
      } else if message.isSentence {
        if settings.sendsNMEA { sentences.write(identity, &writer, &frames) }
      } else if settings.sendsUBX {
        if identity == 0x013B {
          frames.append(surveyReport())
        } else if 0x01...0x02 ~= identity >> 8 {
          messages.write(identity, &writer, &frames)
        } else if let frame = monitoring(identity) {
          frames.append(frame)
        }
      }
    }
    let begin = now + Milliseconds(traits.latencyMilliseconds + random.next() % 8)
    if let silence = disturbances.takeCut() { return sendCut(frames, silence, begin) }
    emit(frames, at: begin)
  }

  /// NAV-SVIN.
  private mutating func surveyReport() -> [UInt8] {
    let (survey, time) = (timeMode.survey, solution.gps.millisecondOfWeek)
    let mean = survey.mean
    let centre = Earth.ecef(latitude: mean.latitude, longitude: mean.longitude, height: mean.height)
    let isActive = timeMode.isSurveying
    return writer.frame(48) { span in
      NavSVIN.encode(into: &span) { message in
        message.iTOW(time)
        guard survey.observations > 0 else { return }
        message.dur(UInt32(clamping: survey.seconds))
        message.meanX(Int32(nearest: centre.x * 100))
        message.meanY(Int32(nearest: centre.y * 100))
        message.meanZ(Int32(nearest: centre.z * 100))
        message.meanAcc(UInt32(nearest: survey.deviation * 10_000))
        message.obs(survey.observations)
        message.valid(survey.isValid ? 1 : 0)
        message.active(isActive ? 1 : 0)
      }
    }
  }

  /// Puts frames into the transmit buffer at an instant.
  mutating func emit(_ frames: [[UInt8]], at instant: Instant) {
    let index = emissions.firstIndex { $0.at > instant } ?? emissions.endIndex
    emissions.insert((instant, frames), at: index)
  }

  /// Sends a part of the first message of the epoch, and then nothing.
  private mutating func sendCut(_ frames: [[UInt8]], _ silence: Milliseconds, _ begin: Instant) {
    if let frame = frames.last(where: { $0.count > 20 }) {
      emit([Array(frame[..<(frame.count / 2)])], at: begin)
    }
    disturbances.mute(until: now + silence)
  }
}
