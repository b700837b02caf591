// SPDX-License-Identifier: Apache-2.0

// The functions and currents of each receiver family. Currents and start times: the module's data sheet (supply current
// at 3.0 V, typical; time to first fix at -130 dBm). Modes: the interface description of the firmware named. A figure
// without a document is marked.
extension ReceiverCapabilities {
  /// GPS without other constellations, in seconds: at 47 degrees of latitude four of its satellites remain in nine
  /// cases of ten after 2.5 h, in one of two after 3 h, in none after 4 h (thirty satellites in six planes, above 10
  /// degrees).
  private static let gpsOrbitsSeconds = 2.5 * 3600

  /// NEO-6M, GPS. Data sheet NEO-6: 47 / 39 mA, power save mode 11 mA, start 27 / 1 s. It gives no standby current; the
  /// backup supply's 22 µA is used.
  public static let m6 = ReceiverCapabilities(
    name: "M6", currents: Currents(acquisition: 47, tracking: 39, cyclic: 11), standbyMilliamperes: 0.022,
    startTimes: StartTimes(coldSeconds: 27, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds,
    cyclicLongestSeconds: 10, onOffShortestSeconds: 10,
    backup: Backup())

  /// SAM-M8Q (SPG 3.01), GPS and GLONASS; GPS alone as the smaller set. Data sheet SAM-M8Q.
  public static let m8 = ReceiverCapabilities(
    name: "M8", currents: Currents(acquisition: 32, tracking: 29, cyclic: 9.5),
    reducedCurrents: Currents(acquisition: 25, tracking: 23, cyclic: 9.5), standbyMilliamperes: 0.025,
    startTimes: StartTimes(coldSeconds: 26, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds,
    cyclicLongestSeconds: 10, onOffShortestSeconds: 10,
    backup: Backup())

  /// M8 with protocol 23.01 (SPG 3.51): batching and Super-E instead of cyclic tracking. The documents at hand give no
  /// currents for Super-E, so it is not used; the other figures are from the SAM-M8Q data sheet.
  public static let m8Batching = ReceiverCapabilities(
    name: "M8 batching", currents: Currents(acquisition: 32, tracking: 29),
    reducedCurrents: Currents(acquisition: 25, tracking: 23), standbyMilliamperes: 0.025,
    startTimes: StartTimes(coldSeconds: 26, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds, backup: Backup(),
    batching: Batching(plainEpochs: 300, extendedEpochs: 156))

  /// NEO-M9N (SPG 4.04), four constellations; GPS and GLONASS as the smaller set. Data sheet NEO-M9N. Its documents
  /// give "up to 5 minutes" of batching: taken as the M8's capacity.
  public static let m9 = ReceiverCapabilities(
    name: "M9", currents: Currents(acquisition: 50, tracking: 36, cyclic: 21),
    reducedCurrents: Currents(acquisition: 43, tracking: 32, cyclic: 20), standbyMilliamperes: 0.36,
    startTimes: StartTimes(coldSeconds: 24, hotSeconds: 2), cyclicLongestSeconds: 10, onOffShortestSeconds: 10,
    backup: Backup(), batching: Batching(plainEpochs: 300, extendedEpochs: 156), flashLog: true)

  /// SAM-M10Q (SPG 5.10), GPS, Galileo and GLONASS; GPS alone as the smaller set. Data sheet SAM-M10Q; V_IO adds 2.2 mA,
  /// 2.0 mA in cyclic tracking. Cold start: 23 s with four constellations, 28 s with GPS and Galileo.
  public static let m10 = ReceiverCapabilities(
    name: "M10", currents: Currents(acquisition: 12, tracking: 9, cyclic: 5, inputOutput: 2.2),
    reducedCurrents: Currents(acquisition: 8, tracking: 7.5, cyclic: 4.5, inputOutput: 2.2),
    standbyMilliamperes: 0.046, startTimes: StartTimes(coldSeconds: 28, hotSeconds: 1), cyclicLongestSeconds: 10,
    onOffShortestSeconds: 10, backup: Backup(), batching: Batching(plainEpochs: 600, extendedEpochs: 309))

  /// MAX-M10S with SPG 5.00: no power save mode in this firmware. Data sheet MAX-M10S.
  public static let m10SPG500 = ReceiverCapabilities(
    name: "M10 SPG 5.00", currents: Currents(acquisition: 9, tracking: 7, inputOutput: 2.2),
    reducedCurrents: Currents(acquisition: 6.5, tracking: 6, inputOutput: 2.2), standbyMilliamperes: 0.046,
    startTimes: StartTimes(coldSeconds: 28, hotSeconds: 1), backup: Backup(),
    batching: Batching(plainEpochs: 300, extendedEpochs: 156))

  /// ZED-F9P, all bands; GPS alone as the smaller set. Data sheet ZED-F9P. Only backup by request.
  public static let f9 = ReceiverCapabilities(
    name: "F9", currents: Currents(acquisition: 90, tracking: 85),
    reducedCurrents: Currents(acquisition: 75, tracking: 68), standbyMilliamperes: 1.4,
    startTimes: StartTimes(coldSeconds: 25, hotSeconds: 2), backup: Backup(), flashLog: true)

  /// NEO-F10N. Data sheet NEO-F10N. Only backup by request.
  public static let f10 = ReceiverCapabilities(
    name: "F10", currents: Currents(acquisition: 26, tracking: 21), standbyMilliamperes: 0.049,
    startTimes: StartTimes(coldSeconds: 28, hotSeconds: 2), backup: Backup())

  /// ZED-X20P. Data sheet ZED-X20P. Only backup by request.
  public static let x20 = ReceiverCapabilities(
    name: "X20", currents: Currents(acquisition: 68, tracking: 64),
    reducedCurrents: Currents(acquisition: 55, tracking: 55), standbyMilliamperes: 0.093,
    startTimes: StartTimes(coldSeconds: 25, hotSeconds: 2), backup: Backup(), flashLog: true)

  /// MediaTek MT3339 (PA6H data sheet: 25 / 20 mA, start 35 / 1 s). Standby by PMTK161: 2 mA, measured by a user with the board.
  public static let mt3339 = ReceiverCapabilities(
    name: "MT3339", currents: Currents(acquisition: 25, tracking: 20), standbyMilliamperes: 2,
    startTimes: StartTimes(coldSeconds: 35, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds, backup: Backup())

  /// MediaTek MT3333. PA1010D: 30 mA (shop page); standby about 1 mA as of an L76B (Waveshare). Start: XA1110 (SparkFun), 15 s cold
  /// with assistance; 35 s is used.
  public static let mt3333 = ReceiverCapabilities(
    name: "MT3333", currents: Currents(acquisition: 30, tracking: 30), standbyMilliamperes: 1,
    startTimes: StartTimes(coldSeconds: 35, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds, backup: Backup())

  /// Airoha AG3352, such as LC76G: start 26 s (Waveshare). No document with its currents was read: 14 / 12 mA, and 1 mA with the
  /// engine off, are assumed.
  public static let ag3352 = ReceiverCapabilities(
    name: "AG3352", currents: Currents(acquisition: 14, tracking: 12), standbyMilliamperes: 1,
    startTimes: StartTimes(coldSeconds: 26, hotSeconds: 1), sureOrbitsSeconds: gpsOrbitsSeconds, backup: Backup())

  /// A receiver that is known by its sentences only. It takes no commands, so only the host sleeps. Its currents are
  /// unknown; the NEO-6M's currents are used.
  public static let plainNMEA = ReceiverCapabilities(
    name: "NMEA", currents: Currents(acquisition: 47, tracking: 39),
    startTimes: StartTimes(coldSeconds: 40, hotSeconds: 2))

  /// The same receiver with a switch in its supply.
  public func with(_ powerSwitch: PowerSwitch) -> ReceiverCapabilities {
    var capabilities = self
    capabilities.powerSwitch = powerSwitch
    return capabilities
  }
}

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
