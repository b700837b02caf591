// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import Testing

/// How often a line wakes the process when its epochs do not come as a clock ticks, and what is handed out late for that.
@Suite("Idle intervals on a line with uneven epochs")
struct ReadSchedulerTests {
  /// A line, 115200 baud by default, and a process that reads by the schedule.
  private struct Line {
    /// Milliseconds between two epochs.
    var period = 200.0
    /// Bytes that come at once, and the milliseconds to the next ones.
    var piece = 12
    var pause = 1.0
    /// For each epoch.
    private(set) var wakeUps: [Int] = []
    /// Milliseconds from the last byte to the hand-out, for each epoch.
    private(set) var delays: [Double] = []
    private var policy = ReadScheduler()
    private var kept = 0
    private var lastByte: Double?

    init() {}
    init(period: Double, piece: Int, pause: Double) {
      (self.period, self.piece, self.pause) = (period, piece, pause)
    }

    /// Epochs that begin late by `lateness`, in milliseconds, each of `bytes` bytes; `stray` bytes come in the middle of the silence
    /// after it.
    mutating func run(
      _ lateness: some Sequence<Double>, bytes: (Int) -> Int = { _ in 382 }, stray: (Int) -> Int = { _ in 0 }
    ) {
      for late in lateness {
        let number = wakeUps.count
        wakeUps.append(0)
        let begin = 100 + Double(number) * period + late
        var recovery = bytes(number)
        var at = begin
        while recovery > 0 {
          bring(min(piece, recovery), at, isLast: recovery <= piece)
          recovery -= piece
          at += pause
        }
        let silence = (at - begin + period) / 2
        if stray(number) > 0 { bring(stray(number), begin - late + silence, isLast: false) }
        wake(until: begin - late + silence)
      }
    }

    private mutating func bring(_ count: Int, _ at: Double, isLast: Bool) {
      wake(until: at)
      kept += count
      if isLast { lastByte = at }
      if policy.idleUntil == nil { read(at) }
    }

    /// Epochs that end while the line is not read.
    private mutating func wake(until end: Double) {
      while let due = policy.idleUntil, milliseconds(due) <= end {
        policy.wake(at: due)
        read(milliseconds(due))
      }
    }

    private mutating func read(_ now: Double) {
      wakeUps[wakeUps.count - 1] += 1
      if kept > 0 {
        policy.receive(bytes: kept, endsEpoch: lastByte != nil, at: instant(now))
        kept = 0
        if let lastByte { delays.append(now - lastByte) }
        lastByte = nil
      }
      policy.attend(to: .epochs, before: nil, at: instant(now))
    }

    private func instant(_ milliseconds: Double) -> Instant { Instant(nanoseconds: UInt64(milliseconds * 1e6)) }
    private func milliseconds(_ instant: Instant) -> Double { Double(instant.nanoseconds) / 1e6 }
  }

  /// The wake-ups of the epochs from the twentieth on, and the delay of late ones.
  private struct Cost {
    var wakeUps: Double
    /// Handed out more than a millisecond after their last byte, of all.
    var lateShare: Double
    var worstMilliseconds: Double
  }

  private func cost(_ line: Line) -> Cost {
    let wakeUps = line.wakeUps[20...]
    let delays = line.delays.suffix(wakeUps.count)
    return Cost(
      wakeUps: Double(wakeUps.reduce(0, +)) / Double(wakeUps.count),
      lateShare: Double(delays.count { $0 > 1 }) / Double(delays.count), worstMilliseconds: delays.max() ?? 0)
  }

  /// A thousand epochs that begin up to this many milliseconds early or late.
  private func scattered(_ milliseconds: Double, _ count: Int = 1000) -> [Double] {
    var noise = SeededRandomNumberGenerator(seed: 42)
    return (0..<count).map { _ in milliseconds * noise.sway() }
  }

  private static let lines: [(name: String, line: Line)] = [
    ("115200 baud", Line()), ("USB", Line(period: 200, piece: 4000, pause: 1)),
    ("9600, by 8 bytes", Line(period: 1000, piece: 8, pause: 8.333)),
    ("115200, by 16 ms", Line(period: 200, piece: 184, pause: 16)),
    ("9600, by 16 ms", Line(period: 1000, piece: 15, pause: 16)),
  ]

  @Test(
    "An epoch that is out of time costs a few wake-ups, and none of the next ones is late for it",
    arguments: [5.0, 20, 50, -5, -20, -50])
  func outlier(_ milliseconds: Double) {
    var line = Line()
    line.run((0..<40).map { $0 == 20 ? milliseconds : 0 })
    #expect(line.wakeUps[20] <= 7, "\(line.wakeUps)")
    #expect(cost(line).wakeUps <= 2.3, "\(line.wakeUps)")
    // One that comes before it is listened for is late itself, by what it came early.
    #expect(line.delays[20] <= max(0, -milliseconds))
    #expect(line.delays[21...].allSatisfy { $0 == 0 }, "\(line.delays)")
  }

  @Test("A phase that has changed is found in two epochs", arguments: [5.0, 30, 60, -5, -30, -60])
  func phase(_ milliseconds: Double) {
    var line = Line()
    line.run((0..<60).map { $0 >= 20 ? milliseconds : 0 })
    #expect(cost(line).wakeUps <= 2.3, "\(line.wakeUps)")
    #expect(line.delays[22...].allSatisfy { $0 == 0 }, "\(line.delays)")
    #expect(line.wakeUps[30...].allSatisfy { $0 <= 3 }, "\(line.wakeUps)")
  }

  @Test(
    "Epochs out of step, after a change of signals, do not move the pace while the line is read",
    arguments: [[140.0], [500], [30, 500], [140, 500], [200, 430], [1400, 500]])
  func outOfStep(_ after: [Double]) {
    var schedule = ReadScheduler()
    func at(_ milliseconds: Double) -> Instant { Instant(nanoseconds: UInt64(milliseconds * 1e6)) }
    // Pieces of a reply's time: the line is read whatever the pace is.
    func epoch(_ begin: Double, expecting expectation: ReadScheduler.Expectation) {
      for piece in 0..<30 {
        let now = at(begin + Double(piece))
        schedule.wake(at: now)
        schedule.receive(bytes: 12, endsEpoch: piece == 29, at: now)
        schedule.attend(to: expectation, before: nil, at: now)
      }
    }
    for second in 1...8 { epoch(Double(second) * 1000, expecting: .epochs) }
    let expected = schedule.idleUntil
    epoch(9000, expecting: .answer)
    // The first comes this long after the last epoch; further ones are in the seconds after it.
    var last = 9.0
    for (index, offset) in after.enumerated() {
      epoch(9000 + offset + (index > 0 && after[0] > 1000 ? 1000 : 0), expecting: .answer)
      last = max(last, 9 + (offset / 1000).rounded(.down) + (index > 0 && after[0] > 1000 ? 1 : 0))
    }
    epoch((last + 1) * 1000, expecting: .epochs)
    let shift = schedule.idleUntil!.seconds(since: expected!) - (last + 1 - 8)
    #expect(abs(shift) < 0.004, "\(shift) s")
  }

  @Test(
    "Another pace is learned, also a multiple of the old one or a part",
    arguments: [2000.0, 5000, 3300, 500, 333, 250, 200, 100])
  func otherPace(_ period: Double) {
    var schedule = ReadScheduler()
    var now = 0.0
    func at(_ milliseconds: Double) -> Instant { Instant(nanoseconds: UInt64(milliseconds * 1e6)) }
    func epoch() {
      for piece in 0..<30 {
        let instant = at(now + Double(piece))
        schedule.wake(at: instant)
        schedule.receive(bytes: 12, endsEpoch: piece == 29, at: instant)
        schedule.attend(to: .answer, before: nil, at: instant)
      }
    }
    for _ in 0..<8 { epoch(); now += 1000 }
    now += period - 1000
    for _ in 0..<10 { epoch(); now += period }
    schedule.attend(to: .epochs, before: nil, at: at(now - period + 29))
    let idle = schedule.idleUntil!.seconds(since: at(now + 29))
    #expect(abs(idle) < 0.004, "\(idle) s")
  }

  @Test("Other epochs a second are learned anew")
  func otherRate() {
    var line = Line()
    line.run((0..<40).map { _ in 0 })
    line.period = 100
    // The epochs' times are counted from the first on: these come at once, from where the others ended.
    line.run((40..<120).map { _ in 40 * 100 })
    #expect(line.wakeUps[60...].allSatisfy { $0 <= 3 }, "\(line.wakeUps)")
    #expect(line.delays.suffix(50).allSatisfy { $0 == 0 }, "\(line.delays)")
  }

  @Test("Epochs that come as a clock ticks, nearly: twice an epoch on each kind of line", arguments: 0..<5)
  func steady(_ index: Int) {
    let (name, line) = Self.lines[index]
    let cost = run(.steady, on: line)
    #expect(cost.wakeUps <= 2.05, "\(name): \(cost)")
    #expect(cost.worstMilliseconds <= 0.2, "\(name): \(cost)")
  }

  @Test("Epochs that come whole wake the process once each, also when they come out of time")
  func whole() {
    let usb = Self.lines[1].line
    for habit in [Habit.steady, .uneven, .outliers, .everyFifth] {
      let cost = run(habit, on: usb)
      #expect(cost.wakeUps == 1, "\(habit.rawValue): \(cost)")
      #expect(cost.worstMilliseconds == 0, "\(habit.rawValue): \(cost)")
    }
  }

  @Test("A line that changes from whole epochs to pieces, and back, is read in the way of its epochs")
  func wholeAndPieces() {
    var line = Self.lines[1].line
    line.run((0..<20).map { _ in 0 })
    line.piece = 12
    line.run((20..<40).map { _ in 0 })
    #expect(line.wakeUps[30...].allSatisfy { $0 <= 3 }, "\(line.wakeUps)")
    #expect(line.delays[22...].allSatisfy { $0 == 0 }, "\(line.delays)")
    line.piece = 4000
    line.run((40..<60).map { _ in 0 })
    #expect(line.wakeUps[50...].allSatisfy { $0 <= 2 }, "\(line.wakeUps)")
    #expect(line.delays.suffix(10).allSatisfy { $0 <= 0 }, "\(line.delays)")
  }

  @Test("Epochs that come up to 10 ms early or late: few wake-ups, and one of a hundred is late", arguments: 0..<5)
  func uneven(_ index: Int) {
    let (name, line) = Self.lines[index]
    let cost = run(.uneven, on: line)
    #expect(cost.wakeUps <= 3.8, "\(name): \(cost)")
    #expect(cost.lateShare <= 0.015, "\(name): \(cost)")
    #expect(cost.worstMilliseconds <= 10, "\(name): \(cost)")
  }

  @Test("One epoch of ten comes up to 60 ms late")
  func outliers() {
    let cost = run(.outliers, on: Line())
    #expect(cost.wakeUps <= 2.8, "\(cost)")
    #expect(cost.lateShare <= 0.01, "\(cost)")
  }

  @Test(
    "Satellites in every fifth epoch alone: the others are not waited with, and the fifth is not listened to",
    arguments: [0, 1, 2, 3])
  func everyFifth(_ index: Int) {
    let (name, line) = Self.lines[index]
    let cost = run(.everyFifth, on: line)
    #expect(cost.wakeUps <= 4, "\(name): \(cost)")
    #expect(cost.worstMilliseconds <= 0.2, "\(name): \(cost)")
  }

  @Test("Bytes of something else between the epochs do not move their ends", arguments: 0..<5)
  func strays(_ index: Int) {
    let (name, line) = Self.lines[index]
    let cost = run(.strays, on: line)
    #expect(cost.wakeUps <= 2.05, "\(name): \(cost)")
    #expect(cost.worstMilliseconds <= 0.2, "\(name): \(cost)")
  }

  /// Kinds of epochs, and their words in docs/reference/line.md.
  private enum Habit: String, CaseIterable {
    case steady = "a clock's tick, within 0.3 ms"
    case uneven = "up to 10 ms early or late"
    case outliers = "one of ten up to 60 ms late"
    case everyFifth = "satellites in every fifth alone"
    case strays = "other messages between them"
  }

  private func run(_ habit: Habit, on line: Line) -> Cost {
    var line = line
    switch habit {
    case .steady: line.run(scattered(0.3))
    case .uneven: line.run(scattered(10))
    case .outliers:
      var noise = SeededRandomNumberGenerator(seed: 42)
      line.run((0..<1000).map { _ in noise.sway() > 0.8 ? 30 * (noise.sway() + 1) : 0.2 * noise.sway() })
    case .everyFifth: line.run(scattered(0.3), bytes: { $0 % 5 == 0 ? 382 : 100 })
    case .strays:
      let strays = scattered(120).map { Int(max(0, $0)) }
      line.run(scattered(0.3), stray: { strays[$0] })
    }
    return cost(line)
  }

  @Test("docs/reference/line.md is what is seen")
  func page() throws {
    let rows = Habit.allCases.map { habit in
      [habit.rawValue]
        + Self.lines.map { line in
          let cost = run(habit, on: line.line)
          return "\(tenths(cost.wakeUps)) / \(tenths(cost.lateShare * 100)) %"
        }
    }
    try Page("docs/reference/line.md").check(
      section: "rests", is: Page.table(["epochs"] + Self.lines.map(\.name), rows))
  }

  private func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  @Test("Each epoch of any kind is delivered before the next but one, with fewer wake-ups than pieces")
  func anything() {
    var noise = SeededRandomNumberGenerator(seed: 42)
    for (name, line) in Self.lines {
      for _ in 0..<40 {
        var line = line
        let (scatter, spread) = (20 * (noise.sway() + 1), 150 * (noise.sway() + 1))
        let lateness = (0..<200).map { _ in scatter * noise.sway() }
        let lengths = (0..<200).map { _ in 50 + Int(spread * (noise.sway() + 1)) }
        line.run(lateness, bytes: { lengths[$0] })
        #expect(line.delays.count >= 199, "\(name)")
        #expect(cost(line).worstMilliseconds <= line.period, "\(name), \(scatter), \(spread)")
        let pieces = lengths.reduce(0) { $0 + ($1 + line.piece - 1) / line.piece }
        #expect(line.wakeUps.reduce(0, +) <= pieces + 2 * 200, "\(name), \(scatter), \(spread)")
      }
    }
  }
}

extension SeededRandomNumberGenerator {
  /// Uniform in −1..<1.
  fileprivate mutating func sway() -> Double { .random(in: -1..<1, using: &self) }
}
