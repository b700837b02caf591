import UBX

/// The state a receiver is to be in: what it writes, how often, and how it navigates. What is nil stays as it is.
///
/// A wish is applied again whenever the receiver lost it: receivers without battery and flash forget everything with
/// their power.
public struct DesiredConfiguration: Sendable, Equatable {
  /// A message's rate: with every n-th navigation epoch, 0 for never.
  public struct MessageRate: Sendable, Equatable {
    public var message: MessageIdentity
    public var rate: UInt8

    public init(_ message: MessageIdentity, _ rate: UInt8) {
      self.message = message
      self.rate = rate
    }
  }

  /// CFG-NAV5's platform models (interface descriptions, CFG-NAV5 dynModel and CFG-NAVSPG-DYNMODEL).
  public enum DynamicModel: UInt8, Sendable, CaseIterable {
    case portable = 0, stationary = 2, pedestrian, automotive, sea, airborne1g, airborne2g, airborne4g, wrist, bike
  }

  /// Constellations by the number that u-blox gives them (gnssId).
  public enum Constellation: UInt8, Sendable, CaseIterable {
    case gps = 0, sbas, galileo, beiDou, qzss = 5, glonass, navIC
  }

  /// UBX messages and their rates on the port that is talked over.
  public var messages: [MessageRate] = []
  /// Whether the port writes NMEA.
  public var writesNMEA: Bool?
  /// Whether the port reads RTCM 3.
  public var readsRTCM3: Bool?
  /// Milliseconds from one measurement to the next.
  public var measurementPeriodMilliseconds: UInt16?
  public var dynamicModel: DynamicModel?
  /// The constellations that are used; all others are off.
  public var constellations: [Constellation]?
  /// Constellations that are off for as long as they are named here; those that are not are as they were found. Only receivers
  /// that store their settings in items do this.
  public var withoutConstellations: [Constellation]?
  /// How it saves power while it gives fixes.
  public var powerSave: PowerSave?
  /// Off for the time between preparing on/off operation and switching it on: a receiver that has a fix sleeps at once,
  /// and loses what is not stored.
  package var isPowerSaveOn = true
  /// Fixes are kept in the receiver.
  public var batch: BatchConfiguration?
  /// Nothing is to come by itself: silence is no sign that the receiver is gone.
  public var isSilent = false
  /// The rate of the port, in baud.
  public var portRate: UInt32?
  /// Whether `portRate` stays when the session ends, whatever the rate was before.
  public var keepsPortRate = false
  /// The rate that the port is raised to where its own is lower, unless the line's rate is bound: for a long dialogue on a
  /// line that is full.
  public var leastPortRate: UInt32?

  public init() {}

  /// Nothing is changed.
  public static let nothing = DesiredConfiguration()

  /// What a fix is made of, in UBX alone: position, velocity and time, dilutions, satellites, the end of the epoch.
  /// The messages are those that the receiver has: NAV-PVT from protocol version 14 on, NAV-SAT from 15, NAV-EOE from 18
  /// (interface descriptions, the messages' "supported on").
  public static func navigation(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration()
    desired.writesNMEA = false
    let version = receiver.protocolVersion ?? ProtocolVersion(receiver.generation == .m7 ? 14 : 13, 0)
    if version >= ProtocolVersion(14, 0) {
      desired.messages = [MessageRate(.navPVT, 1), MessageRate(.navDOP, 1)]
    } else {
      desired.messages = withoutPVT + [MessageRate(.navDOP, 1)]
    }
    desired.messages.append(MessageRate(version >= ProtocolVersion(15, 0) ? .navSAT : .navSVINFO, 1))
    if version >= ProtocolVersion(18, 0) { desired.messages.append(MessageRate(.navEOE, 1)) }
    return desired
  }

  /// Position, velocity and time before NAV-PVT.
  private static let withoutPVT = [
    MessageRate(.navPOSLLH, 1), MessageRate(.navSOL, 1), MessageRate(.navVELNED, 1), MessageRate(.navTIMEUTC, 1),
  ]

  /// The same wish for firmware that has no NAV-PVT.
  package func withoutPVT() -> DesiredConfiguration {
    var desired = self
    guard let at = desired.messages.firstIndex(where: { $0.message == .navPVT }) else { return self }
    let rate = desired.messages[at].rate
    desired.messages.replaceSubrange(at...at, with: Self.withoutPVT.map { MessageRate($0.message, rate) })
    return desired
  }
}
