// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// Stores the current configuration of a receiver. No other script writes flash.
///
///     save to all memories ── refused ─▶ save to battery-backed memory ── refused ─▶ over
package struct ConfigurationSaving: ReceiverScript {
  /// The memory that has the configuration.
  package enum Result: Sendable, Equatable {
    /// Flash, or another memory that needs no power.
    case permanent
    /// Battery-backed memory: without a battery the configuration is lost with the power.
    case batteryBacked
    case refused
    case silent
  }

  private enum Step: Sendable { case everywhere, batteryBacked, over }

  private var step: Step
  package private(set) var result = Result.silent

  package init(of receiver: ReceiverDescription) {
    // A receiver without flash acknowledges the request to save to flash.
    step = receiver.hasFlash ? .everywhere : .batteryBacked
  }

  package var progress: (done: Int, of: Int) { (step == .over ? 1 : 0, 1) }

  package func next() -> Command? {
    switch step {
    case .everywhere: CFGCFG.command(save: CFGCFG.allSections, devices: CFGCFG.allDevices)
    case .batteryBacked: CFGCFG.command(save: CFGCFG.allSections, devices: CFGCFG.batteryBacked)
    case .over: nil
    }
  }

  package mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.everywhere, .acknowledged): result = .permanent
    case (.batteryBacked, .acknowledged): result = .batteryBacked
    case (.everywhere, .refused):
      step = .batteryBacked
      return
    case (_, .refused): result = .refused
    default: result = .silent
    }
    step = .over
  }
}

/// Deletes the stored configuration and loads the defaults of the firmware. The port may then have another rate, at
/// which the acknowledgement is lost. Success is therefore a reply to MON-VER.
package struct FactoryReset: ReceiverScript {
  package enum Result: Sendable, Equatable { case done, refused, silent }

  private enum Step: Sendable { case clearing, polling(remaining: Int), over }

  private var step = Step.clearing
  package private(set) var result = Result.silent

  package init() {}

  package var progress: (done: Int, of: Int) {
    switch step {
    case .clearing: (0, 2)
    case .polling: (1, 2)
    case .over: (2, 2)
    }
  }

  package func next() -> Command? {
    switch step {
    case .clearing:
      // A repetition is harmless, but lost if the port has another rate by then.
      return CFGCFG.command(clear: CFGCFG.allSections, load: CFGCFG.allSections, devices: CFGCFG.allDevices)
        .with(attempts: 2, pause: Milliseconds(500))
    case .polling: return .poll(.monVER)
    case .over: return nil
    }
  }

  package mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.clearing, .refused):
      result = .refused
      step = .over
    case (.clearing, _): step = .polling(remaining: 8)
    case (.polling, .answered):
      result = .done
      step = .over
    case (.polling(let remaining), _): step = remaining > 1 ? .polling(remaining: remaining - 1) : .over
    case (.over, _): break
    }
  }
}

/// CFG-CFG: clears, saves and loads configurations (interface descriptions, CFG-CFG).
enum CFGCFG {
  /// ioPort, msgConf, infMsg, navConf, rxmConf, senConf, rinvConf, antConf, logConf, ftsConf. From protocol version 24
  /// on any of these bits selects the whole configuration.
  static let allSections: UInt32 = 0x1F1F
  static let batteryBacked: UInt8 = 1
  /// Battery-backed RAM, flash, EEPROM, SPI flash.
  static let allDevices: UInt8 = 0x17

  static func command(clear: UInt32 = 0, save: UInt32 = 0, load: UInt32 = 0, devices: UInt8) -> Command {
    var payload = [UInt8](repeating: 0, count: 13)
    payload.set(u4: clear, at: 0)
    payload.set(u4: save, at: 4)
    payload.set(u4: load, at: 8)
    payload[12] = devices
    // The receiver erases flash before it writes it.
    return Command(.cfgCFG, payload, answer: .acknowledgement).with(timeout: Milliseconds(1500))
  }
}

extension ReceiverDescription {
  /// Whether the receiver has flash for a configuration: MON-VER names the chip, the firmware runs from flash, or every
  /// receiver of the generation has flash (data sheets of NEO-M9N and ZED-F9P).
  var hasFlash: Bool {
    strings.contains { $0.hasPrefix("FIS=") || $0.hasPrefix("EXT") } || [.m9, .f9].contains(generation)
  }
}
