// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import ReceiverRuntime
import SerialPort
import WireBytes

/// `sextant power off` and `on`: the switch of a receiver's supply.
struct PowerSupply {
  private let address: SupplySwitchAddress
  private let log: String?

  /// - Parameters:
  ///   - name: the switch; nil for that of SEXTANT_SUPPLY, else of the configuration file.
  ///   - log: the file that the states are appended to; nil for none.
  init(named name: String?, log: String?) throws {
    let named = try name ?? environment("SEXTANT_SUPPLY") ?? Source.installedConfiguration().supply
    guard let name = named, !name.isEmpty else {
      throw CommandFailure(
        .usage,
        "no supply switch is set; name it with --supply, SEXTANT_SUPPLY or `supply` in the configuration file, such as "
          + "gpio:gpiochip0/17")
    }
    do throws(SupplySwitchError) { address = try SupplySwitchAddress(name) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
    self.log = log
  }

  func perform(_ request: PowerRequest) throws {
    let started = SystemClock.monotonic
    // Operations that can fail precede the switch.
    let log: AppendOnlyFile?
    if let path = self.log { log = try AppendOnlyFile(path) } else { log = nil }
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let supply = try openSwitch()
    if case .off(let seconds) = request {
      try set(supply, isOn: false)
      do {
        let state = seconds.map { "off for \(Int(clamping: $0.rounded())) s" } ?? "off until it is switched on"
        try write(state, since: started, to: log)
        try wait(seconds, &poller)
      } catch {
        // The supply is switched on after every error.
        try set(supply, isOn: true)
        throw error
      }
      try set(supply, isOn: true)
    }
    try write("on", since: started, to: log)
  }

  private func wait(_ seconds: Double?, _ poller: inout Poller) throws {
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    while end.map({ $0.nanoseconds > SystemClock.monotonic.nanoseconds }) ?? true {
      let events = try poller.wait(deadline: end?.nanoseconds)
      if events.contains(where: { if case .signal = $0 { true } else { false } }) { return }
    }
  }

  private func write(_ state: String, since started: Instant, to log: borrowing AppendOnlyFile?) throws {
    let now = SystemClock.monotonic
    let line = PowerClient.line(state, secondsSinceStart: now.seconds(since: started))
    try Output.write(line)
    try log?.append(line)
  }

  private func openSwitch() throws -> SupplySwitch {
    do throws(SupplySwitchError) { return try SupplySwitch(address) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
  }

  private func set(_ supply: borrowing SupplySwitch, isOn: Bool) throws {
    do throws(SupplySwitchError) { try supply.set(isOn: isOn) } catch {
      throw CommandFailure(exitCode: error.exitCode, description: error.description)
    }
  }
}
