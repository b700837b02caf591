// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime

/// The switch in a receiver's supply, open from the first use to the end of the program.
final class SupplySwitchHandle {
  private let address: SupplySwitchAddress
  private var open: Open?
  private struct Open: ~Copyable { var supply: SupplySwitch }

  init(_ address: SupplySwitchAddress) { self.address = address }

  /// Opens the switch, which turns the supply on. Returns a message if it fails.
  func take() -> String? {
    guard open == nil else { return nil }
    do throws(SupplySwitchError) {
      open = Open(supply: try SupplySwitch(address))
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Turns the supply on or off. Returns a message if it fails.
  func set(isOn: Bool) -> String? {
    guard open != nil else { return nil }
    do throws(SupplySwitchError) {
      try open!.supply.set(isOn: isOn)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
