// SPDX-License-Identifier: Apache-2.0
import Foundation
import Positioning

/// The direction in which the device points.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let content: Heading
  private let time: Date

  /// Makes an empty object, for mocks in tests, which override what they need.
  public override init() {
    time = Date()
    content = Heading(
      magneticDegrees: -1, trueDegrees: -1, accuracyDegrees: -1, fieldMicrotesla: SIMD3(), timestamp: .init(time))
  }

  init(_ content: Heading) {
    self.content = content
    time = Date(content.timestamp)
  }

  /// 0 ≤ heading < 360.
  open var magneticHeading: CLLocationDirection { content.magneticDegrees }
  /// 0 ≤ heading < 360; negative if unknown.
  open var trueHeading: CLLocationDirection { content.trueDegrees }
  /// Degrees; negative if the heading is not valid.
  open var headingAccuracy: CLLocationDirection { content.accuracyDegrees }
  open var x: CLHeadingComponentValue { content.fieldMicrotesla.x }
  open var y: CLHeadingComponentValue { content.fieldMicrotesla.y }
  open var z: CLHeadingComponentValue { content.fieldMicrotesla.z }
  open var timestamp: Date { time }

  /// A human-readable text (DA-2).
  open override var description: String {
    String(
      format: "magneticHeading %.2f trueHeading %.2f accuracy %.2f x %+.3f y %+.3f z %+.3f @ %@", magneticHeading,
      trueHeading, headingAccuracy, x, y, z, timestamp.description as NSString)
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }
  open class var supportsSecureCoding: Bool { true }

  /// The numbers, keyed by property name.
  private static var numbers: [(key: String, path: WritableKeyPath<Heading, Double>)] {
    [
      ("magneticHeading", \.magneticDegrees), ("trueHeading", \.trueDegrees), ("headingAccuracy", \.accuracyDegrees),
      ("x", \.fieldMicrotesla.x), ("y", \.fieldMicrotesla.y), ("z", \.fieldMicrotesla.z),
    ]
  }

  open func encode(with coder: NSCoder) {
    for (key, path) in Self.numbers { coder.encode(content[keyPath: path], forKey: "CLHeading.\(key)") }
    coder.encode(time.timeIntervalSinceReferenceDate, forKey: "CLHeading.timestamp")
  }

  public required init?(coder: NSCoder) {
    time = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "CLHeading.timestamp"))
    var content = Heading(
      magneticDegrees: 0, trueDegrees: 0, accuracyDegrees: 0, fieldMicrotesla: SIMD3(), timestamp: .init(time))
    for (key, path) in Self.numbers { content[keyPath: path] = coder.decodeDouble(forKey: "CLHeading.\(key)") }
    self.content = content
  }
}
