// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The direction of the device's top from a magnetometer or a receiver with two antennas.
public struct HeadingSample: Hashable, Sendable {
  /// 0…360 from magnetic north; nil from a source of true north only.
  public var magneticDegrees: Double?
  /// 0…360 from true north; nil from a compass.
  public var trueDegrees: Double?
  /// One standard deviation; negative if the heading is not valid.
  public var accuracyDegrees: Double
  /// The magnetic field along the device's axes, microtesla.
  public var fieldMicrotesla: SIMD3<Double>
  public var timestamp: UTCTime

  public init(
    magneticDegrees: Double? = nil, trueDegrees: Double? = nil, accuracyDegrees: Double,
    fieldMicrotesla: SIMD3<Double> = SIMD3(), timestamp: UTCTime
  ) {
    self.magneticDegrees = magneticDegrees
    self.trueDegrees = trueDegrees
    self.accuracyDegrees = accuracyDegrees
    self.fieldMicrotesla = fieldMicrotesla
    self.timestamp = timestamp
  }
}

/// The direction of the device: the content of a CLHeading.
public struct Heading: Hashable, Codable, Sendable {
  /// 0 ≤ heading < 360; negative if unknown.
  public var magneticDegrees: Double
  /// 0 ≤ heading < 360; negative if unknown.
  public var trueDegrees: Double
  /// Negative if the heading is not valid.
  public var accuracyDegrees: Double
  /// Along the device's axes.
  public var fieldMicrotesla: SIMD3<Double>
  public var timestamp: UTCTime

  public init(
    magneticDegrees: Double, trueDegrees: Double, accuracyDegrees: Double, fieldMicrotesla: SIMD3<Double>,
    timestamp: UTCTime
  ) {
    self.magneticDegrees = magneticDegrees
    self.trueDegrees = trueDegrees
    self.accuracyDegrees = accuracyDegrees
    self.fieldMicrotesla = fieldMicrotesla
    self.timestamp = timestamp
  }
}

/// The orientation of the device; the raw values equal those of CLDeviceOrientation.
public enum DeviceOrientation: Int, Codable, Sendable, CaseIterable {
  case unknown = 0
  case portrait = 1
  case portraitUpsideDown = 2
  case landscapeLeft = 3
  case landscapeRight = 4
  case faceUp = 5
  case faceDown = 6

  /// Degrees from the device's top to the reference of this orientation (HD-12); nil without a reference (HD-10).
  var offsetDegrees: Double? {
    switch self {
    case .portrait: 0
    case .portraitUpsideDown: 180
    case .landscapeLeft: 90
    case .landscapeRight: 270
    case .unknown, .faceUp, .faceDown: nil
    }
  }
}
