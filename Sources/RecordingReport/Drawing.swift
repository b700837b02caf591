// SPDX-License-Identifier: Apache-2.0

import WireBytes

import func Glibc.cos
import func Glibc.sin

/// A number with a fixed number of digits.
package func fixed(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return "–" }
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let scaled = (abs(value) * scale).rounded()
  let sign = value < 0 && scaled > 0 ? "−" : ""
  let whole = "\(Int(clamping: scaled / scale))"
  if digits == 0 { return sign + whole }
  let part = "\(Int(clamping: scaled - (scaled / scale).rounded(.down) * scale))"
  return sign + whole + "." + String(repeating: "0", count: max(0, digits - part.utf8.count)) + part
}

/// Text in a page: the characters that HTML reserves are escaped, and control characters are replaced.
package func escaped(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    default: result.unicodeScalars.append(scalar.value < 32 ? " " : scalar)
    }
  }
  return result
}

/// Pictures as SVG. Coordinates have a tenth of a unit.
enum Drawing {
  private static func number(_ value: Double) -> String {
    let tenths = Int(clamping: (max(-1e6, min(1e6, value)) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  private static func text(_ x: Double, _ y: Double, _ text: String, anchor: String = "start") -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>"
  }

  /// A chart of the extremes and the mean of each part of the time.
  static func chart(_ series: Series, seconds: Double, digits: Int, label: String) -> String {
    let (left, right, top, bottom) = (52.0, 630.0, 10.0, 150.0)
    var (low, high) = (series.total.minimum, series.total.maximum)
    if high - low < 1e-9 { (low, high) = (low - 1, high + 1) }
    let span = max(seconds, series.width)
    func x(_ seconds: Double) -> Double { left + (right - left) * min(1, seconds / span) }
    func y(_ value: Double) -> Double { bottom - (bottom - top) * (value - low) / (high - low) }
    var band = ""
    var line = ""
    var isDown = false
    for (index, bucket) in series.buckets.enumerated() {
      guard bucket.count > 0 else {
        isDown = false
        continue
      }
      let at = number(x(Double(index) * series.width))
      band += "M\(at) \(number(y(bucket.minimum) + 0.5))V\(number(y(bucket.maximum) - 0.5))"
      line += "\(isDown ? "L" : "M")\(at) \(number(y(bucket.mean)))"
      isDown = true
    }
    return "<svg viewBox=\"0 0 640 172\" role=\"img\" aria-label=\"\(escaped(label))\">"
      + "<path class=\"axis\" d=\"M\(number(left)) \(number(top))V\(number(bottom))H\(number(right))\"/>"
      + "<path class=\"band\" d=\"\(band)\"/><path class=\"line\" d=\"\(line)\"/>"
      + text(left - 4, top + 8, fixed(high, digits), anchor: "end")
      + text(left - 4, bottom, fixed(low, digits), anchor: "end")
      + text(left, bottom + 16, "0") + text(right, bottom + 16, duration(seconds), anchor: "end") + "</svg>"
  }

  /// Azimuth and elevation of the satellites.
  static func sky(_ satellites: [(key: UInt16, value: SatelliteStatistics.Row)]) -> String {
    func place(_ angles: SIMD2<Double>) -> (x: Double, y: Double) {
      let radius = 140 * (90 - angles.y) / 90
      let turn = angles.x * Double.pi / 180
      return (160 + radius * sin(turn), 160 - radius * cos(turn))
    }
    var svg = "<svg viewBox=\"0 0 320 320\" role=\"img\" aria-label=\"Sky plot\">"
    for radius in [140.0, 93.3, 46.7] {
      svg += "<circle class=\"axis\" cx=\"160\" cy=\"160\" r=\"\(number(radius))\"/>"
    }
    svg += text(160, 14, "N", anchor: "middle") + text(310, 164, "E", anchor: "middle")
    svg += text(160, 316, "S", anchor: "middle") + text(10, 164, "W", anchor: "middle")
    for (key, row) in satellites {
      guard let last = row.trail.last else { continue }
      let color = "c\(min(8, key >> 8))"
      var path = ""
      for (index, angles) in row.trail.enumerated() {
        // A trail over the north is not drawn across the picture.
        let isNear = index > 0 && abs(row.trail[index - 1].x - angles.x) < 180
        let (x, y) = place(angles)
        path += "\(isNear ? "L" : "M")\(number(x)) \(number(y))"
      }
      let (x, y) = place(last)
      let radius = 2 + row.signals.mean / 12
      svg += "<path class=\"trail \(color)\" d=\"\(path)\"/>"
      svg += "<circle class=\"\(row.used > 0 ? "dot" : "ring") \(color)\" cx=\"\(number(x))\" cy=\"\(number(y))\""
      svg += " r=\"\(number(radius))\"/>"
      svg += text(x + 6, y - 4, "\(SatelliteStatistics.prefix(UInt8(key >> 8)))\(key & 0xFF)")
    }
    return svg + "</svg>"
  }

  /// Places in metres with a scale, circles around the centre, and a line through them if they are a track.
  static func plane(_ places: [SIMD2<Double>], circles: [Double], isTrack: Bool, label: String) -> String {
    var (low, high) = (SIMD2(repeating: -0.01), SIMD2(repeating: 0.01))
    if isTrack, let first = places.first { (low, high) = (first - 0.01, first + 0.01) }
    for place in places {
      low = pointwiseMin(low, place)
      high = pointwiseMax(high, place)
    }
    for radius in circles {
      low = pointwiseMin(low, SIMD2(repeating: -radius))
      high = pointwiseMax(high, SIMD2(repeating: radius))
    }
    let middle = (low + high) / 2
    let scale = 290 / max(high.x - low.x, high.y - low.y)
    func x(_ place: SIMD2<Double>) -> Double { 160 + (place.x - middle.x) * scale }
    func y(_ place: SIMD2<Double>) -> Double { 160 - (place.y - middle.y) * scale }
    var svg = "<svg viewBox=\"0 0 320 336\" role=\"img\" aria-label=\"\(escaped(label))\">"
    if isTrack {
      var path = ""
      for (index, place) in places.enumerated() {
        path += "\(index == 0 ? "M" : "L")\(number(x(place))) \(number(y(place)))"
      }
      svg += "<path class=\"line\" d=\"\(path)\"/>"
    } else {
      var path = ""
      for place in places { path += "M\(number(x(place))) \(number(y(place)))h.1" }
      svg += "<path class=\"points\" d=\"\(path)\"/>"
    }
    for radius in circles {
      svg += "<circle class=\"circle\" cx=\"\(number(x(SIMD2())))\" cy=\"\(number(y(SIMD2())))\""
      svg += " r=\"\(number(radius * scale))\"/>"
    }
    // A bar of 1, 2 or 5 times a power of ten metres.
    var bar = 0.001
    for factor in (0..<40).map({ [2.0, 2.5, 2.0][$0 % 3] }) where bar * factor * scale < 120 { bar *= factor }
    svg += "<path class=\"axis\" d=\"M12 318h\(number(bar * scale))\"/>"
    let name =
      bar >= 1000 ? "\(fixed(bar / 1000, 0)) km" : bar >= 1 ? "\(fixed(bar, 0)) m" : "\(fixed(bar * 1000, 0)) mm"
    return svg + text(12, 333, name) + "</svg>"
  }

  /// A duration in its two largest units.
  static func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(fixed(seconds, 1)) s" }
    let whole = Int(clamping: min(seconds, 1e15).rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    if whole < 86_400 { return "\(whole / 3600) h \(whole / 60 % 60) min" }
    return "\(whole / 86_400) d \(whole / 3600 % 24) h"
  }
}
