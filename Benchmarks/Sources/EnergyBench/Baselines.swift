// SPDX-License-Identifier: Apache-2.0
import Power

/// The charge of the same day without the policy.
enum Baselines {
  /// Full power all day: the receiver searches without a sky too.
  static func alwaysOn(_ day: Day, _ currents: Currents, _ startTimes: StartTimes) -> Double {
    integrate(day) { sky in
      sky == .none ? currents.acquisition + currents.inputOutput : currents.tracking + currents.inputOutput
    } + (currents.acquisition - currents.tracking) * startTimes.coldSeconds
  }

  /// The receiver's own power save mode with its defaults: cyclic tracking at one fix a second. Without a sky it
  /// searches for 15 s and sleeps for 10 s. Nil for a receiver without the mode.
  static func ownPowerSave(_ day: Day, _ capabilities: ReceiverCapabilities) -> Double? {
    let currents = capabilities.currents
    guard let cyclic = currents.cyclic else { return nil }
    let searching = ((currents.acquisition + currents.inputOutput) * 15 + capabilities.standbyMilliamperes * 10) / 25
    let running = cyclic + currents.inputOutput * 0.9
    let tracking = currents.tracking + currents.inputOutput
    return integrate(day) { sky in sky == .none ? searching : running + (tracking - running) * 30 / 1800 }
      + (currents.acquisition + currents.inputOutput - running) * capabilities.startTimes.coldSeconds
  }

  private static func integrate(_ day: Day, _ milliamperes: (Day.SkyView) -> Double) -> Double {
    var charge = 0.0
    var from = 0.0
    var sky = Day.SkyView.open
    for change in day.sky {
      charge += milliamperes(sky) * (change.fromSeconds - from)
      (from, sky) = (change.fromSeconds, change.sky)
    }
    return charge + milliamperes(sky) * (day.seconds - from)
  }
}
