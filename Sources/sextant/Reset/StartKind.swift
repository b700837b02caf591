// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import MonotonicTime
import Receiver

/// The data that a receiver has at its next start (interface descriptions, CFG-RST).
enum StartKind: String, ExpressibleByArgument, CaseIterable {
  case hot, warm, cold

  /// The restart of a receiver of another maker.
  var action: ReceiverAction {
    switch self {
    case .hot: .hotRestart
    case .warm: .warmRestart
    case .cold: .coldRestart
    }
  }

  /// The sections of battery-backed memory to clear: none, the ephemerides, or all: also almanac, position, time, clock
  /// and AssistNow Autonomous orbits, and with them all received assistance (AID, MGA).
  var navBbrMask: UInt16 {
    switch self {
    case .hot: 0
    case .warm: 0x0001
    case .cold: 0xFFFF
    }
  }
}

/// The part of a receiver that is reset: CFG-RST's resetMode.
enum ResetMode: String, ExpressibleByArgument, CaseIterable {
  /// The satellite receiver alone: port, configuration and counters remain.
  case gnss
  /// All of the firmware: the configuration in RAM is lost.
  case software
  /// The hardware, at once, by the watchdog.
  case hardware
  /// The hardware, after an orderly shutdown.
  case shutdown

  var code: UInt8 {
    switch self {
    case .hardware: 0
    case .software: 1
    case .gnss: 2
    case .shutdown: 4
    }
  }

  /// The time before the receiver is polled.
  private var pause: Milliseconds { Milliseconds(self == .gnss ? 300 : 1000) }

  /// CFG-RST, which current firmware does not acknowledge.
  func command(_ kind: StartKind) -> Command {
    let mask = kind.navBbrMask
    var command = Command(
      .cfgRST, [UInt8(truncatingIfNeeded: mask), UInt8(truncatingIfNeeded: mask >> 8), code, 0], answer: .none)
    command.pause = pause
    return command
  }
}
