// SPDX-License-Identifier: Apache-2.0

/// A symmetric matrix of three rows: the scatter of points, and its main axes.
struct SymmetricMatrix {
  private var rows = [SIMD3<Double>](repeating: SIMD3(), count: 3)

  /// Adds q qᵀ.
  mutating func add(_ q: SIMD3<Double>) { for row in 0..<3 { rows[row] += q * q[row] } }

  /// Returns eigenvectors of length 1 with their values, the largest first, using Jacobi rotations, which converge in a
  /// few sweeps for three rows.
  func axes() -> [(vector: SIMD3<Double>, value: Double)] {
    var matrix = rows
    var vectors = [SIMD3(1.0, 0, 0), SIMD3(0, 1.0, 0), SIMD3(0, 0, 1.0)]
    for _ in 0..<12 {
      for (p, q) in [(0, 1), (0, 2), (1, 2)] where abs(matrix[p][q]) > 1e-300 {
        let theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q])
        let tangent = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
        let cosine = 1 / (tangent * tangent + 1).squareRoot()
        let sine = tangent * cosine
        // Jᵀ M J: rows, then columns.
        let (rowP, rowQ) = (matrix[p], matrix[q])
        matrix[p] = rowP * cosine - rowQ * sine
        matrix[q] = rowP * sine + rowQ * cosine
        for row in 0..<3 {
          let (atP, atQ) = (matrix[row][p], matrix[row][q])
          matrix[row][p] = atP * cosine - atQ * sine
          matrix[row][q] = atP * sine + atQ * cosine
        }
        let (vectorP, vectorQ) = (vectors[p], vectors[q])
        vectors[p] = vectorP * cosine - vectorQ * sine
        vectors[q] = vectorP * sine + vectorQ * cosine
      }
    }
    return (0..<3).map { (vectors[$0], matrix[$0][$0]) }.sorted { $0.value > $1.value }
  }
}
