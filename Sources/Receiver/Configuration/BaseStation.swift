// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// The position of a receiver that is a base station: it is surveyed by the receiver, or given.
public enum BaseStation: Sendable, Hashable {
  /// The mean of at least this many seconds, until its standard deviation is at most this many metres.
  case survey(seconds: UInt32, metres: Double)
  /// WGS 84: degrees, and the height of the antenna above the ellipsoid in metres.
  case position(latitude: Double, longitude: Double, height: Double)

  /// The limits of what receivers accept: seconds of a survey, its deviation in metres, heights in metres.
  public static let seconds: ClosedRange<UInt32> = 1...604_800
  public static let metres: ClosedRange<Double> = 0.001...100_000
  public static let heights: ClosedRange<Double> = -1000...20_000

  /// The given position as X, Y and Z of WGS 84 in metres; nil for a survey.
  var earthCentredMetres: [Double]? {
    guard case .position(let latitude, let longitude, let height) = self else { return nil }
    let place = GeodeticPosition(latitudeDegrees: latitude, longitudeDegrees: longitude, heightMetres: height)
    let centre = place.earthCentredMetres
    return [centre.x, centre.y, centre.z]
  }
}

extension ReceiverDescription {
  /// Whether the receiver can be a base station: it has a time mode and sends RTCM 3 (interface descriptions of F9 HPG and TIM and of
  /// X20, CFG-TMODE and CFG-MSGOUT-RTCM_3X), or its family has such a mode.
  public var canBeBase: Bool {
    if let family { return family.language?.canBeBase(self) ?? false }
    let type = firmware?.split(separator: " ").first.map(String.init) ?? ""
    return can(.valset) && [.f9, .x20].contains(generation) && ["HPG", "TIM"].contains(type)
  }

  /// The reason why the receiver cannot be this base station, for people; nil if it can.
  public func refusal(ofBase station: BaseStation) -> String? { family?.language?.refusal(ofBase: station) }

  /// Whether a survey of the receiver ends after its time, whatever the deviation is.
  public var surveysByTimeOnly: Bool { family == .unicore }

  /// The longest time, in milliseconds, for which the receiver is silent when it becomes a base station, and when it is a rover again;
  /// zero where nothing restarts.
  public var baseRestartTime: Milliseconds { family?.language?.modeChangeTime ?? Milliseconds(0) }
}

extension DesiredConfiguration {
  /// The least rate of a serial line for the observations of a base, in baud: an epoch of four constellations has up to 2 kB.
  private static let leastRateForBase: UInt32 = 115_200

  /// The configuration in which a receiver shows its own position before it is a base station.
  public static func rover(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = DesiredConfiguration.navigation(for: receiver)
    // A UM980 sends nothing as found.
    if receiver.canBeBase, receiver.family?.language?.polls(of: .messages).isEmpty == true {
      desired.sentences = [SentenceRate("GGA", 1)]
    }
    return desired
  }

  /// The configuration of a base station: it sends its position, observations of all constellations, and the biases of GLONASS each
  /// second; and its own fix, and how far a survey is.
  public static func base(_ station: BaseStation, for receiver: ReceiverDescription) -> DesiredConfiguration {
    guard receiver.canBeBase else { return .nothing }
    var desired = DesiredConfiguration.rover(for: receiver)
    desired.base = station
    // A receiver that saves its settings with a change of the mode would save the rate too.
    if receiver.baseRestartTime == Milliseconds(0) { desired.leastPortRate = leastRateForBase }
    if receiver.family != nil { return desired }
    desired.messages.append(MessageRate(NavSVIN.identity, 1))
    desired.measurementPeriodMilliseconds = 1000
    return desired
  }
}

extension BaseStation {
  /// The items of CFG-MSGOUT on the I2C port; each is followed by its items on the other ports. 1005, MSM7 of GPS, GLONASS, Galileo and
  /// BeiDou, 1230.
  private static let outputs: [UInt32] = [
    0x2091_02BD, 0x2091_02CC, 0x2091_02D1, 0x2091_0318, 0x2091_02D6, 0x2091_0303,
  ]

  /// The items of a base. The mode is the last: it takes effect with the position.
  func items(_ port: ReceiverPortNumber) -> [ConfigurationPair] {
    var pairs = [ConfigurationPair(id: port.outputProtocolKey(4), bits: 1)]
    pairs += Self.outputs.map { ConfigurationPair(id: $0 + UInt32(port.rawValue), bits: 1) }
    switch self {
    case .survey(let seconds, let metres):
      pairs.append(ConfigurationPair(id: 0x4003_0010, bits: UInt64(seconds)))
      pairs.append(ConfigurationPair(id: 0x4003_0011, bits: UInt64(UInt32(clamping: (metres * 10_000).rounded()))))
      pairs.append(ConfigurationPair(id: 0x2003_0001, bits: 1))
    case .position(let latitude, let longitude, let height):
      // Latitude, longitude and height, not earth-centred.
      pairs.append(ConfigurationPair(id: 0x2003_0002, bits: 1))
      for (coarse, fine, value) in [
        (0x4003_0009, 0x2003_000C, latitude * 1e9), (0x4003_000A, 0x2003_000D, longitude * 1e9),
        (0x4003_000B, 0x2003_000E, height * 1e4),
      ] as [(UInt32, UInt32, Double)] {
        // Units of 1e-7 degrees or centimetres, and hundredths of these.
        let parts = Int64(clamping: value.rounded()).quotientAndRemainder(dividingBy: 100)
        pairs.append(
          ConfigurationPair(id: coarse, bits: UInt64(UInt32(bitPattern: Int32(clamping: parts.quotient)))))
        pairs.append(ConfigurationPair(id: fine, bits: UInt64(UInt8(bitPattern: Int8(clamping: parts.remainder)))))
      }
      pairs.append(ConfigurationPair(id: 0x2003_0001, bits: 2))
    }
    return pairs
  }
}
