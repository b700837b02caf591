// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// The state of a dead reckoning receiver's sensor fusion: UBX-ESF-STATUS (interface descriptions of M8 ADR and UDR, and F9 HPS).
public struct FusionStatus: Sendable, Equatable {
  /// `fusionMode`.
  public enum Mode: UInt8, Sendable {
    case initialization = 0, fusion, suspended, disabled

    public var name: String {
      switch self {
      case .initialization: "initialization"
      case .fusion: "fusion"
      case .suspended: "suspended"
      case .disabled: "disabled"
      }
    }
  }

  /// A sensor, with the names of the interface description.
  public struct Sensor: Sendable, Equatable {
    public var name: String
    public var isUsed: Bool
    /// notCalibrated, calibrating or calibrated.
    public var calibration: String
    /// badMeas, badTTag, missingMeas and noisyMeas.
    public var faults: [String]

    /// One line, as in "speed used, calibrated".
    public var text: String {
      let state = isUsed ? "used" : "not used"
      return ([name + " " + state, calibration] + faults).joined(separator: ", ")
    }
  }

  public var mode: Mode
  public var sensors: [Sensor]

  /// The names of the data types (interface descriptions, "ESF measurement data").
  private static let names: [UInt8: String] = [
    5: "gyroscope z", 6: "wheel ticks front left", 7: "wheel ticks front right", 8: "wheel ticks rear left",
    9: "wheel ticks rear right", 10: "speed ticks", 11: "speed", 12: "gyroscope temperature", 13: "gyroscope y",
    14: "gyroscope x", 16: "accelerometer x", 17: "accelerometer y", 18: "accelerometer z",
  ]
  private static let faultNames = ["badMeas", "badTTag", "missingMeas", "noisyMeas"]

  /// Reads the message; nil for another one, and for a mode that the description does not have.
  public init?(_ frame: borrowing UBXFrame) {
    guard let message = frame.message(EsfSTATUS.self), let mode = Mode(rawValue: message.fusionMode) else { return nil }
    self.mode = mode
    sensors = (0..<message.sensorCount).map { index in
      let sensor = message.sensor(index)
      let type = UInt8(truncatingIfNeeded: sensor.sensStatus1_type)
      let calibration = ["notCalibrated", "calibrating", "calibrated", "calibrated"][
        Int(sensor.sensStatus2_calibStatus) & 3]
      return Sensor(
        name: Self.names[type] ?? "type \(type)", isUsed: sensor.sensStatus1_used, calibration: calibration,
        faults: Self.faultNames.enumerated().filter { sensor.faults >> UInt8($0.offset) & 1 != 0 }.map(\.element))
    }
  }

  /// One line, as in "fusion; speed used, calibrated".
  public var text: String { ([mode.name] + sensors.map(\.text)).joined(separator: "; ") }
}

extension ReceiverDescription {
  /// Whether it has dead reckoning: the firmware is named ADR, UDR, HPS, LAP or MDR.
  public var hasSensorFusion: Bool {
    family == nil && ["ADR", "UDR", "HPS", "LAP", "MDR"].contains { firmware?.hasPrefix($0 + " ") == true }
  }
}

extension DesiredConfiguration {
  /// Adds the state of the sensor fusion, once a second at most.
  package mutating func addFusionReports(for receiver: ReceiverDescription) {
    if receiver.hasSensorFusion { messages.append(MessageRate(EsfSTATUS.identity, 1)) }
  }
}
