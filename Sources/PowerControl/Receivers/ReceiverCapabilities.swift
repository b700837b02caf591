/// What a receiver can do to save power: known before it is tried.
public struct ReceiverCapabilities: Hashable, Sendable {
  /// For people.
  public var name: String
  /// Draws with all constellations that it is used with.
  public var currents: Currents
  /// Draws with the smaller set of constellations, where there is a choice.
  public var reducedCurrents: Currents?
  /// Milliamperes in backup by request (software standby).
  public var standbyMilliamperes: Double
  public var startTimes: StartTimes
  /// For how long after its orbits were received a start is a hot one for certain. GPS's and Galileo's hold for 4 h; but with
  /// GPS alone, or with GLONASS whose orbits hold for half an hour, fewer than four of the satellites that were there then may
  /// be left before that.
  public var sureOrbitsSeconds: Double
  /// Cyclic tracking: the longest period in seconds that it takes; nil without it.
  public var cyclicLongestSeconds: Double?
  /// The receiver's own on/off operation: the shortest period in seconds; nil without it.
  public var onOffShortestSeconds: Double?
  public var backup: Backup?
  public var batching: Batching?
  /// It writes positions to its own flash on request.
  public var flashLog: Bool
  /// A switch in its supply that the host holds.
  public var powerSwitch: PowerSwitch

  public init(
    name: String, currents: Currents, reducedCurrents: Currents? = nil, standbyMilliamperes: Double = 0,
    startTimes: StartTimes, sureOrbitsSeconds: Double = 4 * 3600, cyclicLongestSeconds: Double? = nil,
    onOffShortestSeconds: Double? = nil,
    backup: Backup? = nil, batching: Batching? = nil, flashLog: Bool = false, powerSwitch: PowerSwitch = .none
  ) {
    self.name = name
    self.currents = currents
    self.reducedCurrents = reducedCurrents
    self.standbyMilliamperes = standbyMilliamperes
    self.startTimes = startTimes
    self.sureOrbitsSeconds = sureOrbitsSeconds
    self.cyclicLongestSeconds = cyclicLongestSeconds
    self.onOffShortestSeconds = onOffShortestSeconds
    self.backup = backup
    self.batching = batching
    self.flashLog = flashLog
    self.powerSwitch = powerSwitch
  }

  /// Backup by request.
  public struct Backup: Hashable, Sendable {
    /// The longest duration that can be asked for, in seconds: 12 days on all receivers that have it.
    public var longestSeconds: Double
    /// A byte on its line wakes it (UART); false on I2C, where only time or a pin does.
    public var wakesByLine: Bool

    public init(longestSeconds: Double = 12 * 86_400, wakesByLine: Bool = true) {
      self.longestSeconds = longestSeconds
      self.wakesByLine = wakesByLine
    }
  }

  /// Batching in the receiver: how many epochs it holds.
  public struct Batching: Hashable, Sendable {
    /// Position, time, horizontal accuracy, speed.
    public var plainEpochs: Int
    /// With heights over sea level and all accuracies besides.
    public var extendedEpochs: Int

    public init(plainEpochs: Int, extendedEpochs: Int) {
      self.plainEpochs = plainEpochs
      self.extendedEpochs = extendedEpochs
    }
  }

  public enum PowerSwitch: Hashable, Sendable {
    case none
    /// All that the receiver knows is gone: the next start is cold.
    case losesMemory
    /// A backup supply keeps time and orbits.
    case keepsMemory
  }
}
