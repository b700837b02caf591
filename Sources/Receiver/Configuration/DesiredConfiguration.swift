// SPDX-License-Identifier: Apache-2.0

import UBX

/// The configuration that a receiver should have: its messages, their rates, and its navigation. A value of nil is not
/// changed.
///
/// The session applies it again whenever the receiver lost it: receivers without battery and flash lose it with their
/// power.
public struct DesiredConfiguration: Sendable, Equatable {
  /// A message and its rate: every n-th navigation epoch, 0 for never.
  public struct MessageRate: Sendable, Equatable {
    public var message: MessageIdentity
    public var rate: UInt8

    public init(_ message: MessageIdentity, _ rate: UInt8) {
      self.message = message
      self.rate = rate
    }
  }

  /// The platform models of CFG-NAV5 (interface descriptions, CFG-NAV5 dynModel and CFG-NAVSPG-DYNMODEL).
  public enum DynamicModel: UInt8, Sendable, CaseIterable {
    case portable = 0, stationary = 2, pedestrian, automotive, sea, airborne1g, airborne2g, airborne4g, wrist, bike
  }

  /// The constellations by u-blox's number (gnssId).
  public enum Constellation: UInt8, Sendable, CaseIterable {
    case gps = 0, sbas, galileo, beiDou, qzss = 5, glonass, navIC
  }

  /// UBX messages and their rates on the port of the line.
  public var messages: [MessageRate] = []
  /// Whether the port writes NMEA.
  public var writesNMEA: Bool?
  /// Whether the port reads RTCM 3.
  public var readsRTCM3: Bool?
  /// Whether the port reads SPARTN, and the receiver uses it from the port instead of from a satellite.
  public var readsSPARTN: Bool?
  /// The time between two measurements, in milliseconds.
  public var measurementPeriodMilliseconds: UInt16?
  public var dynamicModel: DynamicModel?
  /// The constellations in use; all others are off.
  public var constellations: [Constellation]?
  /// The constellations that are off while they are listed here; the others are as they were found. Only for receivers with
  /// configuration items.
  public var withoutConstellations: [Constellation]?
  /// The sentences of another maker's receiver; those that are not listed stay as they are.
  public var sentences: [SentenceRate]?
  /// Whether another maker's receiver that sends no sentence with a position is to send the sentences of a fix.
  var sendsAnySentences = false
  /// The messages with raw measurements and orbits of another maker's receiver, by its family's names.
  var measurements: [SentenceRate]?
  /// The power save mode.
  public var powerSave: PowerSave?
  /// Whether on/off operation is switched on. It is off until the settings are stored: a receiver with a fix sleeps at once,
  /// and loses the others.
  package var isPowerSaveOn = true
  /// The receiver is a base station at this position.
  public var base: BaseStation?
  /// The storage of fixes in the receiver.
  public var batch: BatchConfiguration?
  /// Whether the receiver sends nothing by itself: silence is then no fault.
  public var isSilent = false
  /// The rate of the port, in baud.
  public var portRate: UInt32?
  /// Whether `portRate` stays at the end of the session, whatever the rate was before.
  public var keepsPortRate = false
  /// The rate, in baud, to which a lower one is raised unless the line's rate is bound: for a long dialogue on a full line.
  public var leastPortRate: UInt32?

  public init() {}

  /// A configuration without a change.
  public static let nothing = DesiredConfiguration()

  /// Returns the UBX messages for a fix: position, velocity and time, dilutions, satellites, the end of the epoch.
  /// NAV-PVT exists from protocol version 14 on, NAV-SAT from 15, NAV-EOE from 18
  /// (interface descriptions, the messages' "supported on").
  public static func navigation(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration()
    // The sentences of another maker's receiver are used as they are.
    if receiver.family != nil {
      desired.sendsAnySentences = true
      return desired
    }
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

  /// The messages for position, velocity and time before NAV-PVT.
  private static let withoutPVT = [
    MessageRate(.navPOSLLH, 1), MessageRate(.navSOL, 1), MessageRate(.navVELNED, 1), MessageRate(.navTIMEUTC, 1),
  ]

  /// Returns the same configuration for firmware without NAV-PVT.
  package func withoutPVT() -> DesiredConfiguration {
    var desired = self
    guard let at = desired.messages.firstIndex(where: { $0.message == .navPVT }) else { return self }
    let rate = desired.messages[at].rate
    desired.messages.replaceSubrange(at...at, with: Self.withoutPVT.map { MessageRate($0.message, rate) })
    return desired
  }
}

extension DesiredConfiguration {
  /// Sets that the port reads the corrections that the receiver accepts.
  public mutating func readCorrections(for receiver: ReceiverDescription) {
    if receiver.can(.rtcmInput) { readsRTCM3 = true }
    if receiver.can(.spartnInput) { readsSPARTN = true }
  }

  /// Returns the configuration for a line of this rate, in baud: a slow line gets satellites, the longest message, less often.
  package func adapted(to rate: UInt32?, isBound: Bool) -> DesiredConfiguration {
    guard let rate else { return self }
    var desired = self
    if !isBound, let least = leastPortRate, rate < least { desired.portRate = least }
    guard rate < 9600 else { return desired }
    for index in desired.messages.indices where [.navSAT, .navSVINFO].contains(desired.messages[index].message) {
      desired.messages[index].rate = max(desired.messages[index].rate, 5)
    }
    return desired
  }
}
