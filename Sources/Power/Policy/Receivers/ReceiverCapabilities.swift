// SPDX-License-Identifier: Apache-2.0

/// The power-saving functions of a receiver, before they are tried.
public struct ReceiverCapabilities: Hashable, Sendable {
  /// The name for users.
  public var name: String
  /// The current with all constellations in use.
  public var currents: Currents
  /// The current with the smaller set of constellations, where there is a choice.
  public var reducedCurrents: Currents?
  /// The current in backup by request (software standby), in milliamperes.
  public var standbyMilliamperes: Double
  public var startTimes: StartTimes
  /// Seconds after the reception of orbits for which a start is certainly a hot one. Orbits of GPS and Galileo hold for
  /// 4 h. With GPS alone, or with GLONASS whose orbits hold for half an hour, fewer than four of the satellites of that
  /// time may be above the horizon before that.
  public var sureOrbitsSeconds: Double
  /// The longest period of cyclic tracking in seconds; nil without it.
  public var cyclicLongestSeconds: Double?
  /// The shortest period of the receiver's own on/off operation in seconds; nil without it.
  public var onOffShortestSeconds: Double?
  public var backup: Backup?
  public var batching: Batching?
  /// Whether the receiver can write positions to its own flash.
  public var flashLog: Bool
  /// A switch in the supply that the host operates.
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
    /// The longest duration of a request, in seconds: 12 days on all receivers that support it.
    public var longestSeconds: Double
    /// A byte on its line wakes it (UART); false on I2C, where only time or a pin does.
    public var wakesByLine: Bool
    /// The shortest sleep that only time ends, in seconds: the session lengthens a shorter request to it. 0 where the line wakes it.
    public var shortestSeconds: Double

    public init(longestSeconds: Double = 12 * 86_400, wakesByLine: Bool = true, shortestSeconds: Double = 0) {
      self.longestSeconds = longestSeconds
      self.wakesByLine = wakesByLine
      self.shortestSeconds = shortestSeconds
    }
  }

  /// The capacity of batching in the receiver, in epochs.
  public struct Batching: Hashable, Sendable {
    /// Position, time, horizontal accuracy, speed.
    public var plainEpochs: Int
    /// With heights above sea level and all accuracies.
    public var extendedEpochs: Int
    /// Whether a read ends the batch: the receiver does not store fixes meanwhile, and sends them.
    public var endsWithRead: Bool
    /// Whether the memory keeps its fixes over a restart of the receiver.
    public var outlivesRestart: Bool

    public init(plainEpochs: Int, extendedEpochs: Int, endsWithRead: Bool = false, outlivesRestart: Bool = false) {
      self.plainEpochs = plainEpochs
      self.extendedEpochs = extendedEpochs
      self.endsWithRead = endsWithRead
      self.outlivesRestart = outlivesRestart
    }
  }

  public enum PowerSwitch: Hashable, Sendable {
    case none
    /// The receiver's memory is lost: the next start is cold.
    case losesMemory
    /// A backup supply keeps time and orbits.
    case keepsMemory
  }
}
