// SPDX-License-Identifier: Apache-2.0
import Foundation
import Messages
import MonotonicTime
import TestSupport
import Testing
import WireBytes

@testable import ReceiverSimulator
@testable import sextant

@Suite("sextant check at simulated receivers, in virtual time")
struct CheckTests {
  private static let uBlox: [ReceiverModel] = [.m6, .m8, .m8Batching, .m9, .m10, .f9p, .f9r, .f10, .x20]

  /// More only with all tests; `unsaved` has others.
  private static let restarted: [ReceiverModel] =
    [.m10, .ag3352, .mosaic] + (repetitions(4) == 4 ? [.m8, .mt3339, .at6668, .teseo, .um980, .lg290p, .tau1201] : [])

  /// The measurements of each model, beside identification, replies and restoring.
  private static let measured: [ReceiverModel: Set] = [
    .m10: ["rate", "messages", "constellations", "acknowledgements", "baud", "sleep", "wake", "hot start", "batch"],
    .mt3339: ["state", "rate", "messages", "baud", "sleep", "wake", "hot start"],
    .ag3352: ["state", "rate", "messages", "constellations", "baud", "sleep", "wake", "hot start"],
    .at6668: ["messages", "baud"], .teseo: ["messages", "sleep", "wake", "hot start"],
  ]

  /// Written settings that are the defaults.
  private static let defaults: Set = ["now value qzss 1", "now value NMEAOutput Stream1 Stream1, none, none, off"]

  private static func expectAsBefore(_ scene: CheckScene, _ before: [String], _ title: String) {
    let differences = Set(scene.settings).symmetricDifference(before).subtracting(defaults)
    #expect(differences.isEmpty, "\(title): \(differences.sorted().prefix(4))")
  }

  @Test(
    "A right receiver: no deviation, settings as found, nothing saved meanwhile, a file without positions",
    arguments: (uBlox + ReceiverModel.ofOtherMakers).map { ($0, false) } + restarted.map { ($0, true) })
  func right(model: ReceiverModel, restarts: Bool) {
    var scene = CheckScene(model, restarts: restarts)
    let before = scene.settings
    let saved = CheckScene.Saved(scene.line.receiver)
    let failure = scene.check { host in
      if host.machine.hasSent, CheckScene.Saved(host.line.receiver) != saved { Issue.record("\(model) has saved") }
    }
    // The simulated AT6558 needs more for a start than the data sheet of its chip has.
    let known = restarts && [.at6558, .at6668].contains(model) ? ["hot start"] : []
    #expect(scene.deviations == known && (failure == nil) == known.isEmpty, "\(model): \(scene.deviationTexts)")
    Self.expectAsBefore(scene, before, "\(model)")
    let names = Set(scene.findings.filter { $0.skipped == nil }.map(\.name))
    let wanted = Self.measured[model, default: []].union(["identification", "replies", "restoring"])
    #expect(names.isSuperset(of: wanted), "\(model): \(wanted.subtracting(names))")
    if restarts, model != .um980, model != .mosaic { #expect(names.contains("warm start"), "\(model)") }
    #expect(scene.findings.allSatisfy { $0.skipped != nil || $0.assumed != .null })
    #expect(scene.sequence.isComplete)
    let vendor = scene.sequence.state.report.receiver.first { $0.name == "vendor" }
    #expect(vendor?.value.string?.isEmpty == false, "\(model)")
    if !restarts { Self.expectPublishable(scene, "\(model)") }
  }

  /// The beginnings of the position as text.
  private static let positions = ["4809.8", "01136.3", "48.164", "11.605"]
  /// The same and SEC-UNIQID, in hexadecimal digits.
  private static let secrets = positions.map { Array($0.utf8).hexadecimalDigits } + ["b5622703"]
  /// The ends of latitude and longitude as UBX numbers of 1e-7 degrees.
  private static let coordinates = ["b51c", "ea06"]

  private static func expectPublishable(_ scene: CheckScene, _ title: String) {
    let (text, dialogue) = (scene.sequence.text, scene.sequence.state.dialogue.lines)
    let lines = text.split(separator: "\n")
    #expect(lines.indices.filter { lines[$0].hasPrefix("{\"check\":") } == [lines.count - 1], "\(title)")
    for position in positions { #expect(lines.last?.contains(position) == false, "\(title)") }
    for case .object(let members) in dialogue {
      let isKnown = members.allSatisfy { ["t", "dir", "hex", "rate", "left_out", "bytes"].contains($0.name) }
      let isDirection = members.contains { $0.name == "dir" && ["in", "out"].contains($0.value.string) }
      if !isKnown || !isDirection { Issue.record("\(title): \(members)") }
    }
    let bytes = dialogue.map { $0["hex"]?.string ?? "" }
    let all = bytes.joined(separator: " ")
    for secret in secrets { #expect(all.range(of: secret) == nil, "\(title): \(secret)") }
    #expect(!bytes.contains { hex in coordinates.allSatisfy { hex.contains($0) } }, "\(title)")
    #expect(zip(dialogue, bytes).contains { $0["dir"]?.string == "out" && !$1.isEmpty }, "\(title)")
    let times = dialogue.map { $0["t"]?.number ?? -1 }
    #expect(times == times.sorted() && times.first == 0 && dialogue.first?["rate"] != nil, "\(title)")
  }

  /// Messages that are not saved, and that the output alone shows.
  @Test(
    "Messages that a restart loses are written again",
    arguments: [
      (.at6668, ["GGA": 1, "RMC": 1, "GSV": 5, "TXT": 1]), (.um980, ["GGA": 1, "RMC": 1, "GSV": 5]),
      (.teseo, ["GGA": 1, "RMC": 1]),
    ] as [(ReceiverModel, [String: Int])])
  func unsaved(model: ReceiverModel, rates: [String: Int]) {
    var scene = CheckScene(model, restarts: true)
    scene.line.receiver.family?.current.rates = rates
    let before = scene.settings
    _ = scene.check()
    #expect(scene.deviations == (model == .at6668 ? ["hot start"] : []), "\(model): \(scene.deviationTexts)")
    Self.expectAsBefore(scene, before, "\(model)")
  }

  @Test("At a terminal the user interrupts the supply", arguments: [ReceiverModel.m10, .mt3339])
  func powerLoss(model: ReceiverModel) {
    var scene = CheckScene(model, isAtTerminal: true)
    let before = scene.settings
    let failure = scene.check()
    #expect(failure == nil, "\(scene.deviationTexts)")
    #expect(scene.findings.contains { $0.name == "power loss" && $0.skipped == nil && $0.deviation == nil })
    Self.expectAsBefore(scene, before, "\(model)")
  }

  @Test("On USB there is no rate to change", arguments: [ReceiverModel.m9, .f9p])
  func usb(model: ReceiverModel) {
    var scene = CheckScene(model, isUSB: true)
    let before = scene.settings
    let failure = scene.check()
    #expect(failure == nil, "\(scene.deviationTexts)")
    #expect(scene.findings.contains { $0.name == "baud" && $0.skipped == "the line has no rate" })
    Self.expectAsBefore(scene, before, "\(model)")
  }

  @Test("A wrong receiver: its deviations alone, and the exit code", arguments: WrongReceiver.all)
  func wronged(one: WrongReceiver) {
    var scene = CheckScene(one.model, one.quirks)
    let before = scene.settings
    var isOver = false
    let failure = scene.check { host in
      guard !isOver, let moment = one.moment, host.machine.run.part == moment.part, host.machine.moment == moment.stage
      else { return }
      isOver = true
      one.happens(host)
    }
    let texts = scene.deviationTexts
    #expect(texts.count == one.deviations.count, "\(texts)")
    for (text, wanted) in zip(texts, one.deviations) { #expect(text.hasPrefix(wanted), "\(texts)") }
    #expect(failure?.exitCode == one.exitCode)
    if one.moment == nil {
      Self.expectAsBefore(scene, before, one.testDescription)
      Self.expectPublishable(scene, one.testDescription)
    }
  }

  /// Requests for another time between fixes.
  static func period(_ milliseconds: UInt16, _ model: ReceiverModel) -> [UInt8] {
    let value = [UInt8(truncatingIfNeeded: milliseconds), UInt8(milliseconds >> 8)]
    return model == .mt3339
      ? Wire.nmea("PMTK220,\(milliseconds)")
      : Wire.ubx(0x06, 0x8A, [0, 1, 0, 0, 0x01, 0x00, 0x21, 0x30] + value)
  }

  @Test(
    "Fixes at another time than each second are no deviation, and are restored",
    arguments: [(.m9, 500), (.m9, 2000), (.m10, 5000), (.mt3339, 5000)] as [(ReceiverModel, UInt16)])
  func otherPeriod(model: ReceiverModel, milliseconds: UInt16) {
    var scene = CheckScene(model)
    scene.line.send(Self.period(milliseconds, model), at: scene.now)
    scene.pass(seconds: 1)
    #expect(scene.line.receiver.epochMilliseconds == milliseconds)
    let before = scene.settings
    let failure = scene.check()
    #expect(failure == nil, "\(model): \(scene.deviationTexts)")
    let rate = scene.findings.first { $0.name == "rate" }
    #expect(rate?.skipped == nil, "\(String(describing: rate))")
    Self.expectAsBefore(scene, before, "\(model)")
  }

  /// One that any byte wakes, one that is woken by a command, and one that its timer wakes.
  private static let models: [ReceiverModel] = [.m10, .mt3339, .teseo]

  /// A Teseo-LIV3F, which replies late after a restart, is not restarted.
  private static func scene(_ model: ReceiverModel) -> CheckScene { CheckScene(model, restarts: model != .teseo) }

  /// Makes each part again, and disturbs it at each stage once.
  private static func disturb(
    _ scene: CheckScene, _ disturbance: (CheckScene.Host) -> Void,
    _ body: (CheckScene, CheckScene.Moment, CommandFailure?, String) -> Void
  ) {
    for moment in CheckScene.moments(scene) where moment.isFirst {
      var scene = moment.before
      var isOver = false
      let failure = scene.make(moment.part) { host in
        guard !isOver, host.machine.moment == moment.stage else { return }
        isOver = true
        disturbance(host)
      }
      let title = "\(scene.model): \(moment.part), \(moment.stage)"
      #expect(isOver, "\(title)")
      body(scene, moment, failure, title)
    }
  }

  @Test("^C at each stage: no deviation, settings as found, awake, the record removed", arguments: models)
  func interrupted(model: ReceiverModel) { interrupt(Self.scene(model)) }

  /// Receivers with a setting that was not saved, and that a standby or a restart loses.
  private static func forgetful() -> [CheckScene] {
    [(ReceiverModel.mt3339, "PMTK220,500"), (.ag3352, "PAIR050,500")].map { model, request in
      var scene = CheckScene(model, [.forgetfulStandby], restarts: true)
      scene.line.send(Wire.nmea(request), at: scene.now)
      scene.pass(seconds: 1)
      #expect(scene.line.receiver.epochMilliseconds == 500)
      return scene
    }
  }

  @Test("The same at a receiver whose standby loses settings that were not saved")
  func interruptedForgetful() { for scene in Self.forgetful() { interrupt(scene) } }

  private func interrupt(_ scene: CheckScene) {
    Self.disturb(scene) { host in
      host.withMachine { $0.interrupt(at: $1) }
    } _: { scene, moment, failure, title in
      var scene = scene
      #expect(failure == nil, "\(title): \(String(describing: failure))")
      #expect(!scene.sequence.isComplete && scene.line.receiver.powerState.isAwake, "\(title)")
      if !moment.stage.hasPrefix("over") {
        #expect(scene.deviations == moment.before.deviations, "\(title): \(scene.deviationTexts)")
      }
      #expect(scene.sequence.next() == nil, "\(title)")
      #expect(scene.stored.recovery == nil, "\(title)")
      let end = scene.sequence.failure
      #expect(end?.description == "receiver: interrupted; the receiver is restored" && end?.exitCode == 69, "\(title)")
      Self.expectAsBefore(scene, moment.before.settings, title)
    }
  }

  @Test("A second ^C leaves the receiver to the next command")
  func cut() {
    var sequence = CheckSequence(path: "receiver", restarts: false, isAtTerminal: false)
    let run = CheckRun(.settings, sequence.state, path: "receiver", at: .zero)
    sequence.receive(run, isInterrupted: true, isOrderly: false, at: .zero)
    #expect(sequence.next() == nil)
    #expect(sequence.failure?.description == "receiver: interrupted; the next command restores the receiver")
  }

  @Test(
    "Killed at each stage and write: the next command restores the settings",
    arguments: [ReceiverModel.m10, .m8, .mt3339, .ag3352])
  func killed(model: ReceiverModel) {
    let scene = CheckScene(model, restarts: true)
    let moments = CheckScene.moments(scene)
    for number in numbers(to: moments.count) {
      let moment = moments[number - 1]
      var next = moment.killed
      next.pass(seconds: 1)
      let (isRestored, title) = (next.restore(), "\(model): \(moment.part), \(moment.stage)")
      #expect(isRestored, "\(title)")
      Self.expectAsBefore(next, scene.settings, title)
    }
  }

  @Test(
    "Unplugged at each stage: no deviation, and the next command restores the settings",
    arguments: [ReceiverModel.m10, .mt3339])
  func unplugged(model: ReceiverModel) {
    Self.disturb(Self.scene(model)) { host in
      host.inject(.unplug(for: Milliseconds(3000)))
    } _: { scene, moment, failure, title in
      var scene = scene
      if !moment.stage.hasPrefix("over") {
        #expect(
          failure?.description
            == "receiver: the receiver is disconnected; check the cable. The next command restores it", "\(title)")
        #expect(scene.deviations == moment.before.deviations, "\(title): \(scene.deviationTexts)")
      }
      scene.pass(seconds: 6)
      _ = scene.restore()
      Self.expectAsBefore(scene, moment.before.settings, title)
    }
  }

  @Test(
    "Silent from each stage on: the part ends, and the next command restores the settings",
    arguments: [ReceiverModel.m10, .mt3339])
  func silent(model: ReceiverModel) {
    Self.disturb(Self.scene(model)) { host in
      host.inject(.freeze(for: Milliseconds(300_000)))
    } _: { scene, moment, failure, title in
      var scene = scene
      let seconds = scene.now.seconds(since: moment.before.now)
      #expect(seconds < 300, "\(title)")
      if moment.stage.hasPrefix("waiting") {
        #expect(failure?.description.contains(/no receiver was found|does not reply/) == true, "\(title)")
      }
      let isNew = scene.findings.count > moment.before.findings.count
      #expect(moment.stage.hasPrefix("over") || isNew || failure != nil, "\(title)")
      scene.pass(seconds: 301)
      _ = scene.restore()
      Self.expectAsBefore(scene, moment.before.settings, title)
    }
  }
}

/// A receiver that is not as assumed, from its start or from a moment on.
struct WrongReceiver: CustomTestStringConvertible {
  var testDescription: String
  /// The beginnings of the texts of its deviations.
  var deviations: [String]
  /// 69 where the receiver is not found afterwards.
  var exitCode: Int32
  var model: ReceiverModel
  var quirks: Set<Quirk>
  /// The part, and the stage with its finding, at whose beginning something happens.
  var moment: (part: CheckPart, stage: String)?
  var happens: @Sendable (CheckScene.Host) -> Void

  private init(
    _ title: String, _ deviations: String..., of model: ReceiverModel, _ quirks: Set<Quirk> = [],
    exitCode: Int32 = 1, at part: CheckPart? = nil, _ stage: String = "",
    _ happens: @escaping @Sendable (CheckScene.Host) -> Void = { _ in }
  ) {
    (testDescription, self.deviations, self.model, self.quirks) = (title, deviations, model, quirks)
    self.exitCode = exitCode
    (moment, self.happens) = (part.map { ($0, stage) }, happens)
  }

  private static func fault(_ fault: Fault) -> @Sendable (CheckScene.Host) -> Void { { $0.inject(fault) } }
  private static func seconds(_ seconds: Double) -> Milliseconds { Milliseconds(seconds: seconds) }

  static let all = [
    WrongReceiver("late replies", "replies: a reply takes ", "acknowledgements: ", of: .mt3339, [.lateReplies]),
    WrongReceiver("lost acknowledgements", "acknowledgements: ", "restoring: ", of: .ag3352, [.lostAcknowledgements]),
    WrongReceiver("a rate that is kept", "rate: the receiver refused ", of: .mt3339, [.keptRate]),
    WrongReceiver("a baud rate that is kept", "baud: the receiver was not found at ", of: .mt3333, [.keptBaud]),
    WrongReceiver("a slow wake-up", "wake: the first frame came ", "hot start: ", of: .mt3339, [.slowWake]),
    WrongReceiver(
      "a cold start after a standby", "hot start: the first fix came not at all", of: .ag3352, [.coldStandby]),
    WrongReceiver(
      "polls without a reply", "replies: ", of: .m10, at: .settings, "polling replies",
      fault(.silence(for: seconds(4)))),
    WrongReceiver(
      "another time between fixes than the reported one", "state: ", "restoring: ", of: .mt3339, at: .settings,
      "observing settings",
      { $0.line.receiver.settings.measurementMilliseconds = 2000 }),
    WrongReceiver(
      "a refused rate", "rate: ", of: .m10, at: .settings, "changing rate",
      fault(.refuseEverything(for: seconds(1)))),
    WrongReceiver(
      "a message that is accepted and not sent", "messages: the receiver accepted NAV-DOP on, and does not send it",
      of: .m10, at: .settings, "verifying messages", { $0.line.receiver.setRate(of: .navDOP, every: 0) }),
    WrongReceiver(
      "refused constellations", "constellations: ", of: .m10, at: .settings, "changing constellations",
      fault(.refuseEverything(for: seconds(0.1)))),
    WrongReceiver(
      "no sleep", "sleep: the receiver goes on sending", of: .m10, at: .sleep, "fallingAsleep sleep",
      fault(.ignoreSleepRequests(for: seconds(100)))),
    WrongReceiver(
      "no standby", "sleep: the receiver goes on sending", of: .mt3339, at: .sleep, "fallingAsleep sleep",
      fault(.ignoreSleepRequests(for: seconds(100)))),
    WrongReceiver(
      "a wake-up without a request", "sleep: it woke ", of: .m10, at: .sleep, "asleep sleep",
      fault(.wakeByItself(after: seconds(3.5)))),
    WrongReceiver(
      "no wake-up", "wake: the receiver does not wake", of: .mt3339, exitCode: 69, at: .sleep, "asleep sleep",
      fault(.ignoreWakeUps(for: seconds(1000)))),
    WrongReceiver(
      "no wake-up by bytes", "wake by a byte: ", of: .m10, exitCode: 69, at: .sleep, "asleep sleep",
      fault(.ignoreWakeUps(for: seconds(1000)))),
    WrongReceiver(
      "another baud rate after the sleep", "baud after sleep: ", of: .mt3339, [.forgetfulStandby], at: .settings,
      "waiting settings", fault(.baudRateChange(to: 38_400))),
    WrongReceiver(
      "a timer that is late", "wake: it woke ", of: .teseo, at: .sleep, "asleep sleep",
      { $0.line.receiver.wakesAt = $0.line.receiver.wakesAt.map { $0 + seconds(10) } }),
    WrongReceiver(
      "a batch that is not reported", "batch: the receiver does not report ", of: .m10, at: .batch,
      "readingBatch batch",
      fault(.silence(for: seconds(5)))),
    WrongReceiver(
      "a batch that is refused", "batch: the receiver stores 0 fixes", of: .m10, at: .batch, "startingBatch batch",
      fault(.refuseEverything(for: seconds(3)))),
    WrongReceiver(
      "a batch without fixes", "batch: the receiver accepted ", of: .m10, at: .batch, "retrieving batch",
      fault(.loseBatchedEpochs(100))),
    WrongReceiver(
      "a rate that is not restored", "restoring: not as it was found: a fix every 2.0 s", of: .m10, at: .restored,
      "waiting restoring", { $0.line.send(CheckTests.period(2000, .m10), at: $0.now) }),
  ]
}
