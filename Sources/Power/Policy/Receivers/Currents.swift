// SPDX-License-Identifier: Apache-2.0

/// The current of a receiver at 3.0 V, in milliamperes: typical values of a data sheet.
public struct Currents: Hashable, Sendable {
  /// While searching, and while decoding orbits for the first fix.
  public var acquisition: Double
  /// While tracking satellites.
  public var tracking: Double
  /// In cyclic tracking at one fix a second; nil where the receiver or this set of constellations does not support it.
  public var cyclic: Double?
  /// The additional current of the module's input/output supply while the receiver runs, where the data sheet lists it
  /// separately.
  public var inputOutput: Double

  public init(acquisition: Double, tracking: Double, cyclic: Double? = nil, inputOutput: Double = 0) {
    self.acquisition = acquisition
    self.tracking = tracking
    self.cyclic = cyclic
    self.inputOutput = inputOutput
  }

  /// The main supply only, as the data sheets' tables print it.
  public var mainSupplyOnly: Currents {
    Currents(acquisition: acquisition, tracking: tracking, cyclic: cyclic)
  }
}

/// The duration of a start under an open sky, in seconds, by the data sheet.
public struct StartTimes: Hashable, Sendable {
  /// Orbits have to be received first.
  public var coldSeconds: Double
  /// Time, position and orbits are available.
  public var hotSeconds: Double

  public init(coldSeconds: Double, hotSeconds: Double) {
    self.coldSeconds = coldSeconds
    self.hotSeconds = hotSeconds
  }
}
