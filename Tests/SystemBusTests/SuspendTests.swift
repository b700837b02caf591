// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Testing

@testable import LocationService

@Suite("Suspend of the computer")
struct SuspendTests {
  private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private func outputs(_ watch: inout SuspendWatch) -> [String] {
    var words: [String] = []
    while let output = watch.nextOutput() {
      switch output {
      case .call(let call): if call.member != "AddMatch" { words.append(call.member) }
      case .inhibit: words.append("inhibit")
      case .release: words.append("release")
      case .suspending: words.append("suspending")
      case .resumed: words.append("resumed")
      }
    }
    return words
  }

  private func prepare(_ watch: inout SuspendWatch, _ begins: Bool, at seconds: Double) {
    watch.receive(
      BusMessage(
        .signal(
          path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager", member: "PrepareForSleep"),
        [.flag(begins)]), at: instant(seconds))
  }

  private func locked() -> SuspendWatch {
    var watch = SuspendWatch()
    watch.connected()
    #expect(outputs(&watch) == ["Inhibit"])
    watch.receive(BusMessage(.reply(BusToken(.suspend, 2)), [.file(BusFile())]), at: .zero)
    #expect(outputs(&watch) == ["inhibit"])
    return watch
  }

  @Test("The suspend waits until the receiver sleeps, and the lock is taken again afterwards")
  func suspend() {
    var watch = locked()
    prepare(&watch, true, at: 10)
    #expect(outputs(&watch) == ["suspending"])
    #expect(watch.deadline == instant(12))
    watch.allow()
    #expect(outputs(&watch) == ["release"])
    #expect(watch.deadline == nil)
    prepare(&watch, false, at: 20)
    #expect(outputs(&watch) == ["resumed", "Inhibit"])
  }

  @Test("The suspend waits two seconds at most")
  func timeout() {
    var watch = locked()
    prepare(&watch, true, at: 10)
    watch.wake(at: instant(11.9))
    #expect(outputs(&watch) == ["suspending"])
    watch.wake(at: instant(12))
    #expect(outputs(&watch) == ["release"])
    watch.allow()
    #expect(outputs(&watch) == [])
  }

  @Test("A suspend is reported also without a lock, or without the right to one")
  func refused() {
    var watch = SuspendWatch()
    watch.connected()
    watch.receive(BusMessage(.refusal(BusToken(.suspend, 2), name: "x", text: "y")), at: .zero)
    _ = outputs(&watch)
    prepare(&watch, true, at: 10)
    watch.allow()
    prepare(&watch, true, at: 10)
    prepare(&watch, false, at: 11)
    prepare(&watch, false, at: 11)
    #expect(outputs(&watch) == ["suspending", "resumed", "Inhibit"])
  }

  @Test("The lock is taken again after a restart of logind")
  func restart() {
    var watch = locked()
    for (old, new, words) in [(":1.1", "", ["release"]), ("", ":1.9", ["Inhibit"])] {
      watch.receive(
        BusMessage(
          .signal(path: "/", interface: "org.freedesktop.DBus", member: "NameOwnerChanged"),
          [.text("org.freedesktop.login1"), .text(old), .text(new)]), at: .zero)
      #expect(outputs(&watch) == words)
    }
    watch.disconnected()
    #expect(outputs(&watch) == ["release"])
  }

  @Test("The clocks give the duration of a suspend, also of many short ones, without the noise of their reads")
  func clock() {
    var clock = SuspendClock()
    #expect(clock.receive(differenceNanoseconds: 5_000_000_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 5_000_100_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 65_000_000_000) == 60)
    #expect(clock.receive(differenceNanoseconds: 65_150_000_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 65_300_000_000) == 0.3)
    #expect(clock.receive(differenceNanoseconds: 60_000_000_000) == nil)
  }

  @Test("A bus that is away is tried again while suspends are observed, without a line, and not after that")
  func retries() throws {
    var attempts = 0
    let bus = BusSource(hasLogind: { true }) { _ in
      attempts += 1
      throw BusConnection.NoDescriptor()
    }
    var poller = try Poller()
    var demand = SensorDemand()
    demand.suspends = true
    bus.set(demand, &poller, at: instant(0))
    for second in 1...35 {
      bus.wake(&poller, at: instant(Double(second)))
      #expect(bus.deadline.map { $0 > instant(Double(second)) } == true)
    }
    #expect(attempts == 4)
    demand.suspends = false
    bus.set(demand, &poller, at: instant(36))
    bus.wake(&poller, at: instant(60))
    #expect(attempts == 4 && bus.deadline == nil)
    while let event = bus.nextEvent() { if case .log(let text) = event { Issue.record("\(text)") } }
  }
}
