// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes
import func Glibc.cos
import func Glibc.sin

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
