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

/// A satellite in a line: its name, its signal as a number and a bar, elevation and azimuth.
enum SatelliteText {
  /// The cells of all of it, and between two satellites.
  static let (widest, gap) = (35, 3)
  /// The cells of name and signal.
  static let narrowest = 8

  /// The bar has a cell for 4 dBHz.
  private static let longestBar = 14

  /// Writes as much of a satellite as has room.
  static func put(_ satellite: Satellite, into line: inout ScreenLine, width: Int) {
    let start = line.cells
    let signal = Int(satellite.signalDecibelHertz)
    let style: ScreenStyle = satellite.isUsed ? .bold : .faint
    line.put(satellite.name, style)
    line.pad(to: start + 5)
    line.put(ScreenText.padded(signal > 0 ? signal : nil, width: 2), style)
    // Nine cells for the angles.
    let hasAngles = width >= 24
    let bar = min(longestBar, width - narrowest - (hasAngles ? 11 : 0))
    if bar >= 4 {
      line.put(" ", style)
      line.put(self.bar(signal, cells: bar), satellite.isUsed ? [.bold, colour(signal)] : [.faint, colour(signal)])
      line.pad(to: start + narrowest + bar)
    }
    guard hasAngles else { return }
    line.put(" ", style)
    let elevation = satellite.elevationDegrees == Satellite.unknownAngle ? nil : Int(satellite.elevationDegrees)
    line.put(ScreenText.padded(elevation, width: 3) + "°", style)
    line.put(
      ScreenText.padded(satellite.azimuthDegrees < 0 ? nil : Int(satellite.azimuthDegrees), width: 4) + "°", style)
  }

  /// Writes the heads of the columns that `put` fills at this width.
  static func putHeads(into line: inout ScreenLine, width: Int) {
    let start = line.cells
    line.put("Sat C/N0", .faint)
    guard width >= 24 else { return }
    line.pad(to: start + narrowest + min(longestBar, width - narrowest - 11))
    line.put(" Elev   Az", .faint)
  }

  /// A signal that is tracked well is green, one that is lost easily red.
  static func colour(_ signal: Int) -> ScreenStyle { signal >= 35 ? .green : signal >= 25 ? .yellow : .red }

  /// A bar of at most `cells` cells for 0 to 56 dBHz, in quarters of a cell.
  private static func bar(_ signal: Int, cells: Int) -> String {
    let eighths = min(max(0, signal), 56) * 2 * cells / longestBar
    return (0..<cells).reduce(into: "") { text, cell in
      switch eighths - cell * 8 {
      case 8...: text += "█"
      case 6...7: text += "▊"
      case 4...5: text += "▌"
      case 2...3: text += "▎"
      default: break
      }
    }
  }
}
