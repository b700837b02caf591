// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import WireBytes

/// The receiver of `sextant base`.
///
///     given position: comparing ── the receiver's own position, or 60 s ──▶ based
///     survey:                                                            based ── valid ──▶ reported
///
/// The frames of each round go to the caster's clients and to the other servers.
struct BaseClient: ReceiverClient, ~Copyable {
  private enum Stage: Equatable {
    /// The receiver's own position is awaited, until this time once it is identified.
    case comparing(until: Instant?)
    case based
  }

  /// The time for the receiver's own position.
  private static var comparingTime: Milliseconds { Milliseconds(60_000) }
  /// The interval of the lines about a survey, and of the other ones.
  private static var surveyInterval: Milliseconds { Milliseconds(10_000) }
  private static var statusInterval: Milliseconds { Milliseconds(60_000) }
  /// The least difference of the given position that is reported, metres; and as a multiple of the accuracy of the own position.
  private static var leastDifference: Double { 20 }
  private static var mostDeviations: Double { 5 }
  private static var firstPushToken: UInt32 { 0x20 }

  private let path: String
  private let baud: UInt32?
  private let station: BaseStation
  private let sockets: CasterSockets?
  private let pushes: [CorrectionPush]
  private var stream = BaseStream()
  private var frames: [UInt8] = []
  private(set) var failure: CommandFailure?
  private var stage: Stage
  private var isAttached = false
  private var isIdentified = false
  private var surveysByTimeOnly = false
  private var isSurveyReported = false
  /// The frames since the last status, bytes, and its time.
  private var bytes = 0
  private var reportedAt: Instant
  private var hasFix = false

  init(_ choice: Source.Choice, _ station: BaseStation, _ sockets: CasterSockets?, _ targets: [PushTarget]) {
    path = choice.source.name
    baud = choice.baud
    self.station = station
    self.sockets = sockets
    let now = SystemClock.monotonic
    pushes = targets.enumerated().map { index, target in
      CorrectionPush(
        to: target, token: Poller.Token(rawValue: Self.firstPushToken + UInt32(truncatingIfNeeded: index)), at: now)
    }
    if case .position = station { stage = .comparing(until: nil) } else { stage = .based }
    reportedAt = now
  }

  private var statusDue: Instant {
    reportedAt + (isSurveying ? Self.surveyInterval : Self.statusInterval)
  }

  private var isSurveying: Bool { if case .survey = station { !isSurveyReported } else { false } }

  var deadline: Instant? {
    var next = Instant.earlier(sockets?.deadline, isAttached ? statusDue : .zero)
    for push in pushes { next = .earlier(next, push.deadline) }
    if case .comparing(let until) = stage { next = .earlier(next, until) }
    return next
  }

  // MARK: The receiver

  mutating func receive(bytes received: RawSpan, at now: Instant) {
    let more = stream.receive(received, at: now)
    frames += more
    bytes += more.count
  }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {
    hasFix = report.fix.kind != .none
    guard case .comparing(_?) = stage, case .position(let latitude, let longitude, let height) = station,
      let own = report.fix.earthCentredMetres, let there = GeodeticPosition(earthCentredMetres: own)
    else { return }
    let given = GeodeticPosition(latitudeDegrees: latitude, longitudeDegrees: longitude, heightMetres: height)
    stage = .comparing(until: now)
    let accuracy = report.fix.sphericalAccuracyMetres ?? 0
    let distance = there.distance(to: given)
    guard distance > max(Self.leastDifference, Self.mostDeviations * accuracy) else { return }
    var beneath = given
    beneath.heightMetres = there.heightMetres
    printNotice(
      "\(path): the given position is \(Self.metres(distance)) away from the receiver's own one "
        + "(\(Self.metres(there.distance(to: beneath))) horizontally, \(Self.metres(abs(height - there.heightMetres))) in "
        + "height above the ellipsoid); check --position: rovers get an error of the same size")
  }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .opened where connection.isWritable == false:
      refuse("\(path): takes no bytes; name the device of a receiver")
    case .lost:
      stream.reset()
      frames = []
      hasFix = false
      isSurveyReported = false
      printNotice("\(path): the receiver is disconnected")
    case .session(.identified(let receiver)) where !receiver.canBeBase:
      refuse(
        "\(path): \(receiver.summary) cannot be a base station, and is unchanged; use a receiver with RTK, such as "
          + "ZED-F9P, ZED-X20P, LG290P or UM980")
    case .session(.identified(let receiver)):
      if let reason = receiver.refusal(ofBase: station) {
        return refuse("\(path): \(receiver.summary) cannot be this base station, and is unchanged: \(reason)")
      }
      if !isIdentified { announce(receiver) }
      (isIdentified, surveysByTimeOnly) = (true, receiver.surveysByTimeOnly)
      if case .comparing(nil) = stage { stage = .comparing(until: now + Self.comparingTime) }
      if stage == .based, let receiver = connection.description {
        connection.set(.base(station, for: receiver), &poller, at: now)
      }
    case .session(.notIdentified):
      refuse(
        "\(path): the receiver does not identify itself, and is unchanged; name the device of a u-blox F9 or X20, an LG290P or a UM980"
      )
    case .session(.configured(let refused)) where refused > 0: refuseSettings(connection)
    case .session(.configurationFailed(isRefused: false)):
      refuse("\(path): \(SessionReport.configurationFailure(isRefused: false)); its former settings are restored")
    case .session(.configurationFailed): refuseSettings(connection)
    case .session(.wasReset):
      stream.reset()
      isSurveyReported = false
    default: break
    }
    if failure == nil, let text = event.notice(path: path, baud: baud) { printNotice(text) }
  }

  /// Reports the limits of a receiver of another maker.
  private func announce(_ receiver: ReceiverDescription) {
    let restart = receiver.baseRestartTime
    if restart > Milliseconds(0) {
      printNotice(
        "\(path): \(receiver.summary) saves its settings and restarts, for up to \(Int(clamping: restart.count / 1000)) s, to become "
          + "a base station and at the end; settings that were not saved before are saved then")
    }
    if case .survey(let seconds, _) = station, receiver.surveysByTimeOnly {
      printNotice(
        "\(path): \(receiver.summary) takes no limit of the standard deviation: its survey ends after \(seconds) s")
    }
  }

  private mutating func refuse(_ text: String) { failure = failure ?? CommandFailure(.unavailable, text) }

  private mutating func refuseSettings(_ connection: ReceiverConnection) {
    let name = connection.description?.summary ?? "the receiver"
    refuse("\(path): \(name) refuses settings of a base station; its former settings are restored")
  }

  mutating func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    sockets?.handle(event, &poller, at: now)
    for push in pushes { push.handle(event, &poller, at: now) }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    if !isAttached {
      isAttached = true
      reportedAt = now
      try sockets?.attach(&poller)
    }
    if failure != nil { return true }
    if case .comparing(let until?) = stage, now >= until, let receiver = connection.description {
      if !hasFix {
        printNotice("\(path): the receiver has no position yet, so the given one is not compared with it")
      }
      stage = .based
      connection.set(.base(station, for: receiver), &poller, at: now)
    }
    sockets?.station = stream.station
    if !frames.isEmpty {
      sockets?.deliver(frames, &poller)
      for push in pushes { push.send(frames, &poller, at: now) }
      frames = []
    }
    sockets?.finishRound(&poller, at: now)
    for push in pushes {
      push.work(&poller, at: now)
      while let text = push.nextReport() { printNotice(text) }
    }
    reportSurvey()
    if now >= statusDue { report(connection, at: now) }
    return false
  }

  // MARK: Status

  private mutating func reportSurvey() {
    let isOver = stream.survey?.isValid ?? (surveysByTimeOnly ? stream.hasGivenPosition : true)
    guard isSurveying, isOver, let place = stream.position else { return }
    isSurveyReported = true
    printNotice(
      "\(path): \(surveyText(stream.survey)); the position is \(place.latitudeDegrees.decimals(9)),"
        + "\(place.longitudeDegrees.decimals(9)),\(place.heightMetres.decimals(3)) (for --position)")
  }

  private mutating func report(_ connection: ReceiverConnection, at now: Instant) {
    let seconds = max(0.001, now.seconds(since: reportedAt))
    let rate = Int(clamping: (Double(bytes) / seconds).rounded())
    (bytes, reportedAt) = (0, now)
    guard connection.isOpen else { return }
    var parts: [String] = []
    if isSurveying {
      parts.append(
        stream.survey.map { surveyText($0) }
          ?? (!hasFix ? "no fix yet" : surveysByTimeOnly ? "the survey is running" : "the survey has not begun"))
    } else if stream.position == nil {
      parts.append("no position is sent yet")
    }
    if let sockets {
      let count = sockets.streamingClients
      parts.append("\(count) client\(count == 1 ? "" : "s")")
    }
    let flowing = pushes.count(where: \.isFlowing)
    if !pushes.isEmpty { parts.append("\(flowing) of \(pushes.count) servers") }
    parts.append("\(rate) bytes/s")
    printNotice("\(path): \(parts.joined(separator: ", "))")
  }

  private func surveyText(_ survey: BaseStream.Survey?) -> String {
    guard let survey else { return "the survey is complete" }
    let deviation = survey.deviationMetres.map { ", mean 3D standard deviation \($0.decimals(2)) m" } ?? ""
    return "survey \(survey.seconds) s\(deviation), \(survey.isValid ? "valid" : "not valid yet")"
  }

  private static func metres(_ distance: Double) -> String {
    distance < 10_000
      ? "\(Int(clamping: distance.rounded())) m" : "\(Int(clamping: (distance / 1000).rounded())) km"
  }
}
