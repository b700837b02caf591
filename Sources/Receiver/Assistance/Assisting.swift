// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// Gives a receiver after its start the time, the place and the orbits of the last run, and ephemerides or predicted orbits of
/// elsewhere: it need not search the whole sky, and receive each satellite for half a minute.
///
///     NAV-STATUS ── has a fix, or its clock runs: its own memory is intact ─▶ orbits from elsewhere (MGA), if there are any ─▶ over
///         ▼
///     acknowledgements on (MGA) ─▶ time ─▶ place ─▶ database, and orbits from elsewhere, message by message ─▶ over
///
/// The receiver refuses orbits without a time (interface descriptions, "AssistNow": MGA-INI first).
struct Assisting: Sendable {
  private enum Step: Sendable {
    case polling
    case switchingAnswersOn(Configuration)
    case time
    case place
    case database(Int)
    case over
  }

  private let record: AssistanceRecord?
  private let usesMGA: Bool
  private let usesItems: Bool
  private let clockAccuracySeconds: Double
  private var messages: [AssistanceRecord.Message]
  /// Those of them that are newer than the orbits of an intact memory can be.
  private let newOrbits: [AssistanceRecord.Message]
  /// Whether the receiver has time and place.
  private var isIntact = false
  private let placeAccuracyMetres: Double?
  private var step = Step.polling

  /// The setting that was changed for the acknowledgements, as it was found.
  private(set) var found: [Setting] = []
  /// The number of messages that the receiver acknowledged.
  private(set) var given = 0
  private(set) var refused = 0

  /// - Parameters:
  ///   - settings: the assistance that may be given.
  ///   - receiver: the receiver.
  ///   - now: the time.
  /// - Returns: nil if there is nothing to give.
  init?(_ settings: AssistanceSettings, to receiver: ReceiverDescription, at now: UTCTime?) {
    guard let now, let accuracy = settings.clockAccuracySeconds, receiver.can(.assistance),
      receiver.generation != nil
    else { return nil }
    let key = AssistanceRecord.Key(receiver)
    record = settings.records.first { $0.key == key }
    usesItems = receiver.can(.valset)
    usesMGA = receiver.acceptsEphemerides
    clockAccuracySeconds = accuracy
    placeAccuracyMetres = record?.place.flatMap { AssistanceAge.accuracyMetres(of: $0, at: now) }
    newOrbits = settings.orbits(for: receiver, at: now)
    // Enough new orbits make the database superfluous, which takes seconds at the usual rates.
    if let record, let time = record.databaseTime, newOrbits.count < EphemerisStock.enough {
      messages = record.database.filter { AssistanceAge.isFresh($0, from: time, at: now) } + newOrbits
    } else {
      messages = newOrbits
    }
  }

  /// Returns the next command; nil when all is over.
  ///
  /// - Parameter now: the time of sending.
  func next(at now: UTCTime) -> Command? {
    switch step {
    case .polling: .poll(.navSTATUS)
    case .switchingAnswersOn(let configuration): configuration.next()
    case .time: usesMGA ? initialTime(now) : initialAid(now)
    case .place: initialPlace
    case .database(let index): command(messages[index])
    case .over: nil
    }
  }

  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .polling: receiveStatus(outcome)
    case .switchingAnswersOn(var configuration):
      configuration.receive(outcome)
      step = .switchingAnswersOn(configuration)
      found = configuration.found
      guard configuration.next() == nil else { return }
      step = isIntact ? firstOfDatabase : .time
    case .time:
      count(outcome)
      step = usesMGA && placeAccuracyMetres != nil ? .place : firstOfDatabase
    case .place:
      count(outcome)
      step = firstOfDatabase
    case .database(let index):
      count(outcome)
      // Without an acknowledgement of the first three messages the receiver ignores assistance.
      step = index + 1 < messages.count && (given > 0 || refused > 0 || index < 2) ? .database(index + 1) : .over
    case .over: break
    }
  }

  private var firstOfDatabase: Step { messages.isEmpty ? .over : .database(0) }

  private mutating func count(_ outcome: Outcome) {
    switch outcome {
    case .acknowledged, .sent: given += 1
    case .refused: refused += 1
    default: break
    }
  }

  /// NAV-STATUS: flags at 5, b0 a fix within limits, b2 the week and b3 the time of week are known.
  private mutating func receiveStatus(_ outcome: Outcome) {
    guard case .answered(let payload) = outcome, payload.count >= 6 else {
      step = .over
      return
    }
    let flags = payload[5]
    // A time without a fix comes from a battery-backed clock; the orbits are in the same memory.
    isIntact = flags & 1 != 0 || flags & 0b1100 == 0b1100
    guard !isIntact || !newOrbits.isEmpty else {
      step = .over
      return
    }
    if isIntact { messages = newOrbits }
    step = usesMGA ? .switchingAnswersOn(answersOn) : .time
  }

  private var answersOn: Configuration {
    // CFG-NAVSPG-ACKAIDING.
    let item = Setting.item(ConfigurationPair(id: 0x1011_0025, bits: 1))
    let message = Setting.message(.cfgNAVX5, selector: [], .answersToAssistance(true))
    return Configuration([usesItems ? item : message], port: nil)
  }

  // MARK: Messages

  /// The accuracy of the clock, and two seconds for the way over the line.
  private var timeAccuracySeconds: UInt16 {
    UInt16(clamping: min(max(clockAccuracySeconds, 0) + 2, 60_000).rounded(.up))
  }

  /// MGA-INI-TIME_UTC, the time of receipt.
  private func initialTime(_ now: UTCTime) -> Command {
    var payload = [UInt8](repeating: 0, count: 24)
    payload[0] = 0x10
    // The number of leap seconds is unknown.
    payload[3] = 0x80
    let (year, month, day) = now.day.components
    let second = now.nanosecondsOfDay / 1_000_000_000
    payload.set(u2: UInt16(truncatingIfNeeded: year), at: 4)
    payload[6] = UInt8(month)
    payload[7] = UInt8(day)
    payload[8] = UInt8(second / 3600)
    payload[9] = UInt8(second / 60 % 60)
    payload[10] = UInt8(second % 60)
    payload.set(u4: UInt32(now.nanosecondsOfDay % 1_000_000_000), at: 12)
    payload.set(u2: timeAccuracySeconds, at: 16)
    // A repeated time would be wrong.
    return Command(.mgaINI, payload, answer: .assistance).with(attempts: 1, timeout: Milliseconds(1000))
  }

  /// MGA-INI-POS_LLH.
  private var initialPlace: Command? {
    guard let place = record?.place, let accuracy = placeAccuracyMetres else { return nil }
    var payload = [UInt8](repeating: 0, count: 20)
    payload[0] = 0x01
    payload.set(u4: Self.bits(place.latitudeDegrees * 1e7), at: 4)
    payload.set(u4: Self.bits(place.longitudeDegrees * 1e7), at: 8)
    payload.set(u4: Self.bits(place.heightMetres * 100), at: 12)
    payload.set(u4: UInt32(clamping: accuracy * 100), at: 16)
    return acknowledged(Command(.mgaINI, payload, answer: .assistance))
  }

  /// AID-INI: the time by GPS week, and the place if it is known.
  private func initialAid(_ now: UTCTime) -> Command {
    var payload = [UInt8](repeating: 0, count: 48)
    // b1 the time is valid.
    var flags: UInt32 = 1 << 1
    if let place = record?.place, let accuracy = placeAccuracyMetres {
      payload.set(u4: Self.bits(place.latitudeDegrees * 1e7), at: 0)
      payload.set(u4: Self.bits(place.longitudeDegrees * 1e7), at: 4)
      payload.set(u4: Self.bits(place.heightMetres * 100), at: 8)
      payload.set(u4: UInt32(clamping: accuracy * 100), at: 12)
      // b0 the position is valid, b5 it is latitude, longitude and height.
      flags |= 1 << 0 | 1 << 5
    }
    let gps =
      now.nanosecondsSince1970 - Day.gpsEpoch.since1970 * UTCTime.nanosecondsPerDay
      + Int64(LeapSeconds.on(now.day)) * 1_000_000_000
    let week: Int64 = 7 * UTCTime.nanosecondsPerDay
    payload.set(u2: UInt16(truncatingIfNeeded: gps / week), at: 18)
    payload.set(u4: UInt32(gps % week / 1_000_000), at: 20)
    payload.set(u4: UInt32(timeAccuracySeconds) * 1000, at: 28)
    payload.set(u4: flags, at: 44)
    return paced(Command(.aidINI, payload, answer: .none))
  }

  private func command(_ message: AssistanceRecord.Message) -> Command {
    usesMGA
      ? acknowledged(Command(message.identity, message.payload, answer: .assistance))
      : paced(Command(message.identity, message.payload, answer: .none))
  }

  /// A lost message costs seconds, no more.
  private func acknowledged(_ command: Command) -> Command { command.with(attempts: 2) }

  /// Not all firmware acknowledges AID messages; a pause separates them instead.
  private func paced(_ command: Command) -> Command { command.with(pause: Milliseconds(20)) }

  private static func bits(_ value: Double) -> UInt32 {
    UInt32(bitPattern: Int32(clamping: value.rounded()))
  }
}

/// The assistance that a receiver is given after its start, at times without other requests.
struct AssistanceDelivery {
  /// The computer's time at an instant; nil if its clock is not set.
  private var reference: UTCTime?
  private var referenceAt: Instant
  private var assisting: Assisting?
  /// When the receiver was last given orbits from elsewhere, and the time after which it gets others.
  private var given: (at: UTCTime, for: Int64)?

  /// The ephemerides of GPS, Galileo and BeiDou are usable for more than an hour, predicted orbits from noon to noon.
  private static let renewalNanoseconds: (ephemerides: Int64, predictions: Int64) = (
    3600 * 1_000_000_000, 12 * 3600 * 1_000_000_000
  )

  init(reference: UTCTime?, openedAt: Instant) {
    self.reference = reference
    referenceAt = openedAt
  }

  private func time(at now: Instant) -> UTCTime? {
    reference.map {
      UTCTime(nanosecondsSince1970: $0.nanosecondsSince1970 + Int64(now.nanoseconds - referenceAt.nanoseconds))
    }
  }

  /// Sets the computer's time: the clock was set, or has continued while `Instant` did not count.
  mutating func setTime(_ time: UTCTime?, at now: Instant) { (reference, referenceAt) = (time, now) }

  /// The receiver has woken with its memory: orbits from elsewhere replace its old ones, if the last delivery is not recent.
  mutating func wake(_ settings: AssistanceSettings?, for receiver: ReceiverDescription?, at now: Instant) {
    guard let time = time(at: now), let receiver else { return }
    if let given, (0..<given.for).contains(time.nanosecondsSince1970 - given.at.nanosecondsSince1970) { return }
    if settings?.orbits(for: receiver, at: time).isEmpty == false { prepare(settings, for: receiver, at: now) }
  }

  /// The receiver has started; the delivery begins once it is configured.
  mutating func prepare(_ settings: AssistanceSettings?, for receiver: ReceiverDescription?, at now: Instant) {
    guard let settings, let receiver else { return }
    let time = time(at: now)
    if let time, !settings.orbits(for: receiver, at: time).isEmpty {
      let renewal = Self.renewalNanoseconds
      given = (time, settings.ephemerides.count(at: time) > 0 ? renewal.ephemerides : renewal.predictions)
    }
    assisting = Assisting(settings, to: receiver, at: time)
  }

  func next(at now: Instant) -> Command? {
    guard let time = time(at: now) else { return nil }
    return assisting?.next(at: time)
  }

  mutating func receive(_ outcome: Outcome) { assisting?.receive(outcome) }

  /// The setting that was changed for the delivery, as it was found.
  var found: [Setting] { assisting?.found ?? [] }

  /// Ends the delivery. Returns the delivery as it was; nil if none was under way.
  mutating func finish() -> Assisting? {
    defer { assisting = nil }
    return assisting
  }
}

/// The assistance that a session may give to its receivers.
public struct AssistanceSettings: Sendable {
  /// The records of earlier runs.
  public var records: [AssistanceRecord]
  /// The standard deviation of the computer's clock, in seconds; nil for a clock that is not set. No assistance is given
  /// without it: orbits and places need a time.
  public var clockAccuracySeconds: Double?
  /// Whether the end of the session reads the orbits of the receiver.
  public var readsDatabaseAtEnd: Bool
  /// Broadcast ephemerides of other receivers.
  public var ephemerides: EphemerisStock
  /// Predicted orbits of a service.
  public var predictions: PredictedOrbits

  public init(
    records: [AssistanceRecord], clockAccuracySeconds: Double?, readsDatabaseAtEnd: Bool,
    ephemerides: EphemerisStock = EphemerisStock(), predictions: PredictedOrbits = PredictedOrbits()
  ) {
    self.ephemerides = ephemerides
    self.predictions = predictions
    self.records = records
    self.clockAccuracySeconds = clockAccuracySeconds
    self.readsDatabaseAtEnd = readsDatabaseAtEnd
  }

  /// The orbits from elsewhere for a receiver: ephemerides, and predictions if those are too few.
  func orbits(for receiver: ReceiverDescription, at utc: UTCTime) -> [AssistanceRecord.Message] {
    let current = receiver.acceptsEphemerides ? ephemerides.messages(at: utc) : []
    return current.count < EphemerisStock.enough && receiver.acceptsPredictions
      ? current + predictions.messages(at: utc) : current
  }
}

extension ReceiverDescription {
  /// Whether it has the messages for ephemerides of other receivers, MGA: from M8 on.
  public var acceptsEphemerides: Bool {
    guard can(.assistance), let generation else { return false }
    return generation != .m6 && generation != .m7
  }

  /// Whether it has the message for predicted orbits, MGA-ANO (interface descriptions of M8, M9, M10 and F10; F9 and X20 lack it).
  public var acceptsPredictions: Bool {
    can(.assistance) && [.m8, .m9, .m10, .f10].contains(generation)
  }
}
