import MonotonicTime
import ReceiverShell
import SerialPort
import SupplySwitch

/// `sextant power off` and `on`: the switch in a receiver's supply, with the times.
struct PowerSupply {
  private let address: SupplySwitchAddress
  private let log: String?

  /// - Parameters:
  ///   - name: the switch as the command line names it; nil for that of SEXTANT_SUPPLY, else of the configuration file.
  ///   - log: the file that the states are appended to.
  init(named name: String?, log: String?) throws {
    let named = try name ?? environment("SEXTANT_SUPPLY") ?? Source.installedConfiguration().supply
    guard let name = named, !name.isEmpty else {
      throw CommandFailure(
        exitCode: CommandFailure.usage,
        description: "which switch? name it with --supply, SEXTANT_SUPPLY or `supply` of the configuration file, "
          + "such as gpio:gpiochip0/17")
    }
    do throws(SupplySwitchError) { address = try SupplySwitchAddress(name) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
    self.log = log
  }

  func carryOut(_ request: PowerRequest) throws {
    // The log first: a receiver is not switched off for a file that cannot be written.
    let started = Instant(nanoseconds: MonotonicClock.now())
    if let log { _ = try GrowingFile(log) }
    let states = try switchAndWait(request, started)
    for state in states {
      try Output.write(state)
      if let log { try GrowingFile(log).append(state) }
    }
  }

  private func switchAndWait(_ request: PowerRequest, _ started: Instant) throws -> [String] {
    var states: [String] = []
    func note(_ state: String) {
      let now = Instant(nanoseconds: MonotonicClock.now())
      states.append(PowerClient.line(state, secondsSinceStart: now.seconds(since: started)))
    }
    var poller = try Poller(catching: [.interrupt, .terminate])
    do {
      let held = try SupplySwitch(address)
      if case .off(let seconds) = request {
        try held.set(isOn: false)
        note("off" + (seconds.map { " for \(Int($0.rounded())) s" } ?? " until it is switched on"))
        let end = seconds.map { Instant(nanoseconds: MonotonicClock.now()) + Milliseconds(seconds: $0) }
        while true {
          let events = try poller.wait(deadline: end?.nanoseconds)
          let isSignalled = events.contains { if case .signal = $0 { true } else { false } }
          if isSignalled || end.map({ $0.nanoseconds <= MonotonicClock.now() }) ?? false { break }
        }
        try held.set(isOn: true)
      }
      note("on")
    } catch let error as SupplySwitchError {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
    return states
  }
}
