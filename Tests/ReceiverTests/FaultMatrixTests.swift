// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Synchronization
import TestSupport
import Testing

/// Every fault with every receiver: what was seen is docs/reference/faults.md, which this test compares. `docs/generate pages` writes
/// it anew.
@Suite("Every fault with every receiver")
struct FaultMatrixTests {
  struct Case: Sendable {
    var name: String
    var fault: Fault
    /// How long it lasts, seconds.
    var length: Double
    /// Whether it is there when the line is opened, or comes when all is well.
    var isFromStart = false
  }

  static let cases = [
    Case(name: "unplugged for 5 s", fault: .unplug(for: Milliseconds(5000)), length: 5),
    Case(
      name: "no power for 2 s, nor backup", fault: .powerCycle(for: Milliseconds(2000), losingBackup: true), length: 2),
    Case(name: "no power for 2 s", fault: .powerCycle(for: Milliseconds(2000), losingBackup: false), length: 2),
    Case(name: "resets itself", fault: .reboot, length: 0),
    Case(name: "changes its rate to 57600", fault: .baudRateChange(to: 57600), length: 0),
    Case(name: "frozen for 20 s", fault: .freeze(for: Milliseconds(20_000)), length: 20),
    Case(name: "a frame is cut, then silence for 8 s", fault: .cutFrame(silenceFor: Milliseconds(8000)), length: 8),
    Case(name: "2 % of the bytes wrong for 20 s", fault: .corrupt(share: 0.02, for: Milliseconds(20_000)), length: 20),
    Case(name: "1 % of the bytes lost for 20 s", fault: .drop(share: 0.01, for: Milliseconds(20_000)), length: 20),
    Case(name: "floods the line for 20 s", fault: .flood(for: Milliseconds(20_000)), length: 20),
    Case(
      name: "refuses everything for 30 s, from the start", fault: .refuseEverything(for: Milliseconds(30_000)),
      length: 30, isFromStart: true),
    Case(
      name: "answers nothing for 30 s, from the start", fault: .silence(for: Milliseconds(30_000)), length: 30,
      isFromStart: true),
    Case(
      name: "frozen for 20 s, from the start", fault: .freeze(for: Milliseconds(20_000)), length: 20, isFromStart: true),
  ]

  struct Seen {
    /// Seconds from the fault's end to the next position.
    var position: Double?
    /// Seconds from the fault's end to the configured state; nil if it was not lost or did not return.
    var configured: Double?
    var isConfigured = false
    /// The reports meanwhile.
    var reports: [SessionReport] = []
    /// Wake-ups a second without a byte while the fault lasted.
    var wakeUpsPerSecond = 0.0
    var sentBytes = 0
  }

  /// The observations of each receiver, in the order of the cases: both tests need it.
  private static let seen = Mutex<[ReceiverModel: [Seen]]>([:])

  private static func seen(_ model: ReceiverModel) -> [Seen] {
    if let known = seen.withLock({ $0[model] }) { return known }
    let new = cases.map { run(model, $0) }
    seen.withLock { $0[model] = new }
    return new
  }

  private static func run(_ model: ReceiverModel, _ one: Case) -> Seen {
    let scene = SessionScene(model)
    if !one.isFromStart { scene.run(60) }
    let before = (reports: scene.reports.count, wakeUps: scene.wakeUps, sent: scene.sentBytes)
    scene.line.inject(one.fault, at: scene.now)
    scene.run(one.length)
    var seen = Seen()
    if one.length > 0 { seen.wakeUpsPerSecond = Double(scene.wakeUps - before.wakeUps) / one.length }
    let end = scene.now
    // Bytes on their way at the fault do not count.
    if one.length == 0 { scene.run(0.6) }
    let positions = scene.positions.count
    if scene.run(120, until: { $0.positions.count > positions }) { seen.position = scene.now.seconds(since: end) }
    scene.run(120)
    seen.isConfigured = scene.isSteady
    let sent = scene.reports.dropFirst(before.reports)
    seen.reports = sent.map(\.report)
    if let last = sent.last(where: { $0.report == .configured(refused: 0) }) {
      seen.configured = last.at.seconds(since: end)
    }
    seen.sentBytes = scene.sentBytes - before.sent
    return seen
  }

  @Test("All recover by themselves, report each thing once, and never spin", arguments: ReceiverModel.ofUBlox)
  func recovers(_ model: ReceiverModel) {
    for (one, seen) in zip(Self.cases, Self.seen(model)) {
      // A receiver without its orbits needs half a minute for the first position.
      #expect((seen.position ?? .infinity) < 50, "\(model) \(one.name): \(seen)")
      #expect(seen.isConfigured || model == .nmea, "\(model) \(one.name): \(seen)")
      #expect((seen.configured ?? 0) < 70, "\(model) \(one.name): \(seen)")
      #expect(seen.wakeUpsPerSecond < 5, "\(model) \(one.name): \(seen)")
      #expect(seen.reports.count { $0 == .silent } <= 1, "\(model) \(one.name): \(seen)")
      #expect(seen.reports.count { $0 == .notUnderstood } <= 3, "\(model) \(one.name): \(seen)")
      #expect(seen.reports.count { $0 == .wasReset } <= 1, "\(model) \(one.name): \(seen)")
      // From the start it gets the probes of identification.
      if model == .nmea { #expect(seen.sentBytes < (one.isFromStart ? 1000 : 1), "\(one.name)") }
    }
  }

  @Test("docs/reference/faults.md is what is seen")
  func page() throws {
    let rows = Self.cases.enumerated().map { index, one in
      [one.name]
        + ReceiverModel.ofUBlox.map { model in
          let seen = Self.seen(model)[index]
          let fix = seen.position.map { Self.seconds($0) } ?? "never"
          return fix + (seen.configured.map { " / " + Self.seconds($0) } ?? "")
        }
    }
    let header = ["fault"] + ReceiverModel.ofUBlox.map(\.rawValue)
    try Page("docs/reference/faults.md").check(section: "matrix", is: Page.table(header, rows))
  }

  static func seconds(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths < 0 ? "during" : "\(tenths / 10).\(tenths % 10)"
  }
}
