import MonotonicTime
import Receiver
import UBX

/// Has a receiver keep the configuration that it uses: the only thing that writes flash.
///
///     save to all memories ── refused ─▶ save to the battery-backed one ── refused ─▶ over
public struct ConfigurationSaving: ReceiverScript {
  /// Where the configuration is kept.
  public enum Result: Sendable, Equatable {
    /// In flash, or another memory that needs no power.
    case permanent
    /// In memory that a battery keeps: without one it is gone with the power.
    case batteryBacked
    case refused
    case silent
  }

  private enum Step: Sendable { case everywhere, batteryBacked, over }

  private var step: Step
  public private(set) var result = Result.silent

  public init(of receiver: ReceiverDescription) {
    // A receiver without flash acknowledges what it has nowhere to put.
    step = receiver.hasFlash ? .everywhere : .batteryBacked
  }

  public var progress: (done: Int, of: Int) { (step == .over ? 1 : 0, 1) }

  public func next() -> Command? {
    switch step {
    case .everywhere: CFGCFG.command(save: CFGCFG.allSections, devices: CFGCFG.allDevices)
    case .batteryBacked: CFGCFG.command(save: CFGCFG.allSections, devices: CFGCFG.batteryBacked)
    case .over: nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
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

/// Takes a receiver back to what its firmware has: what is stored is deleted and the defaults are loaded. Its port may
/// then have another rate, at which the acknowledgement is lost; that it answers again is what counts.
public struct FactoryReset: ReceiverScript {
  public enum Result: Sendable, Equatable { case done, refused, silent }

  private enum Step: Sendable { case clearing, asking(left: Int), over }

  private var step = Step.clearing
  public private(set) var result = Result.silent

  public init() {}

  public var progress: (done: Int, of: Int) {
    switch step {
    case .clearing: (0, 2)
    case .asking: (1, 2)
    case .over: (2, 2)
    }
  }

  public func next() -> Command? {
    switch step {
    case .clearing:
      var command = CFGCFG.command(
        clear: CFGCFG.allSections, load: CFGCFG.allSections, devices: CFGCFG.allDevices)
      // Said twice it would be harmless, but not heard at another rate.
      command.attempts = 2
      command.pause = Milliseconds(500)
      return command
    case .asking: return .poll(.monVER)
    case .over: return nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.clearing, .refused):
      result = .refused
      step = .over
    case (.clearing, _): step = .asking(left: 8)
    case (.asking, .answered):
      result = .done
      step = .over
    case (.asking(let left), _): step = left > 1 ? .asking(left: left - 1) : .over
    case (.over, _): break
    }
  }
}

/// CFG-CFG: clears, saves and loads configurations (interface descriptions, CFG-CFG).
private enum CFGCFG {
  /// ioPort, msgConf, infMsg, navConf, rxmConf, senConf, rinvConf, antConf, logConf, ftsConf; from protocol version 24 on
  /// any of them means everything.
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
    var command = Command(.cfgCFG, payload, answer: .acknowledgement)
    // Flash is erased before it is written.
    command.patience = Milliseconds(1500)
    return command
  }
}

extension ReceiverDescription {
  /// Whether there is flash for a configuration: MON-VER names the chip, or the firmware runs from it, or the generation
  /// does not come without (data sheets of NEO-M9N and ZED-F9P).
  var hasFlash: Bool {
    strings.contains { $0.hasPrefix("FIS=") || $0.hasPrefix("EXT") } || [.m9, .f9].contains(generation)
  }
}
