/// Asks a sensor for what it measures now. A reading can take as long as the sensor needs for a measurement, up to some
/// hundred milliseconds at its slowest rate.
public struct SensorReader: Sendable {
  /// The sensor did not answer: it is gone, or its bus has a fault.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    public var path: String
    /// errno; 0 for an answer that is no number.
    public var code: Int32

    public var description: String {
      "\(path) cannot be read (\(HostFiles.reason(code))): is the sensor's driver still bound, and may this user read it?"
    }
  }

  public let sensor: TriaxialSensor
  private let files: [HostFile]

  /// - Throws: when one of its files cannot be opened.
  public init(_ found: SensorTree.Found) throws(Failure) {
    sensor = found.sensor
    var files: [HostFile] = []
    for attribute in found.sensor.rawAttributes { files.append(try HostFile("\(found.path)/\(attribute)")) }
    self.files = files
  }

  /// Microtesla or m/s², along the device's axes.
  public func read() throws(Failure) -> SIMD3<Double> {
    var raw = SIMD3<Double>()
    for (axis, file) in files.enumerated() { raw[axis] = try file.number() }
    return sensor.value(raw: raw)
  }
}
