import SupplySwitch

/// Holds the switch in a receiver's supply from the first use to the end of the program.
final class SupplySwitchHandle {
  private let address: SupplySwitchAddress
  private var held: Held?
  private struct Held: ~Copyable { var supply: SupplySwitch }

  init(_ address: SupplySwitchAddress) { self.address = address }

  /// Takes the switch, which switches on; what is wrong with it, if anything.
  func take() -> String? {
    guard held == nil else { return nil }
    do throws(SupplySwitchError) {
      held = Held(supply: try SupplySwitch(address))
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Switches; what is wrong with it, if anything.
  func set(isOn: Bool) -> String? {
    guard held != nil else { return nil }
    do throws(SupplySwitchError) {
      try held!.supply.set(isOn: isOn)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
