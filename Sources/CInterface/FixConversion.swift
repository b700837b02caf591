// SPDX-License-Identifier: Apache-2.0
import CSextant
import ReceiverStream

extension sextant_fix {
  /// The fix as the C structure: NaN or −1 in place of nil.
  init(_ fix: borrowing Fix) {
    self.init()
    has_time = fix.time != nil
    time_nanoseconds_since_1970 = fix.time?.nanosecondsSince1970 ?? 0
    time_is_resolved = fix.timeIsResolved
    has_position = fix.hasPosition
    is_within_limits = fix.isWithinLimits
    reports_kind = fix.reportsKind
    kind = fix.kind.rawValue
    quality = fix.quality.rawValue
    accuracy_source = fix.accuracySource.rawValue
    leap_seconds = Self.count(fix.leapSeconds)
    satellites_used = Self.count(fix.satellitesUsed)
    satellites_in_view = Self.count(fix.satellitesInView)
    differential_station = Self.count(fix.differentialStation)
    differential_age_seconds = fix.differentialAgeSeconds ?? .nan
    setPosition(fix)
    setMotion(fix)
    setAccuracy(fix)
  }

  private mutating func setPosition(_ fix: borrowing Fix) {
    latitude_degrees = fix.latitudeDegrees ?? .nan
    longitude_degrees = fix.longitudeDegrees ?? .nan
    height_above_ellipsoid_metres = fix.heightAboveEllipsoidMetres ?? .nan
    height_above_sea_level_metres = fix.heightAboveSeaLevelMetres ?? .nan
    geoid_separation_metres = fix.geoidSeparationMetres ?? .nan
    ecef_metres = Self.vector(fix.ecefMetres)
  }

  private mutating func setMotion(_ fix: borrowing Fix) {
    speed_metres_per_second = fix.speedMetresPerSecond ?? .nan
    course_degrees = fix.courseDegrees ?? .nan
    climb_metres_per_second = fix.climbMetresPerSecond ?? .nan
    velocity_metres_per_second = Self.vector(fix.velocityMetresPerSecond)
    ecef_metres_per_second = Self.vector(fix.ecefMetresPerSecond)
    heading_degrees = fix.headingDegrees ?? .nan
    magnetic_heading_degrees = fix.magneticHeadingDegrees ?? .nan
    magnetic_variation_degrees = fix.magneticVariationDegrees ?? .nan
  }

  private mutating func setAccuracy(_ fix: borrowing Fix) {
    time_accuracy_seconds = fix.timeAccuracySeconds ?? .nan
    horizontal_accuracy_metres = fix.horizontalAccuracyMetres ?? .nan
    vertical_accuracy_metres = fix.verticalAccuracyMetres ?? .nan
    east_accuracy_metres = fix.eastAccuracyMetres ?? .nan
    north_accuracy_metres = fix.northAccuracyMetres ?? .nan
    ecef_accuracy_metres = fix.ecefAccuracyMetres ?? .nan
    speed_accuracy_metres_per_second = fix.speedAccuracyMetresPerSecond ?? .nan
    climb_accuracy_metres_per_second = fix.climbAccuracyMetresPerSecond ?? .nan
    course_accuracy_degrees = fix.courseAccuracyDegrees ?? .nan
    heading_accuracy_degrees = fix.headingAccuracyDegrees ?? .nan
    gdop = fix.gdop ?? .nan
    pdop = fix.pdop ?? .nan
    hdop = fix.hdop ?? .nan
    vdop = fix.vdop ?? .nan
    tdop = fix.tdop ?? .nan
    edop = fix.edop ?? .nan
    ndop = fix.ndop ?? .nan
  }

  private static func count(_ value: Int?) -> Int32 { value.map { Int32(clamping: $0) } ?? -1 }

  private static func vector(_ value: SIMD3<Double>?) -> (Double, Double, Double) {
    guard let value else { return (.nan, .nan, .nan) }
    return (value.x, value.y, value.z)
  }
}
