// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// Collects what the frames of one call show, while the listener has them.
struct ReceivedFrames {
  private(set) var evidence: VendorEvidence
  /// The bytes that were sent to a receiver that is not identified.
  private(set) var sent: SentBytes
  private(set) var watch: ConfigurationWatch?
  private(set) var request: RequestInFlight?
  private let collectsEvidence: Bool
  /// The epoch period of the receiver.
  private let epoch: Milliseconds
  /// The outcome of `request`.
  private(set) var outcome: Outcome?
  private(set) var frames = 0
  /// Frames of another maker's protocol that the stream does not know.
  private(set) var familyFrames = 0
  /// Whether there are messages that receivers repeat by themselves, and not only replies.
  private(set) var isPeriodic = false
  /// Whether there are sentences or corrections of an epoch.
  private(set) var hasOutput = false
  /// Epochs that are over.
  var epochs = 0
  private(set) var orbits: OrbitPolling
  /// The periodic messages of UBX; nil where they are not collected.
  private(set) var arriving: Set<MessageIdentity>?
  /// Set while the sentences are observed.
  private(set) var observed: ObservedOutput?
  private(set) var isConfigurationLost = false
  private(set) var sawBootText = false
  /// The last error or warning of the receiver.
  private(set) var warning: String?
  /// MON-VER without a request in flight.
  private(set) var version: [UInt8]?
  /// LOG-BATCH payloads.
  private(set) var batch: [[UInt8]] = []

  init(
    evidence: VendorEvidence, sent: SentBytes, watch: ConfigurationWatch?, request: RequestInFlight?,
    orbits: OrbitPolling,
    observed: ObservedOutput?, arriving: Set<MessageIdentity>?, epoch: Milliseconds, collectsEvidence: Bool
  ) {
    self.evidence = evidence
    self.sent = sent
    self.watch = watch
    self.request = request
    self.orbits = orbits
    self.observed = observed
    self.arriving = arriving
    self.epoch = epoch
    self.collectsEvidence = collectsEvidence
  }

  /// Takes an epoch.
  mutating func observe(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
    if report.skyChanged { orbits.receive(report.fix, sky) }
  }

  /// Takes a frame of a receiver of another maker.
  ///
  /// - Parameter family: the family of an identified receiver.
  mutating func receive(_ frame: FamilyFrame, of family: ReceiverFamily?, at now: Instant) {
    observed?.receive(frame, of: family, at: now)
    if family?.language?.mode(shownBy: frame) != nil { familyFrames += 1 }
    guard request != nil, outcome == nil else { return }
    outcome = request!.receive(frame, at: now)
    if outcome != nil { familyFrames += 1 }
  }

  /// A frame proves the family of an unknown receiver, unless it is an echo.
  mutating func show(_ family: ReceiverFamily, by frame: FamilyFrame) {
    if case .binary(let layout, let identity, let payload) = frame {
      let bytes = layout.frame(identity, payload)
      if unsafe sent.takeEcho(bytes.span.bytes) { return }
    }
    evidence.show(family)
    familyFrames += 1
  }

  /// Takes a frame. Returns whether it is the receiver's.
  mutating func receive(_ frame: borrowing Frame, at now: Instant, _ bitRate: UInt32?) -> Bool {
    // A poll has no payload: it is the echo of a request, not a frame of a receiver.
    if let ubx = frame.ubx, ubx.payload.byteCount == 0 { return false }
    // The replies of an identified receiver can be equal to requests.
    if collectsEvidence, sent.takeEcho(frame.bytes) { return false }
    frames += 1
    take(frame, at: now, bitRate)
    return true
  }

  private mutating func take(_ frame: borrowing Frame, at now: Instant, _ bitRate: UInt32?) {
    if collectsEvidence { evidence.receive(frame) }
    if watch != nil, watch!.receive(frame, at: now, epoch: epoch) { isConfigurationLost = true }
    switch frame.kind {
    case .ubx:
      guard let ubx = frame.ubx else { return }
      if ubx.identity == .logBATCH { batch.append([UInt8](copying: ubx.payload)) }
      if request == nil, ubx.identity == .monVER { version = [UInt8](copying: ubx.payload) }
      let isAnswered = outcome != nil
      if request != nil, !isAnswered { outcome = request!.receive(ubx, at: now, bitRate: bitRate) }
      // NAV and RXM.
      if ubx.identity.messageClass <= 2, isAnswered == (outcome != nil) {
        isPeriodic = true
        arriving?.insert(ubx.identity)
      }
    case .nmea:
      guard let sentence = frame.nmea else { return }
      observed?.receive(sentence, at: now)
      if sentence.isProprietary, ReceiverText.announcesStart(sentence) { sawBootText = true }
      guard sentence.formatter == TXT.formatter else {
        if !sentence.isProprietary { hasOutput = true }
        if !sentence.isProprietary || request == nil { isPeriodic = true }
        return
      }
      guard let text = ReceiverText(sentence) else { return }
      if text.announcesStart { sawBootText = true }
      // Firebird's texts repeat the request in flight.
      if let warning = text.warning, request?.isCommand(warning) != true { self.warning = warning }
    case .rtcm3:
      (isPeriodic, hasOutput) = (true, true)
      if let number = frame.rtcm3?.messageNumber { observed?.receive(correction: number, at: now) }
    case .spartn: isPeriodic = true
    }
  }
}

/// Notices that a receiver has lost its configuration: it sends messages that are off, or its boot text, or does not send a
/// desired message.
struct ConfigurationWatch: Sendable {
  /// A desired periodic message, and the time without it that means a loss.
  private let message: MessageIdentity?
  /// Its interval in epochs.
  private let rate: UInt64
  private let expectsNoNMEA: Bool
  /// Whether it restarts for each fix, with boot text.
  private let startsOften: Bool
  private var lastMessage: Instant
  private var unwanted = 0
  private let settledAt: Instant

  /// The time for sentences that were in the receiver's buffer when they were switched off.
  static var settling: Milliseconds { Milliseconds(1500) }

  /// - Parameters:
  ///   - desired: the applied configuration.
  ///   - wanted: a periodic message with its rate; nil without one.
  ///   - start: when the watch begins.
  init(_ desired: DesiredConfiguration, message wanted: DesiredConfiguration.MessageRate?, from start: Instant) {
    message = wanted?.message
    rate = UInt64(wanted?.rate ?? 1)
    expectsNoNMEA = desired.writesNMEA == false
    startsOften = desired.powerSave?.sleepsBetweenFixes == true
    lastMessage = start
    settledAt = start + Self.settling
  }

  /// Handles a frame. Returns whether the configuration is lost.
  ///
  /// - Parameters:
  ///   - now: the time of the frame.
  ///   - epoch: the epoch period.
  mutating func receive(_ frame: borrowing Frame, at now: Instant, epoch: Milliseconds) -> Bool {
    switch frame.kind {
    case .ubx:
      if let ubx = frame.ubx, ubx.identity == message { lastMessage = now }
    case .nmea where expectsNoNMEA && now >= settledAt:
      // Only a boot text is a sign of a loss: receivers also write texts while their configuration is in place.
      if let sentence = frame.nmea, sentence.formatter == TXT.formatter {
        guard !startsOften, ReceiverText(sentence)?.announcesStart == true else { break }
      }
      unwanted += 1
      return unwanted == 1
    default: break
    }
    // Other frames arrive, and the desired message does not: for three intervals, and not less than the pauses of receivers while
    // they search.
    return message != nil && now >= lastMessage + max(Milliseconds(2500), epoch * (3 * rate))
  }
}
