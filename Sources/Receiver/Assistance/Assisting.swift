import MonotonicTime
import ReceiverStream
import UBX

/// Gives a receiver that has just started the time, the place and the orbits of the last run, so that it need not search
/// the whole sky and listen for half a minute to each satellite.
///
///     NAV-STATUS ── has a fix, or its clock runs ──▶ over: it has kept its own memory
///         ▼
///     answers to assistance on (MGA) ─▶ time ─▶ place ─▶ database, message by message ─▶ over
///
/// The order is the documents': orbits without time are refused (interface descriptions, "AssistNow": MGA-INI first).
struct Assisting: Sendable {
  private enum Step: Sendable {
    case asking
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
  private let messages: [AssistanceRecord.Message]
  private let placeAccuracyMetres: Double?
  private var step = Step.asking

  /// The setting that was changed for it, as it was.
  private(set) var found: [Configuration.Found] = []
  /// Messages that the receiver used, as far as it says so.
  private(set) var given = 0
  private(set) var refused = 0
  /// Whether the receiver had kept its own memory.
  private(set) var isPassive = false

  /// - Parameters:
  ///   - settings: what may be given.
  ///   - receiver: who it is.
  ///   - now: the time.
  /// - Returns: nil when there is nothing to give.
  init?(_ settings: AssistanceSettings, to receiver: ReceiverDescription, at now: UTCTime?) {
    guard let now, let accuracy = settings.clockAccuracySeconds, receiver.can(.assistance),
      let generation = receiver.generation
    else { return nil }
    let key = AssistanceRecord.Key(receiver)
    record = settings.records.first { $0.key == key }
    usesItems = receiver.can(.valset)
    usesMGA = generation != .m6 && generation != .m7
    clockAccuracySeconds = accuracy
    placeAccuracyMetres = record?.place.flatMap { AssistanceAge.accuracyMetres(of: $0, at: now) }
    if let record, let time = record.databaseTime {
      messages = record.database.filter { AssistanceAge.isFresh($0, from: time, at: now) }
    } else {
      messages = []
    }
  }

  /// What to say next; nil when it is over.
  ///
  /// - Parameter now: the time when it is said.
  func next(at now: UTCTime) -> Command? {
    switch step {
    case .asking: .poll(.navSTATUS)
    case .switchingAnswersOn(let configuration): configuration.next()
    case .time: usesMGA ? initialTime(now) : initialAid(now)
    case .place: initialPlace
    case .database(let index): command(messages[index])
    case .over: nil
    }
  }

  mutating func receive(_ outcome: Outcome) {
    switch step {
    case .asking: receiveStatus(outcome)
    case .switchingAnswersOn(var configuration):
      configuration.receive(outcome)
      step = .switchingAnswersOn(configuration)
      guard configuration.next() == nil else { return }
      found = configuration.found
      step = .time
    case .time:
      count(outcome)
      step = usesMGA && placeAccuracyMetres != nil ? .place : firstOfDatabase
    case .place:
      count(outcome)
      step = firstOfDatabase
    case .database(let index):
      count(outcome)
      // Three of the time, the place and the first orbit without an answer: it does not listen to these.
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
    // Time without a fix is that of a clock that a battery kept, with the orbits beside it.
    guard flags & 1 == 0, flags & 0b1100 != 0b1100 else {
      isPassive = true
      step = .over
      return
    }
    step = usesMGA ? .switchingAnswersOn(answersOn) : .time
  }

  private var answersOn: Configuration {
    // CFG-NAVSPG-ACKAIDING.
    let item = Setting.item(ConfigurationPair(id: 0x1011_0025, bits: 1))
    let message = Setting.message(.cfgNAVX5, selector: [], .answersToAssistance(true))
    return Configuration([usesItems ? item : message], port: nil)
  }

  // MARK: Messages

  /// The time is right by the clock, and late by its way over the line.
  private var timeAccuracySeconds: UInt16 { UInt16(min(max(clockAccuracySeconds, 0) + 2, 60_000).rounded(.up)) }

  /// MGA-INI-TIME_UTC, the time of receipt.
  private func initialTime(_ now: UTCTime) -> Command {
    var payload = [UInt8](repeating: 0, count: 24)
    payload[0] = 0x10
    // The leap seconds are not known here.
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
    return once(Command(.mgaINI, payload, answer: .assistance))
  }

  /// MGA-INI-POS_LLH.
  private var initialPlace: Command? {
    guard let place = record?.place, let accuracy = placeAccuracyMetres else { return nil }
    var payload = [UInt8](repeating: 0, count: 20)
    payload[0] = 0x01
    payload.set(u4: Self.bits(place.latitudeDegrees * 1e7), at: 4)
    payload.set(u4: Self.bits(place.longitudeDegrees * 1e7), at: 8)
    payload.set(u4: Self.bits(place.heightMetres * 100), at: 12)
    payload.set(u4: UInt32(accuracy * 100), at: 16)
    return acknowledged(Command(.mgaINI, payload, answer: .assistance))
  }

  /// AID-INI: time by GPS week, and the place where it is known.
  private func initialAid(_ now: UTCTime) -> Command {
    var payload = [UInt8](repeating: 0, count: 48)
    // b1 the time is valid.
    var flags: UInt32 = 1 << 1
    if let place = record?.place, let accuracy = placeAccuracyMetres {
      payload.set(u4: Self.bits(place.latitudeDegrees * 1e7), at: 0)
      payload.set(u4: Self.bits(place.longitudeDegrees * 1e7), at: 4)
      payload.set(u4: Self.bits(place.heightMetres * 100), at: 8)
      payload.set(u4: UInt32(accuracy * 100), at: 12)
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

  /// A time that is said again later is wrong.
  private func once(_ command: Command) -> Command {
    var command = command
    command.attempts = 1
    command.patience = Milliseconds(1000)
    return command
  }

  /// A message that is lost on the way is a loss of seconds, no more.
  private func acknowledged(_ command: Command) -> Command {
    var command = command
    command.attempts = 2
    return command
  }

  /// AID messages are not answered by all firmware; they are spaced out instead.
  private func paced(_ command: Command) -> Command {
    var command = command
    command.pause = Milliseconds(20)
    return command
  }

  private static func bits(_ value: Double) -> UInt32 {
    UInt32(bitPattern: Int32(max(-2_147_483_647, min(2_147_483_647, value.rounded()))))
  }
}
