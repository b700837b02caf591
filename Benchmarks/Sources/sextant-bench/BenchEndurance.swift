// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CAllocationCount
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import SerialPort

/// `sextant bench endurance`: a session over a long time, with random faults, in virtual time.
struct BenchEndurance: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "endurance",
    abstract: "Run a session with a simulated receiver for a day with random faults, and measure its memory.",
    discussion: """
      Every ten minutes or so something happens to the receiver or its line: it is unplugged, loses its power, its \
      settings or its rate, its bytes are changed or lost, it freezes, floods, refuses. Each time the session has to \
      recover. All in one process and in virtual time. The exit code is 69 when a fix was wrong, a recovery was missed, or \
      the memory in use after the last hour is larger than after the first.
      """)

  @Option(help: "The receiver: \(ReceiverModel.allCases.map(\.rawValue).joined(separator: ", ")).")
  var model = ReceiverModel.m10

  @Option(help: "How long, in hours.")
  var hours = 24

  @Option(help: "Determines what is random.")
  var seed: UInt64 = 1

  /// The allowed difference in memory between two idle states: buffers reach their maximum at the end of the first
  /// hour or a little later.
  private static let heapSlack = 32 * 1024
  private static let residentSlack = 512 * 1024

  func validate() throws {
    if !(2...1000 ~= hours) { throw ValidationError("--hours is 2 to 1000.") }
  }

  func run() throws {
    let run = RandomDay(model, seed: seed)
    var readings: [MemoryReading] = []
    readings.reserveCapacity(hours)
    try Output.write("hour  faults   fixes  allocated kB  RssAnon kB\n")
    let start = SystemClock.monotonic.nanoseconds
    for hour in 1...hours {
      run.passHour()
      let reading = try MemoryReading.now()
      readings.append(reading)
      if hour == 1 || hour == hours || hour.isMultiple(of: 6) {
        try Output.write(
          "\(right(String(hour), 4))\(right(String(run.faults), 8))\(right(String(run.fixes), 8))\(right(String(reading.allocatedBytes / 1024), 14))"
            + "\(right(String(reading.residentBytes / 1024), 12))\n")
      }
    }
    let seconds = (SystemClock.monotonic.nanoseconds - start) / 1_000_000_000
    try Output.write(
      "\(run.faults) faults, \(run.fixes) fixes, \(run.wrongFixes) of them wrong, \(run.missedRecoveries) recoveries missed; "
        + "\(seconds) s\n")
    guard let first = readings.first, let last = readings.last else { return }
    var problems: [String] = []
    if run.wrongFixes > 0 { problems.append("\(run.wrongFixes) wrong fixes") }
    if run.missedRecoveries > 0 { problems.append("\(run.missedRecoveries) missed recoveries") }
    if last.allocatedBytes > first.allocatedBytes + Self.heapSlack {
      problems.append(
        "\(last.allocatedBytes - first.allocatedBytes) bytes more are allocated than after the first hour")
    }
    if last.residentBytes > first.residentBytes + Self.residentSlack {
      problems.append("\(last.residentBytes - first.residentBytes) bytes more are resident than after the first hour")
    }
    if !problems.isEmpty {
      throw BenchFailure(exitCode: BenchFailure.unavailable, description: problems.joined(separator: ", "))
    }
  }
}

extension ReceiverModel: @retroactive ExpressibleByArgument {}

/// The memory of this process.
struct MemoryReading {
  /// Allocated and not freed.
  var allocatedBytes: Int
  /// RssAnon of /proc/self/status, proc_pid_status(5).
  var residentBytes: Int

  static func now() throws -> MemoryReading {
    let status = String(decoding: try readAll("/proc/self/status"), as: UTF8.self)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    let kilobytes = line?.split(separator: " ").dropLast().last.flatMap { Int($0.filter(\.isNumber)) }
    return MemoryReading(allocatedBytes: Int(c_allocated_bytes()), residentBytes: (kilobytes ?? 0) * 1024)
  }
}
