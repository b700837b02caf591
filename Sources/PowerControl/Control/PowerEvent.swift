/// What the policy hears. Every event is legal in every state.
public enum PowerEvent: Hashable, Sendable {
  /// A client's demand is new or has changed; nil: it has gone, also by dying.
  case demand(ClientID, Demand?)
  /// An epoch with a fix; of a retrieved batch, the newest.
  case fix(FixObservation)
  /// An epoch without a fix.
  case noFix(SignalObservation)
  /// The receiver was asked into this mode and nothing speaks against its being there.
  case entered(PowerMode)
  /// The receiver gave a sign of life after a wake-up.
  case wakeConfirmed
  /// It gave none.
  case wakeFailed
  /// The receiver said no, or did something else.
  case refused(Refusal)
  /// A batch was read out to the end: fixes got, and fixes that are known to be lost.
  case batchRetrieved(count: Int, lost: Int)
  /// A read-out broke off; what had arrived is safe.
  case retrievalCut
  /// The receiver started anew by itself: what was only in its memory is gone.
  case rebooted
  /// The receiver says how long its orbits will do, in seconds.
  case orbits(usableSeconds: Double)
  /// Something that is cheaper than the receiver has noticed movement.
  case movementHint(MovementSource)
  /// Whether an accelerometer watches.
  case accelerometer(isPresent: Bool)
  /// The host is about to suspend.
  case hostSuspending
  /// It is back after so many seconds, which the clock of `Instant` did not count.
  case hostResumed(suspendedSeconds: Double)
  /// The receiver has gone.
  case receiverLost
  /// A receiver is there, awake, with these abilities; it may be another one.
  case receiverFound(ReceiverCapabilities)
}

/// One fix, as far as the policy needs it.
public struct FixObservation: Hashable, Sendable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// Horizontal error, 68 %, in metres.
  public var errorMetres: Double
  /// Over ground; nil when unknown.
  public var speedMetresPerSecond: Double?
  public var speedErrorMetresPerSecond: Double?

  public init(
    latitudeDegrees: Double, longitudeDegrees: Double, errorMetres: Double, speedMetresPerSecond: Double? = nil,
    speedErrorMetresPerSecond: Double? = nil
  ) {
    self.latitudeDegrees = latitudeDegrees
    self.longitudeDegrees = longitudeDegrees
    self.errorMetres = errorMetres
    self.speedMetresPerSecond = speedMetresPerSecond
    self.speedErrorMetresPerSecond = speedErrorMetresPerSecond
  }
}

/// What is received, in an epoch that has no fix.
public struct SignalObservation: Hashable, Sendable {
  /// Satellites of which anything is received.
  public var satellites: Int
  /// Of these, satellites at 25 dBHz or more: strong enough to receive orbits from.
  public var strongSatellites: Int

  /// Strong enough, and enough of them, for a fix: it is a matter of time.
  var isEnoughForFix: Bool { strongSatellites >= 4 }

  public init(satellites: Int, strongSatellites: Int) {
    self.satellites = satellites
    self.strongSatellites = strongSatellites
  }
}

public enum MovementSource: UInt8, Hashable, Sendable {
  case accelerometer, network
}

/// What a receiver may refuse.
public enum Refusal: UInt8, Hashable, Sendable, CaseIterable {
  case backup, cyclicTracking, onOff, batching, constellations, powerSwitch
}
