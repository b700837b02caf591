import Glibc
import NMEA
import UBX

extension MovingReceiver {
  /// What the receiver knows at an epoch.
  struct State {
    var date: (year: Int, month: Int, day: Int)
    var secondOfDay: Int
    /// GPS time of week, milliseconds.
    var timeOfWeek: UInt32
    var hasFix: Bool
    var latitude: Double
    var longitude: Double
    /// Metres above mean sea level.
    var altitude = 512.0
    /// Metres per second, north and east.
    var velocity: (north: Double, east: Double)
    var satellites: [SatelliteState]

    static let geoidSeparation = 45.6

    var speed: Double { (velocity.north * velocity.north + velocity.east * velocity.east).squareRoot() }
    var course: Double {
      let degrees = atan2(velocity.east, velocity.north) * 180 / .pi
      return degrees < 0 ? degrees + 360 : degrees
    }

    init(of receiver: MovingReceiver, at second: Int64, since start: Int64) {
      date = Self.date(ofDay: second / 86_400)
      secondOfDay = Int(second % 86_400)
      // GPS time began on 1980-01-06, a Sunday, and is 18 seconds ahead of UTC since 2017.
      timeOfWeek = UInt32((second - 315_964_800 + 18) % 604_800) * 1000
      hasFix = Double(second - start) >= receiver.timeToFirstFix
      // A lemniscate: x = sin t, y = sin t cos t.
      let angle = 2 * Double.pi * Double(second).truncatingRemainder(dividingBy: receiver.period) / receiver.period
      let rate = 2 * Double.pi / receiver.period
      let east = receiver.reach * sin(angle)
      let north = receiver.reach * sin(angle) * cos(angle)
      velocity = (receiver.reach * cos(2 * angle) * rate, receiver.reach * cos(angle) * rate)
      let metresPerDegree = 111_195.0
      latitude = receiver.middle.latitude + north / metresPerDegree
      longitude =
        receiver.middle.longitude + east / (metresPerDegree * cos(receiver.middle.latitude * .pi / 180))
      altitude += 4 * sin(angle)
      satellites = SatelliteState.sky(at: second)
    }

    /// The Gregorian date of a day since 1970 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func date(ofDay day: Int64) -> (year: Int, month: Int, day: Int) {
      let shifted = Int(day) + 719_468
      let era = shifted / 146_097
      let dayOfEra = shifted % 146_097
      let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let shiftedMonth = (5 * dayOfYear + 2) / 153
      let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
      return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
  }

  /// A satellite over the park.
  struct SatelliteState {
    var gnss: UInt8
    var number: UInt8
    var elevation: Int
    var azimuth: Int
    var signal: Int
    var isUsed: Bool

    /// Satellites that rise and set: slow circles, each in its own phase.
    static func sky(at second: Int64) -> [SatelliteState] {
      let systems: [(gnss: UInt8, numbers: [UInt8])] = [
        (0, [2, 5, 7, 13, 15, 20, 29, 30]), (2, [3, 8, 13, 21, 26]), (6, [1, 8, 17, 24]),
      ]
      var sky: [SatelliteState] = []
      for (gnss, numbers) in systems {
        for (place, number) in numbers.enumerated() {
          let phase = Double(second) / 6000 + Double(place) * 1.7 + Double(gnss)
          let elevation = Int(40 + 42 * sin(phase * 0.9 + Double(number)))
          guard elevation > 0 else { continue }
          let flutter = sin(Double(second) * 0.7 + Double(number)) * 1.5
          let signal = Int(22 + 22 * sin(Double(elevation) * .pi / 180) + flutter)
          let azimuth = (Int(phase * 57) + Int(number) * 37) % 360
          sky.append(
            SatelliteState(
              gnss: gnss, number: number, elevation: elevation, azimuth: azimuth, signal: signal,
              isUsed: elevation >= 10))
        }
      }
      return sky
    }
  }
}
