import MonotonicTime
import Testing

@testable import SystemBus

@Suite("Suspend of the computer")
struct SuspendTests {
  private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  private func heard(_ watch: inout SuspendWatch) -> [String] {
    var words: [String] = []
    while let output = watch.nextOutput() {
      switch output {
      case .call(let call): if call.member != "AddMatch" { words.append(call.member) }
      case .hold: words.append("hold")
      case .letGo: words.append("let go")
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
    #expect(heard(&watch) == ["Inhibit"])
    watch.receive(BusMessage(.reply(BusToken(.suspend, 2)), [.file(BusFile())]), at: .zero)
    #expect(heard(&watch) == ["hold"])
    return watch
  }

  @Test("The suspend waits until the receiver sleeps, and the lock is taken anew afterwards")
  func suspend() {
    var watch = locked()
    prepare(&watch, true, at: 10)
    #expect(heard(&watch) == ["suspending"])
    #expect(watch.deadline == instant(12))
    watch.isPrepared()
    #expect(heard(&watch) == ["let go"])
    #expect(watch.deadline == nil)
    prepare(&watch, false, at: 20)
    #expect(heard(&watch) == ["resumed", "Inhibit"])
  }

  @Test("It waits two seconds at most")
  func patience() {
    var watch = locked()
    prepare(&watch, true, at: 10)
    watch.wake(at: instant(11.9))
    #expect(heard(&watch) == ["suspending"])
    watch.wake(at: instant(12))
    #expect(heard(&watch) == ["let go"])
    watch.isPrepared()
    #expect(heard(&watch) == [])
  }

  @Test("Without a lock, as without the right to one, it is told all the same")
  func refused() {
    var watch = SuspendWatch()
    watch.connected()
    watch.receive(BusMessage(.refusal(BusToken(.suspend, 2), name: "x", text: "y")), at: .zero)
    _ = heard(&watch)
    prepare(&watch, true, at: 10)
    watch.isPrepared()
    prepare(&watch, true, at: 10)
    prepare(&watch, false, at: 11)
    prepare(&watch, false, at: 11)
    #expect(heard(&watch) == ["suspending", "resumed", "Inhibit"])
  }

  @Test("A logind that starts anew has forgotten the lock")
  func restart() {
    var watch = locked()
    for (old, new, words) in [(":1.1", "", ["let go"]), ("", ":1.9", ["Inhibit"])] {
      watch.receive(
        BusMessage(
          .signal(path: "/", interface: "org.freedesktop.DBus", member: "NameOwnerChanged"),
          [.text("org.freedesktop.login1"), .text(old), .text(new)]), at: .zero)
      #expect(heard(&watch) == words)
    }
    watch.disconnected()
    #expect(heard(&watch) == ["let go"])
  }

  @Test("The clocks tell for how long, also many short stops, and no noise of reading them")
  func clock() {
    var clock = SuspendClock()
    #expect(clock.receive(differenceNanoseconds: 5_000_000_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 5_000_100_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 65_000_000_000) == 60)
    #expect(clock.receive(differenceNanoseconds: 65_150_000_000) == nil)
    #expect(clock.receive(differenceNanoseconds: 65_300_000_000) == 0.3)
    #expect(clock.receive(differenceNanoseconds: 60_000_000_000) == nil)
  }
}
