// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing

@testable import LocationService

@Suite("Units of the service manager")
struct UnitControlTests {
  private static let unit = "hike.service"
  private static let path = "/org/freedesktop/systemd1/unit/hike_2eservice"

  private static func connected(watching units: Set<String> = [unit]) -> UnitControl {
    var control = UnitControl()
    control.watch(units)
    control.connected()
    _ = calls(&control)
    return control
  }

  /// Returns the outputs that are calls.
  @discardableResult
  private static func calls(_ control: inout UnitControl) -> [BusCall] {
    var calls: [BusCall] = []
    while case .call(let call)? = control.nextOutput() { calls.append(call) }
    return calls
  }

  private static func answer(_ call: BusCall?, _ value: String, _ control: inout UnitControl) {
    guard let call else { return }
    control.receive(BusMessage(.reply(call.token), [.text(value)]))
  }

  private static func removed(_ path: String, _ unit: String = unit, _ result: String = "done") -> BusMessage {
    BusMessage(
      .signal(
        path: "/org/freedesktop/systemd1", interface: "org.freedesktop.systemd1.Manager", member: "JobRemoved"),
      [.integer(7), .text(path), .text(unit), .text(result)])
  }

  private static func new(_ path: String, _ unit: String = unit) -> BusMessage {
    BusMessage(
      .signal(path: "/org/freedesktop/systemd1", interface: "org.freedesktop.systemd1.Manager", member: "JobNew"),
      [.integer(7), .text(path), .text(unit)])
  }

  private static func refuse(_ call: BusCall?, _ control: inout UnitControl) {
    guard let call else { return }
    control.receive(
      BusMessage(
        .refusal(call.token, name: "org.freedesktop.DBus.Error.UnknownObject", text: "Unknown object '/job/9'.")))
  }

  /// Answers the calls after the end of a job; `type` is for a job that began before the unit was watched. Returns the
  /// last output.
  private static func stopped(
    _ control: inout UnitControl, type: String? = nil, state: String = "inactive", system: String = "running"
  ) -> UnitControl.Output? {
    for value in [path, type, state, system].compactMap(\.self) {
      guard let call = calls(&control).last else { return nil }
      answer(call, value, &control)
    }
    return control.nextOutput()
  }

  @Test("A unit is started without replacing a job of the administrator, and its end is reported once")
  func start() {
    var control = Self.connected()
    control.start(Self.unit)
    let calls = Self.calls(&control)
    #expect(calls.map(\.member) == ["StartUnit"])
    #expect(calls.last?.arguments == [.text(Self.unit), .text("fail")])
    Self.answer(calls.last, "/job/5", &control)
    #expect(control.nextOutput() == nil)
    control.receive(Self.removed("/job/5"))
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: nil))
    // This program's own start is not a stop.
    #expect(control.nextOutput() == nil)
  }

  @Test("A start fails with the reason of systemd or of the bus")
  func failures() {
    var control = Self.connected()
    control.start(Self.unit)
    let call = Self.calls(&control).last
    #expect(call != nil)
    if let call {
      control.receive(BusMessage(.refusal(call.token, name: "x", text: "Interactive authentication required.")))
    }
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: "Interactive authentication required."))
    control.start(Self.unit)
    Self.answer(Self.calls(&control).last, "/job/6", &control)
    control.receive(Self.removed("/job/6", Self.unit, "failed"))
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: "systemd reports failed for hike.service"))
    control.start(Self.unit)
    _ = Self.calls(&control)
    control.disconnected("gone")
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: "gone"))
    #expect(control.nextOutput() == nil)
  }

  @Test("A start waits for the connection; the manager sends signals only after Subscribe")
  func waits() {
    var control = UnitControl()
    control.start(Self.unit)
    #expect(control.nextOutput() == nil && control.isNeeded)
    control.watch([Self.unit])
    control.connected()
    #expect(Self.calls(&control).map(\.member) == ["Subscribe", "AddMatch", "StartUnit"])
    control.watch([])
    #expect(Self.calls(&control).map(\.member) == ["RemoveMatch"])
  }

  @Test("A job that leaves a unit inactive is a stop on purpose")
  func stop() {
    var control = Self.connected()
    control.receive(Self.removed("/job/9"))
    #expect(Self.stopped(&control, type: "simple") == .stopped(unit: Self.unit))
    control.receive(Self.removed("/job/9"))
    #expect(Self.stopped(&control, type: "notify", state: "failed") == .stopped(unit: Self.unit))
  }

  @Test("The end of a start of type oneshot in which the program registered is not a stop")
  func startBeforeRegistration() {
    var control = Self.connected()
    control.receive(Self.removed("/job/9"))
    #expect(Self.stopped(&control, type: "oneshot") == nil)
  }

  @Test("The type of a job distinguishes a stop from a start that ended with its program, as a oneshot start does")
  func jobTypes() {
    for (type, isStop) in [("stop", true), ("start", false), ("restart", false), ("reload", false)] {
      var control = Self.connected()
      control.receive(Self.new("/job/9"))
      let call = Self.calls(&control).last
      #expect(call?.path == "/job/9" && call?.arguments == [.text("org.freedesktop.systemd1.Job"), .text("JobType")])
      Self.answer(call, type, &control)
      control.receive(Self.removed("/job/9"))
      #expect(Self.stopped(&control) == (isStop ? .stopped(unit: Self.unit) : nil), "\(type)")
      // The answer is in transit when the job ends.
      control.receive(Self.new("/job/10"))
      let late = Self.calls(&control).last
      control.receive(Self.removed("/job/10"))
      #expect(control.nextOutput() == nil)
      Self.answer(late, type, &control)
      #expect(Self.stopped(&control) == (isStop ? .stopped(unit: Self.unit) : nil), "\(type)")
    }
  }

  @Test("A job that ends before its type is known is a stop with nothing to do, if the unit is inactive then")
  func immediateJob() {
    for (state, isStop) in [("inactive", true), ("active", false)] {
      var control = Self.connected()
      control.receive(Self.new("/job/9"))
      let call = Self.calls(&control).last
      control.receive(Self.removed("/job/9"))
      Self.refuse(call, &control)
      #expect(Self.stopped(&control, state: state) == (isStop ? .stopped(unit: Self.unit) : nil))
    }
  }

  @Test("A stop during a start of type oneshot cancels the start, and is recognised; a start that fails is none")
  func stopDuringStart() {
    var control = Self.connected()
    control.start(Self.unit)
    Self.answer(Self.calls(&control).last, "/job/5", &control)
    control.receive(Self.new("/job/5"))
    Self.answer(Self.calls(&control).last, "start", &control)
    control.receive(Self.removed("/job/5", Self.unit, "canceled"))
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: "systemd reports canceled for hike.service"))
    control.receive(Self.new("/job/6"))
    Self.answer(Self.calls(&control).last, "stop", &control)
    control.receive(Self.removed("/job/6"))
    #expect(Self.stopped(&control) == .stopped(unit: Self.unit))
    // A start that ends with the program, for the next event.
    control.start(Self.unit)
    Self.answer(Self.calls(&control).last, "/job/7", &control)
    control.receive(Self.removed("/job/7"))
    #expect(control.nextOutput() == .startEnded(unit: Self.unit, failure: nil) && control.nextOutput() == nil)
    control.receive(Self.new("/job/8"))
    let call = Self.calls(&control).last
    control.receive(Self.removed("/job/8", Self.unit, "failed"))
    Self.answer(call, "stop", &control)
    #expect(control.nextOutput() == nil)
  }

  @Test("No stop: a restart, the shutdown of the computer, a job that failed, another unit")
  func noStop() {
    var control = Self.connected()
    for state in ["active", "activating", "reloading"] {
      control.receive(Self.removed("/job/9"))
      #expect(Self.stopped(&control, type: "simple", state: state) == nil)
    }
    control.receive(Self.removed("/job/9"))
    #expect(Self.stopped(&control, type: "simple", system: "stopping") == nil)
    control.receive(Self.removed("/job/9", Self.unit, "canceled"))
    control.receive(Self.removed("/job/9", "other.service"))
    #expect(control.nextOutput() == nil)
  }

  @Test(
    "Only names of services are sent",
    arguments: [
      ("hike.service", true), ("user@1000.service", true), ("a\\x2db.service", true), ("hike.scope", false),
      ("hike", false), (".service", false), ("a b.service", false), ("x',sender='y.service", false),
      (String(repeating: "a", count: 250) + ".service", false),
    ])
  func names(name: String, isService: Bool) {
    #expect(UnitControl.isService(name) == isService)
    var control = Self.connected(watching: [])
    control.start(name)
    #expect(Self.calls(&control).count == (isService ? 1 : 0))
  }

  @Test("A bus is tried again every ten seconds while it is needed, and causes no round while it is not")
  func attempts() {
    let failed = Instant.zero + Milliseconds(60_000)
    for seconds: UInt64 in 0...30 {
      for isNeeded in [false, true] {
        var attempts = BusAttempts()
        #expect(attempts.begin(isNeeded: isNeeded, at: failed) == isNeeded && attempts.deadline == nil)
        attempts.failed(at: failed)
        let now = failed + Milliseconds(seconds * 1000)
        #expect(attempts.begin(isNeeded: isNeeded, at: now) == (isNeeded && seconds >= 10))
        #expect(attempts.deadline.map { $0 > now } ?? true)
        #expect((attempts.deadline != nil) == (isNeeded && seconds < 10))
      }
    }
  }
}
