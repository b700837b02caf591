// SPDX-License-Identifier: Apache-2.0

import ReceiverStream
import WireBytes

import func Glibc.cos
import func Glibc.sin

/// The sky in characters, north up and east at the right: the horizon is the outer circle, 45° of elevation the inner one.
struct SkyPlot {
  let rows: Int
  let columns: Int
  private var cells: [(character: Character, style: ScreenStyle)]
  /// The cells with names.
  private var taken: Set<Int> = []

  /// The smallest plot has four rows from the zenith to the horizon.
  private static let leastRadius = 3

  /// Whether a satellite has a place in the sky.
  static func hasDirection(_ satellite: Satellite) -> Bool {
    satellite.elevationDegrees >= 0 && satellite.azimuthDegrees >= 0
  }

  /// Creates a plot that fits into these rows and columns. A cell is twice as high as wide.
  ///
  /// - Returns: nil if there is not enough room.
  init?(rows: Int, columns: Int, _ satellites: [Satellite]) {
    let radius = min((rows - 1) / 2, (columns - 1) / 4)
    guard radius >= Self.leastRadius else { return nil }
    self.rows = 2 * radius + 1
    self.columns = 4 * radius + 1
    cells = Array(repeating: (" ", []), count: (2 * radius + 1) * (4 * radius + 1))
    for elevation in [0.0, 45] {
      for step in 0..<24 * radius {
        let place = place(elevation: elevation, azimuth: Double(step) * 15 / Double(radius))
        draw("·", .faint, place.row, place.column)
      }
    }
    draw("+", .faint, radius, 2 * radius)
    draw("N", .bold, 0, 2 * radius)
    draw("E", .bold, radius, 4 * radius)
    draw("S", .bold, 2 * radius, 2 * radius)
    draw("W", .bold, radius, 0)
    // Used and strong satellites get their places first.
    let order = satellites.filter(Self.hasDirection).sorted {
      ($0.isUsed ? 1 : 0, $0.signalDecibelHertz) > ($1.isUsed ? 1 : 0, $1.signalDecibelHertz)
    }
    for satellite in order { add(satellite) }
  }

  /// Writes a row into a line.
  func put(row: Int, into line: inout ScreenLine) {
    for cell in cells[row * columns..<(row + 1) * columns] { line.put(String(cell.character), cell.style) }
  }

  /// Writes the name of a satellite at its place, or up to two cells beside it if there is another name. Without room it is left
  /// out.
  private mutating func add(_ satellite: Satellite) {
    let name = satellite.name
    let place = place(elevation: Double(satellite.elevationDegrees), azimuth: Double(satellite.azimuthDegrees))
    let signal = Int(satellite.signalDecibelHertz)
    let style: ScreenStyle =
      satellite.isUsed ? [.bold, SatelliteText.colour(signal)] : signal > 0 ? SatelliteText.colour(signal) : .faint
    for (right, down) in [
      (0, 0), (-1, 0), (1, 0), (-2, 0), (2, 0), (0, -1), (0, 1), (-2, -1), (2, -1), (-2, 1), (2, 1),
    ] {
      let row = place.row + down
      let first = min(max(0, place.column - 1 + right), columns - name.count)
      guard (0..<rows).contains(row), isFree(row, first..<first + name.count) else { continue }
      for (index, character) in name.enumerated() {
        draw(character, style, row, first + index)
        taken.insert(row * columns + first + index)
      }
      return
    }
  }

  /// Whether there is no name in some cells of a row.
  private func isFree(_ row: Int, _ columns: Range<Int>) -> Bool {
    columns.allSatisfy { !taken.contains(row * self.columns + $0) }
  }

  private func place(elevation: Double, azimuth: Double) -> (row: Int, column: Int) {
    let radius = Double((rows - 1) / 2)
    let distance = radius * (90 - elevation) / 90
    let turn = azimuth * .pi / 180
    return (
      Int(clamping: (radius - distance * cos(turn)).rounded()),
      Int(clamping: (2 * radius + 2 * distance * sin(turn)).rounded())
    )
  }

  private mutating func draw(_ character: Character, _ style: ScreenStyle, _ row: Int, _ column: Int) {
    cells[row * columns + column] = (character, style)
  }
}
