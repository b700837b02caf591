// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import SystemPackage

/// Reads a sensor. A read can take as long as a measurement of the sensor, up to a few hundred milliseconds at its
/// slowest rate.
package struct SensorReader: Sendable {
  /// The sensor does not answer: it was removed, or its bus has a fault.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package var path: String
    /// nil if the content is not a number.
    package var errno: Errno?

    package var description: String {
      "\(path) cannot be read (\(errno?.description ?? "no number")): is the sensor's driver still bound, and may this user read it?"
    }
  }

  package let sensor: TriaxialSensor
  private let files: [AttributeFile]

  /// - Throws: ``Failure`` if one of its files cannot be opened.
  package init(_ found: SensorTree.Found) throws(Failure) {
    sensor = found.sensor
    var files: [AttributeFile] = []
    do throws(FileError) {
      for attribute in found.sensor.rawAttributes { files.append(try AttributeFile("\(found.path)/\(attribute)")) }
    } catch {
      throw Failure(path: error.path, errno: error.errno)
    }
    self.files = files
  }

  /// Returns a measurement, microtesla or m/s², along the device's axes.
  package func read() throws(Failure) -> SIMD3<Double> {
    var raw = SIMD3<Double>()
    for (axis, file) in files.enumerated() { raw[axis] = try Self.number(file) }
    return sensor.value(raw: raw)
  }

  private static func number(_ file: AttributeFile) throws(Failure) -> Double {
    let text: String
    do throws(FileError) { text = try file.read() } catch { throw Failure(path: error.path, errno: error.errno) }
    let word = text.split(whereSeparator: \.isWhitespace).first
    guard let number = word.flatMap({ Double($0) }), number.isFinite else { throw Failure(path: file.path, errno: nil) }
    return number
  }
}
