// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// An event of the policy. Every event is legal in every state.
public enum PowerEvent: Hashable, Sendable {
  /// A client's demand is new or has changed; nil: the client has ended, perhaps by a crash.
  case demand(ClientID, Demand?)
  /// An epoch with a fix; for a batch that was read, its newest.
  case fix(FixObservation)
  /// An epoch without a fix.
  case noFix(SignalObservation)
  /// The receiver was commanded into this mode and no failure was reported.
  case entered(PowerMode)
  /// The receiver answered a wake-up.
  case wakeConfirmed
  /// The receiver did not answer a wake-up.
  case wakeFailed
  /// No wake-up ends the receiver's sleep before its timer does, at this time.
  case wakesByTimer(at: Instant)
  /// The receiver refused a command, or did not carry it out.
  case refused(Refusal)
  /// A batch was read to its end: fixes read, and fixes that are known to be lost.
  case batchRetrieved(count: Int, lost: Int)
  /// A read broke off; the fixes that had arrived are stored.
  case retrievalCut
  /// The receiver restarted by itself: the content of its memory is lost.
  case rebooted
  /// The receiver reports how long its orbits remain usable, in seconds.
  case orbits(usableSeconds: Double)
  /// The host has orbits for a start within this many seconds, and sends them to the receiver then; 0: it has none.
  case assistance(usableSeconds: Double)
  /// A source that is cheaper than the receiver has detected movement.
  case movementHint(MovementSource)
  /// Whether an accelerometer is present.
  case accelerometer(isPresent: Bool)
  /// The host is about to suspend.
  case hostSuspending
  /// The host has resumed after this many seconds, which the clock of `Instant` did not count.
  case hostResumed(suspendedSeconds: Double)
  /// The receiver is no longer there.
  case receiverLost
  /// A receiver with these capabilities is there and awake; it may be another one.
  case receiverFound(ReceiverCapabilities)
}

/// One fix, reduced to the values that the policy uses.
public struct FixObservation: Hashable, Sendable {
  public var latitudeDegrees: Double
  public var longitudeDegrees: Double
  /// Horizontal error (68 %), in metres.
  public var errorMetres: Double
  /// Speed over ground; nil when unknown.
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

/// The reception in an epoch without a fix.
public struct SignalObservation: Hashable, Sendable {
  /// The number of satellites that are received.
  public var satellites: Int
  /// The number of these at 25 dBHz or more: strong enough to receive orbits from.
  public var strongSatellites: Int

  /// Whether the reception is good enough for a fix, which takes only time then.
  var isEnoughForFix: Bool { strongSatellites >= 4 }

  public init(satellites: Int, strongSatellites: Int) {
    self.satellites = satellites
    self.strongSatellites = strongSatellites
  }
}

public enum MovementSource: UInt8, Hashable, Sendable {
  case accelerometer, network
}

/// A command that a receiver may refuse.
public enum Refusal: UInt8, Hashable, Sendable, CaseIterable {
  case backup, cyclicTracking, onOff, batching, constellations, powerSwitch
}
