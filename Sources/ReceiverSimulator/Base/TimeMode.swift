// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

import func Glibc.cos
import func Glibc.sin

/// The time mode of a base station (interface descriptions of high-precision receivers, CFG-TMODE): a survey, or a given position.
struct TimeMode: Sendable, Equatable {
  enum Setting: Sendable, Equatable {
    case off
    case survey(seconds: UInt32, metres: Double)
    /// Degrees, and metres above the ellipsoid.
    case position(latitude: Double, longitude: Double, height: Double)
  }

  /// A place that is the base's.
  struct Place: Sendable, Equatable {
    var latitude: Double
    var longitude: Double
    var height: Double
  }

  /// A survey, as NAV-SVIN reports it.
  struct Survey: Sendable, Equatable {
    var seconds = 0.0
    var observations: UInt32 = 0
    /// The sums of the observed places.
    var sums = (latitude: 0.0, longitude: 0.0, height: 0.0)
    /// The standard deviation of the mean in space, metres.
    var deviation = 0.0
    var isValid = false

    var mean: Place {
      let count = Double(max(1, observations))
      return Place(latitude: sums.latitude / count, longitude: sums.longitude / count, height: sums.height / count)
    }

    static func == (a: Survey, b: Survey) -> Bool {
      a.observations == b.observations && a.deviation == b.deviation && a.isValid == b.isValid
    }
  }

  private(set) var setting = Setting.off
  private(set) var survey = Survey()

  /// The position of the base, once it is known.
  var place: Place? {
    switch setting {
    case .off: nil
    case .survey: survey.isValid ? survey.mean : nil
    case .position(let latitude, let longitude, let height):
      Place(latitude: latitude, longitude: longitude, height: height)
    }
  }

  /// Whether a survey is running.
  var isSurveying: Bool { if case .survey = setting { !survey.isValid } else { false } }

  /// A survey begins anew with each change of its settings.
  mutating func set(_ setting: Setting) {
    guard setting != self.setting else { return }
    self.setting = setting
    survey = Survey()
  }

  /// A survey is lost with a restart.
  mutating func restart() { survey = Survey() }

  /// Adds a position to the survey. The errors of the positions of a second depend on each other, so that the mean improves with the
  /// root of the time.
  mutating func observe(_ solution: Solution, after elapsed: Double) {
    guard case .survey(let seconds, let metres) = setting, !survey.isValid, solution.hasFix else { return }
    survey.seconds += elapsed
    survey.observations += 1
    survey.sums.latitude += solution.latitudeDegrees
    survey.sums.longitude += solution.longitudeDegrees
    survey.sums.height += solution.altitudeMetres + Solution.geoidSeparation
    let (horizontal, vertical) = (solution.horizontalMetres, solution.verticalMetres)
    let spherical = (horizontal * horizontal + vertical * vertical).squareRoot()
    survey.deviation = spherical / Double(survey.observations).squareRoot()
    survey.isValid = survey.seconds >= Double(seconds) && survey.deviation <= metres
  }
}

extension TimeMode.Setting {
  /// The fields of PQTMCFGSVIN: the mode, seconds, metres (0 without a limit), X, Y and Z.
  init(quectel fields: [Double]) {
    switch fields.first {
    case 1?:
      self = .survey(
        seconds: UInt32(nearest: fields[1]), metres: fields[2] > 0 ? fields[2] : .greatestFiniteMagnitude)
    case 2?: self.init(centre: Earth.Vector(x: fields[3], y: fields[4], z: fields[5]))
    default: self = .off
    }
  }

  /// A given earth-centred position, metres.
  init(centre: Earth.Vector) {
    let found = Earth.geodetic(centre)
    self = .position(
      latitude: found.latitude, longitude: found.longitude,
      height: Earth.height(centre, latitude: found.latitude, longitude: found.longitude))
  }
}

extension ItemConfiguration {
  /// The time mode by the values in force.
  var timeMode: TimeMode.Setting {
    guard traits.hasHighPrecision else { return .off }
    func signed(_ key: UInt32) -> Double { Double(Int32(truncatingIfNeeded: value(key))) }
    func fine(_ key: UInt32) -> Double { Double(Int8(truncatingIfNeeded: value(key))) }
    switch value(Key.timeMode) {
    case 1:
      let limit = Double(value(Key.surveyLimit)) / 10_000
      return .survey(seconds: UInt32(truncatingIfNeeded: value(Key.surveyDuration)), metres: limit)
    case 2 where value(Key.positionType) == 1:
      return .position(
        latitude: (signed(0x4003_0009) * 100 + fine(0x2003_000C)) * 1e-9,
        longitude: (signed(0x4003_000A) * 100 + fine(0x2003_000D)) * 1e-9,
        height: (signed(0x4003_000B) * 100 + fine(0x2003_000E)) * 1e-4)
    case 2:
      let place = Earth.Vector(
        x: (signed(0x4003_0003) * 100 + fine(0x2003_0006)) * 1e-4,
        y: (signed(0x4003_0004) * 100 + fine(0x2003_0007)) * 1e-4,
        z: (signed(0x4003_0005) * 100 + fine(0x2003_0008)) * 1e-4)
      return TimeMode.Setting(centre: place)
    default: return .off
    }
  }
}

extension Earth {
  /// The height of a place above the ellipsoid, metres, along the vertical of its latitude and longitude.
  static func height(_ place: Vector, latitude: Double, longitude: Double) -> Double {
    let ground = ecef(latitude: latitude, longitude: longitude, height: 0)
    let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
    return (place.x - ground.x) * cos(phi) * cos(lambda) + (place.y - ground.y) * cos(phi) * sin(lambda)
      + (place.z - ground.z) * sin(phi)
  }
}
