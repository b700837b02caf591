// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import Receiver

/// A session with a random receiver and random calls, in virtual time.
@Suite("A receiver with whims")
struct WhimsicalReceiverTests {
  /// Seconds of a session, before its end.
  static let length = 120

  private static func run(_ seed: Int) {
    let scene = WhimsicalScene(seed: UInt64(seed))
    scene.run(seconds: length)
    scene.end()
    #expect(scene.violations.isEmpty, "seed \(seed), \(scene.title): \(scene.violations.first ?? "")")
  }

  @Test("A read-only session has nothing to try again, and is not woken for it without end", arguments: [5, 326, 796])
  func readOnly(seed: Int) { Self.run(seed) }

  @Test("A command that waits for a rate change causes no wake-up until then", arguments: [33, 400, 689])
  func submittedBeforeRate(seed: Int) { Self.run(seed) }

  @Test("A refused setting is not tried again during a sleep", arguments: [82, 124, 627])
  func refusedAndAsleep(seed: Int) { Self.run(seed) }

  @Test("Another make that is recognised before the poll is not waited for", arguments: [346, 403, 778])
  func otherMakeInTime(seed: Int) { Self.run(seed) }

  @Test("A missing id does not mean another receiver: changes are restored", arguments: [131, 207, 397])
  func lostID(seed: Int) { Self.run(seed) }

  @Test("A reply to a retrieval is not one to a new configuration", arguments: [1086, 1408])
  func configurationDuringRetrieval(seed: Int) { Self.run(seed) }

  @Test("A rate that was being raised when the line was lost is restored")
  func lostWhileRaising() { Self.run(1564) }

  @Test("Invariants hold with any receiver")
  func seeds() {
    for seed in 1...repetitions(200) { Self.run(seed) }
  }
}

/// A session on the line of a `WhimsicalReceiver`, and a host that calls at random.
final class WhimsicalScene {
  private(set) var violations: [String] = []
  private(set) var title = ""
  /// Whether all events are printed, to examine a seed.
  var isLoud = false
  private var receiver: WhimsicalReceiver
  private var session: ReceiverSession
  private var settings: SessionSettings
  private var random: SeededRandomNumberGenerator
  private var now = Instant.zero
  private var hostRate: UInt32?
  private var nextCall: Instant
  private var open: Set<SessionTicket> = []
  private var isOpen = true
  /// The line was not lost yet.
  private var isFirst = true
  /// Times of the last ten seconds.
  private var wakeUps: [Instant] = []
  private var actions: [Instant] = []
  private var reports: [Instant] = []
  private var sent: [(at: Instant, bytes: Int, seconds: Double)] = []
  private var hasFault = false
  private var isOtherMaker = false
  /// The number of writes to another make.
  private var probes = 0
  private var reportedNotRestored = false
  private var isFinishing = false
  private var keepsRate = false
  private let keepsChanges: Bool

  init(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let nature: WhimsicalReceiver.Nature = random.element(of: [
      .uBlox, .uBlox, .uBlox, .uBlox, .uBlox, .deaf, .otherMaker, .noise,
    ])
    let rates: [UInt32] = [4800, 9600, 9600, 38_400, 115_200]
    let rate = random.element(of: rates)
    let line: SessionSettings.Line = random.element(of: [
      .serial, .serial, .serial, .bound, .usb, .withoutRate(nil), .withoutRate(.i2c),
    ])
    let intent: SessionSettings.Intent = random.element(of: [.serve, .serve, .serve, .serve, .identify, .readOnly])
    receiver = WhimsicalReceiver(nature, isTruthful: random.oneIn(2), rate: rate, seed: seed)
    var settings = SessionSettings(intent: intent, line: line)
    settings.isKnownUBlox = nature != .otherMaker && random.oneIn(4)
    settings.likelyRates = random.oneIn(2) ? [] : [38_400]
    settings.restoresAtEnd = !random.oneIn(8)
    keepsChanges = !settings.restoresAtEnd
    settings.maySwitchUBXOn = !random.oneIn(4)
    if random.oneIn(4) {
      settings.assistance = AssistanceSettings(
        records: [], clockAccuracySeconds: 1, readsDatabaseAtEnd: random.oneIn(2))
    }
    if random.oneIn(2) {
      settings.desired = { receiver in
        var desired = DesiredConfiguration.navigation(for: receiver)
        desired.leastPortRate = 115_200
        return desired
      }
    }
    if nature != .otherMaker, random.oneIn(10) { settings.recovery = CrashRecoveryRecord(rate: rate, foundRate: 9600) }
    if intent != .serve, random.oneIn(3) {
      var memory = SessionMemory()
      memory.description = ReceiverDescription(
        monVER: [UInt8](repeating: 0x30, count: 40) + Array("PROTVER=18.00".utf8) + [UInt8](repeating: 0, count: 17))
      if nature != .otherMaker { settings.memory = memory }
    }
    hostRate =
      switch line {
      case .serial: random.oneIn(3) ? rates[random.int(0...4)] : rate
      case .bound: rate
      case .usb, .withoutRate: nil
      }
    title = "\(nature) \(receiver.isTruthful ? "truthful " : "")\(intent) \(line)"
    session = ReceiverSession(
      settings, lineRate: hostRate, reference: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000), now: now)
    self.settings = settings
    nextCall = now + Milliseconds(UInt64(random.int(100...8000)))
    self.random = random
  }

  // MARK: Time

  func run(seconds: Int) {
    let end = now + Milliseconds(UInt64(seconds) * 1000)
    while now < end, violations.count < 20 { step(before: end, calls: true) }
  }

  /// The session ends in order, whatever the receiver does.
  func end() {
    let from = now
    if !isOpen { reopen() }
    isFinishing = true
    session.finish(at: now)
    carryOut()
    let end = now + Milliseconds(60_000)
    while now < end, !session.isEnded, violations.count < 20 { step(before: end, calls: random.oneIn(2)) }
    if now.milliseconds(since: from) > 31_000 { fail("ends in time", "\(now.milliseconds(since: from)) ms") }
    if !open.isEmpty { fail("each ticket is finished once", "\(open.count) open at the end") }
    _ = receiver.advance(to: now + Milliseconds(200))
    checkPutBack()
  }

  private func checkPutBack() {
    guard receiver.nature == .uBlox, receiver.isTruthful, settings.intent != .readOnly, !keepsChanges,
      settings.recovery == nil, settings.memory == nil
    else { return }
    var changes = receiver.changes()
    if keepsRate { changes.removeAll { $0.hasPrefix("rate") } }
    if !changes.isEmpty, !reportedNotRestored { fail("what is changed is put back or told", "\(changes)") }
    if reportedNotRestored, case .serial = settings.line, session.description != nil {
      if session.recovery == nil { fail("what is left is noted", "nothing") }
    }
  }

  private func step(before end: Instant, calls: Bool) {
    var next = min(end, receiver.deadline)
    if calls { next = min(next, nextCall) }
    if isOpen { next = Instant.earlier(next, session.deadline) ?? next }
    now = max(now, next)
    let bytes = receiver.advance(to: now)
    if isOpen {
      if !bytes.isEmpty { receive(bytes) }
      if let due = session.deadline, now >= due { wake() }
    }
    if calls, now >= nextCall {
      nextCall =
        now + Milliseconds(UInt64(random.oneIn(5) ? 0 : random.int(1...random.element(of: [100, 4000, 20_000]))))
      if isOpen { call() } else { reopen() }
    }
    count()
  }

  private func receive(_ bytes: [UInt8]) {
    var received = bytes
    if let hostRate, hostRate != receiver.rate {
      let count = Double(bytes.count) * Double(hostRate) / Double(receiver.rate)
      received = random.bytes(max(1, min(Int(count), 4000)))
    }
    log("received \(received.map { String($0, radix: 16) }.joined(separator: " ").prefix(600))")
    unsafe session.receive(received.span.bytes, at: now) { _, _ in }
    carryOut()
  }

  private func wake() {
    for _ in 0..<4 {
      wakeUps.append(now)
      session.wake(at: now) { _, _ in }
      carryOut()
      guard let again = session.deadline, again <= now else { return }
    }
    fail("it does not spin", "deadline \(session.deadline.map { "\($0.nanoseconds / 1_000_000)" } ?? "") ms")
    // Time goes on all the same.
    now += Milliseconds(500)
  }

  // MARK: The host

  private func call() {
    switch random.int(0...13) {
    case 0, 1, 2: setDesired()
    case 3:
      log("sleep"); session.sleep(for: random.oneIn(2) ? nil : Milliseconds(UInt64(random.int(0...20_000))), at: now)
    case 4, 5: log("wakeUp"); session.wakeUp(at: now)
    case 6, 7, 8: submit()
    case 9, 10:
      log("retrieve")
      session.retrieveBatch(BatchJournal(), earlier: random.oneIn(3) ? [random.bytes(100)] : [], at: now)
    case 11 where random.oneIn(4): lose()
    case 12 where random.oneIn(4): session.wake(at: now) { _, _ in }
    case 13 where isFinishing: session.finish(at: now)
    default: break
    }
    carryOut()
  }

  private func log(_ text: @autoclosure () -> String) {
    if isLoud { print(now.nanoseconds / 1_000_000, text()) }
  }

  private func setDesired() {
    guard let description = session.description else { return session.set(.nothing, at: now) }
    var desired: DesiredConfiguration
    switch random.int(0...4) {
    case 0: desired = .nothing
    case 1:
      desired = .batching(
        BatchConfiguration(epochs: random.int(0...1000), isExtended: random.oneIn(2)), for: description)
    case 2: desired = .logging(for: description)
    default: desired = .navigation(for: description)
    }
    if random.oneIn(3) { desired.measurementPeriodMilliseconds = random.element(of: [40, 100, 1000, 10_000]) }
    if random.oneIn(3) { desired.dynamicModel = random.element(of: DesiredConfiguration.DynamicModel.allCases) }
    if random.oneIn(4) { desired.withoutConstellations = [.galileo, .beiDou] }
    if random.oneIn(6) { desired.constellations = [.gps, .glonass] }
    if random.oneIn(4) {
      let mode: PowerSave = random.element(of: [.continuous, .cyclic(everySeconds: 2), .onOff(periodSeconds: 20)])
      if mode.isPossible(on: description) { desired.powerSave = mode }
    }
    if random.oneIn(4) {
      desired.portRate = random.element(of: [9600, 38_400, 115_200])
      desired.keepsPortRate = random.oneIn(4)
      if desired.keepsPortRate { keepsRate = true }
    }
    log("set")
    session.set(desired, at: now)
  }

  private func submit() {
    log("submit")
    let command: Command
    switch random.int(0...3) {
    case 0: command = .poll(MessageIdentity(0x0A, 0x04))
    case 1: command = .polls([MessageIdentity(0x0A, 0x04), MessageIdentity(0x27, 0x03)])
    case 2: command = .raw(random.bytes(random.int(0...20)).map { $0 & 0x7F })
    default: command = .poll(MessageIdentity(0x01, 0x03))
    }
    let ticket = session.submit(command, at: now)
    if !open.insert(ticket).inserted { fail("each ticket is finished once", "\(ticket) given twice") }
  }

  private func lose() {
    // Changes that are not restored because of a loss during the end are not reported.
    guard !isFinishing else { return }
    log("lose")
    session.lost { _, _ in }
    carryOut()
    if !open.isEmpty { fail("each ticket is finished once", "\(open.count) open after the loss of the line") }
    open = []
    isOpen = false
    nextCall = now + Milliseconds(UInt64(random.int(200...15_000)))
  }

  private func reopen() {
    guard !isFinishing else { return }
    log("reopen")
    var settings = settings
    settings.memory = session.memory
    settings.recovery = nil
    session = ReceiverSession(settings, lineRate: hostRate, reference: nil, now: now)
    isOpen = true
    isFirst = false
    hasFault = false
    isOtherMaker = false
    probes = 0
    reportedNotRestored = false
    carryOut()
  }

  private func carryOut() {
    while let action = session.nextAction() {
      actions.append(now)
      switch action {
      case .send(let bytes):
        log("send \(bytes.map { String($0, radix: 16) }.joined(separator: " ").prefix(240))")
        sent.append((now, bytes.count, hostRate.map { Double(bytes.count) * 10 / Double($0) } ?? 0))
        if settings.intent == .readOnly { fail("nothing is sent where nothing may be", "\(bytes.count) bytes") }
        checkOtherMaker(bytes)
        receiver.receive(bytes, at: hostRate, at: now)
      case .setRate(let rate):
        log("rate \(rate)")
        hostRate = rate
      case .report(let report):
        log("\(report)".prefix(60).description)
        reports.append(now)
        take(report)
      case .finished(let ticket, _):
        if open.remove(ticket) == nil { fail("each ticket is finished once", "\(ticket) again") }
      case .batch: break
      }
      // The actions of one call are bounded.
      if actions.count > 20_000 { return }
    }
  }

  /// Another make gets only probes of identification; once it is known as one, only its family's probes.
  private func checkOtherMaker(_ bytes: [UInt8]) {
    guard receiver.nature == .otherMaker, isOtherMaker || settings.intent == .serve && isFirst else { return }
    probes += 1
    let isProbe = isOtherMaker ? IdentificationProbes.mediaTek.contains(bytes) : IdentificationProbes.contains(bytes)
    if !isProbe { fail("nothing but probes is sent to another make", "\(bytes.prefix(8))") }
    if probes > 40 { failOnce("another make gets few probes", "\(probes)") }
  }

  private func take(_ report: SessionReport) {
    switch report {
    case .silent, .notUnderstood:
      if hasFault { fail("a failure is reported once", "\(report)") }
      hasFault = true
    case .back:
      if !hasFault, !violations.contains(where: { $0.hasPrefix("back") }) {
        fail("back is reported after a failure", "")
      }
      hasFault = false
    case .doesNotWake: hasFault = true
    case .notIdentified(isOtherVendor: true): isOtherMaker = true
    case .notRestored: reportedNotRestored = true
    default: break
    }
  }

  // MARK: Limits

  private func count() {
    let from = Milliseconds(10_000)
    wakeUps.removeAll { $0 + from < now }
    actions.removeAll { $0 + from < now }
    sent.removeAll { $0.at + from < now }
    reports.removeAll { $0 + Milliseconds(60_000) < now }
    let seconds = sent.reduce(0) { $0 + $1.seconds }
    if wakeUps.count > 800 { failOnce("wake-ups are bounded", "\(wakeUps.count) in 10 s") }
    if actions.count > 1200 { failOnce("actions are bounded", "\(actions.count) in 10 s") }
    if seconds > 12 { failOnce("no more is sent than the line carries", "\(seconds) s in 10 s") }
    if reports.count > 60 { failOnce("reports are bounded", "\(reports.count) in 60 s") }
  }

  private func fail(_ name: String, _ text: String) {
    log("FAIL \(name): \(text)")
    let stage = String("\(session.stage)".prefix(40))
    violations.append("\(name): at \(now.nanoseconds / 1_000_000) ms in \(stage): \(text)")
  }

  private func failOnce(_ name: String, _ text: String) {
    if !violations.contains(where: { $0.hasPrefix(name) }) { fail(name, text) }
  }
}
