// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import SerialPort

/// The options of the commands that open a receiver.
struct ReceiverOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      """
      The device of the receiver: a tty, pseudo-terminal or FIFO, i2c:BUS[@ADDRESS], tcp://HOST:PORT, \
      udp://[HOST]:PORT, gpsd://HOST[:PORT][/DEVICE], replay:FILE[@SPEED], sim:SCENARIO, or - for the bytes on standard input. Default: GNSS_DEVICE, else the receiver of the location service, \
      else the configuration file, else the first receiver that is found.
      """),
    completion: .custom { _, _, _ in DeviceCompletion.words })
  var device: String?

  @Option(name: .shortAndLong, help: "The baud rate of the line. No other rate is tried. Default: search for the rate.")
  var baud: UInt32?

  @Flag(help: "Use the built-in simulator if there is no receiver.")
  var demo = false

  func validate() throws {
    if baud == 0 { throw ValidationError("--baud must be a rate such as 9600; omit it to search for the rate.") }
  }

  /// The receiver of the command line without an option, as in `watch /dev/ttyACM0`.
  ///
  /// - Throws: a mistake in the command line if --device names one too.
  mutating func use(place: String?) throws {
    guard let place else { return }
    if device != nil { throw ValidationError("\(place): --device names the receiver already; omit one of both.") }
    device = place
  }

  /// Chooses the source of a command, with the rate of these options before the rate of the configuration file.
  /// Without a receiver the command fails.
  func choose(for use: Source.Use) throws -> Source.Choice {
    var choice =
      try ServiceReceiver.chosen(named: device, isDemo: demo, for: use)
      ?? Source.chosen(named: device, isDemo: demo, for: use)
    try bind(&choice)
    return choice
  }

  /// Applies the rate of these options. A source of the network has none.
  private func bind(_ choice: inout Source.Choice) throws {
    if let baud, case .device(let name) = choice.source, try LineAddress(name).networkSource != nil {
      throw CommandFailure(
        .usage, "\(name): has no baud rate, so --baud \(baud) cannot be set; set the rate at the server")
    }
    choice.baud = baud ?? choice.baud
  }

  /// Chooses the source of a command that waits for a receiver.
  ///
  /// - Parameters:
  ///   - seconds: the time limit; the time of the wait is subtracted from it. nil for no limit.
  ///   - sends: whether the command sends more than a configuration, so that it needs the line of a location service.
  func chooseOrWait(seconds: inout Double?, sends: Bool) throws -> Source.Choice {
    // The service waits for its receiver.
    if let choice = try ServiceReceiver.chosen(named: device, isDemo: demo, for: sends ? .sending : .listening) {
      return choice
    }
    var rest = seconds
    var choice = try Source.chosen(named: device, isDemo: demo, for: .listening) { choose in
      let wait = try ReceiverWait.run(seconds: rest, choose)
      rest = wait.secondsLeft
      return wait.choice
    }
    seconds = rest
    try bind(&choice)
    return choice
  }

  /// Chooses the source of a command that has waited for its receiver and opens it again. Without a receiver the choice fails.
  ///
  /// - Parameter sends: as of ``chooseOrWait(seconds:sends:)``.
  func chooseAgain(sends: Bool) throws -> Source.Choice {
    if let choice = try ServiceReceiver.chosen(named: device, isDemo: demo, for: sends ? .sending : .listening) {
      return choice
    }
    var choice = try Source.chosen(named: device, isDemo: demo, for: .listening)
    try bind(&choice)
    return choice
  }

  /// Checks a value of `--seconds`.
  static func check(seconds: Double?, below limit: Double = 1e9) throws {
    if let seconds, !(seconds > 0 && seconds < limit) { throw ValidationError("--seconds must be a time above 0.") }
  }
}

extension Source {
  /// The name of the source in messages.
  var name: String {
    if isStandardInput { return "standard input" }
    return if case .device(let path) = self { path } else { "built-in simulator" }
  }
}

/// The present ports by device events, for a command that waits for a receiver.
struct PresentPorts {
  private var ports: [String: ReceiverPort] = [:]

  /// Takes the next events. Returns the present ports, best first, if one was added or has changed.
  mutating func receive(_ events: [DeviceEvent]) -> [ReceiverPort]? {
    for event in events { ports[event.port.node] = event.change == .removed ? nil : event.port }
    return events.contains { $0.change != .removed } ? ReceiverPorts.sortedByLikelihood(Array(ports.values)) : nil
  }
}

/// The wait of a command for the first receiver that is plugged in.
struct ReceiverWait {
  var choice: Source.Choice
  /// The rest of the time limit; nil for no limit.
  var secondsLeft: Double?

  /// Waits until a receiver is plugged in.
  ///
  /// - Parameters:
  ///   - seconds: the time limit; nil for no limit.
  ///   - choose: chooses among the ports of the machine; nil without a receiver.
  /// - Throws: ``CommandFailure`` with exit code 69 after the time limit or a signal.
  static func run(seconds: Double?, _ choose: ([ReceiverPort]) throws -> Source.Choice?) throws -> ReceiverWait {
    printNotice("no receiver found; waiting for one (plug it in, name it with --device or GNSS_DEVICE, or try --demo)")
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let list = try installedList()
    var monitor = DeviceMonitor(list: list)
    if let descriptor = monitor.fileDescriptor { try poller.add(descriptor, token: Poller.Token(rawValue: 1)) }
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    var ports = PresentPorts()
    while true {
      let now = SystemClock.monotonic
      if let present = ports.receive(monitor.drain(at: now)), let choice = try choose(present) {
        var wait = ReceiverWait(choice: choice, secondsLeft: nil)
        if let end { wait.secondsLeft = max(0.001, end.seconds(since: now)) }
        return wait
      }
      if let end, now >= end { throw failure("no receiver was plugged in") }
      let events = try poller.wait(deadline: Instant.earlier(monitor.deadline, end)?.nanoseconds)
      for event in events {
        if case .signal = event { throw failure("interrupted before one was plugged in") }
      }
    }
  }

  private static func failure(_ reason: String) -> CommandFailure {
    CommandFailure(.unavailable, "no receiver found: \(reason)")
  }
}
