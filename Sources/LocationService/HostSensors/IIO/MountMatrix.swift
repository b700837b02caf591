// SPDX-License-Identifier: Apache-2.0

/// The rotation of a sensor in its device: three rows by which the sensor's vector is multiplied (mount-matrix.txt of
/// the kernel's device tree bindings). In the device's frame x points to the right, y to the top, z out of the front.
package struct MountMatrix: Hashable, Sendable {
  private let first, second, third: SIMD3<Double>

  /// The sensor's axes are the device's axes.
  package static let identity = MountMatrix(SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))

  init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
    self.first = first
    self.second = second
    self.third = third
  }

  /// Reads the text of `in_mount_matrix`: `a, b, c; d, e, f; g, h, i`.
  ///
  /// - Returns: nil for another count of numbers, or for a volume that is not about 1 (−1 for a mirrored sensor, as in
  ///   some drivers).
  package init?(parsing text: some StringProtocol) {
    let rows = text.split(separator: ";").map { row in
      row.split(separator: ",").map { Double(String($0.filter { !$0.isWhitespace })) }
    }
    guard rows.count == 3, rows.allSatisfy({ $0.count == 3 }) else { return nil }
    let vectors = rows.compactMap { row -> SIMD3<Double>? in
      guard let x = row[0], let y = row[1], let z = row[2] else { return nil }
      return SIMD3(x, y, z)
    }
    guard vectors.count == 3 else { return nil }
    self.init(vectors[0], vectors[1], vectors[2])
    let volume = abs(first.dot(second.cross(third)))
    guard volume > 0.8, volume < 1.25 else { return nil }
  }

  /// Returns the device's vector for a vector of the sensor.
  package func applied(to vector: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(first.dot(vector), second.dot(vector), third.dot(vector))
  }
}

extension SIMD3<Double> {
  func dot(_ other: Self) -> Double { (self * other).sum() }
  func cross(_ other: Self) -> Self {
    Self(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }
  var length: Double { dot(self).squareRoot() }
}
