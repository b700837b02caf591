/// What a receiver draws at 3.0 V, in milliamperes, typical values of a data sheet.
public struct Currents: Hashable, Sendable {
  /// While it searches, or decodes orbits for its first fix.
  public var acquisition: Double
  /// While it follows what it has found.
  public var tracking: Double
  /// In cyclic tracking at one fix a second; nil where the receiver or this set of constellations cannot.
  public var cyclic: Double?
  /// What the module's input/output supply adds while the receiver runs, where the data sheet counts it apart.
  public var inputOutput: Double

  public init(acquisition: Double, tracking: Double, cyclic: Double? = nil, inputOutput: Double = 0) {
    self.acquisition = acquisition
    self.tracking = tracking
    self.cyclic = cyclic
    self.inputOutput = inputOutput
  }

  /// The main supply alone, as the data sheets' tables print it.
  public var mainSupplyOnly: Currents {
    Currents(acquisition: acquisition, tracking: tracking, cyclic: cyclic)
  }
}

/// How long a start takes under an open sky, in seconds, by the data sheet.
public struct StartTimes: Hashable, Sendable {
  /// Orbits have to be received first.
  public var coldSeconds: Double
  /// Time, place and orbits are known.
  public var hotSeconds: Double

  public init(coldSeconds: Double, hotSeconds: Double) {
    self.coldSeconds = coldSeconds
    self.hotSeconds = hotSeconds
  }
}
