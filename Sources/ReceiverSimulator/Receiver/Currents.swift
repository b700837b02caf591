// SPDX-License-Identifier: Apache-2.0

/// The typical current from a module's main supply at 3.0 V, milliamperes.
///
/// Each table is from the data sheet of the module in its name. A model without a row for the enabled systems uses
/// the row with the fewest systems that contains all of them, or the last row.
struct Currents: Sendable {
  struct Row: Sendable {
    var systems: SatelliteSystems
    var acquisition: Double
    var tracking: Double
    /// Power save mode at one fix a second.
    var cyclic: Double
  }

  var rows: [Row]
  /// Current from the backup pin without a main supply.
  var hardwareBackup: Double
  /// Software standby, and the off phase of power save mode.
  var standby: Double
  /// The additional current of the pins' supply (V_IO) while the receiver runs. The figures above exclude it.
  var pinSupply = 0.0
  /// The processor with the search switched off; half of the tracking current without a figure.
  var stopped: Double?

  func row(for systems: SatelliteSystems) -> Row {
    var best: Row?
    for row in rows where row.systems.isSuperset(of: systems) {
      if row.systems.rawValue.nonzeroBitCount < best?.systems.rawValue.nonzeroBitCount ?? Int.max { best = row }
    }
    return best ?? rows[rows.count - 1]
  }

  // NEO-6M, GPS. The data sheet has no standby figure; this is the current of the backup pin.
  static let neo6 = Currents(
    rows: [Row(systems: .gps, acquisition: 47, tracking: 39, cyclic: 11)], hardwareBackup: 0.022, standby: 0.022)

  // SAM-M8Q; backup from the data sheet of NEO-M8U; standby 20 to 30 µA.
  static let samM8Q = Currents(
    rows: [
      Row(systems: .gps, acquisition: 25, tracking: 23, cyclic: 9.5),
      Row(systems: [.gps, .glonass], acquisition: 32, tracking: 29, cyclic: 9.5),
    ], hardwareBackup: 0.015, standby: 0.025)

  static let neoM9N = Currents(
    rows: [
      Row(systems: .gps, acquisition: 36, tracking: 28, cyclic: 19),
      Row(systems: [.gps, .glonass], acquisition: 43, tracking: 32, cyclic: 20),
      Row(systems: .all, acquisition: 50, tracking: 36, cyclic: 21),
    ], hardwareBackup: 0.045, standby: 0.36)

  // Without power save mode the receiver draws the tracking current.
  static let samM10Q = Currents(
    rows: [
      Row(systems: .gps, acquisition: 8, tracking: 7.5, cyclic: 4.5),
      Row(systems: [.gps, .galileo], acquisition: 10, tracking: 8, cyclic: 5),
      Row(systems: [.gps, .galileo, .glonass], acquisition: 12, tracking: 9, cyclic: 5),
      Row(systems: [.gps, .galileo, .beiDou], acquisition: 11, tracking: 8.5, cyclic: 8.5),
      Row(systems: .all, acquisition: 13, tracking: 10, cyclic: 10),
    ], hardwareBackup: 0.032, standby: 0.046, pinSupply: 2.15)

  static let zedF9P = Currents(
    rows: [
      Row(systems: .gps, acquisition: 75, tracking: 68, cyclic: 68),
      Row(systems: .all, acquisition: 90, tracking: 85, cyclic: 85),
    ], hardwareBackup: 0.045, standby: 1.4)

  static let neoF10N = Currents(
    rows: [
      Row(systems: .gps, acquisition: 22, tracking: 19, cyclic: 19),
      Row(systems: [.gps, .galileo, .beiDou], acquisition: 26, tracking: 21, cyclic: 21),
    ], hardwareBackup: 0.031, standby: 0.049)

  static let zedX20P = Currents(
    rows: [
      Row(systems: [.gps, .galileo], acquisition: 55, tracking: 55, cyclic: 55),
      Row(systems: .all, acquisition: 68, tracking: 64, cyclic: 64),
    ], hardwareBackup: 0.032, standby: 0.093)
}
