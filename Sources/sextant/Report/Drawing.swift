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

/// Pictures as SVG. Coordinates have a resolution of a tenth of a unit.
enum Drawing {
  private static func number(_ value: Double) -> String {
    let tenths = Int(clamping: (max(-1e6, min(1e6, value)) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  private static func text(_ x: Double, _ y: Double, _ text: String, anchor: String = "start") -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>"
  }

  /// A label of a vertical axis at its value.
  struct Tick: Equatable {
    var value: Double
    var label: String
  }

  /// Round values that enclose a range, at most six.
  ///
  /// - Parameter digits: the digits of the values; with 0 the steps are integers.
  static func ticks(from low: Double, to high: Double, digits: Int) -> [Tick] {
    var (low, high) = (low, high)
    if high - low < 1e-9 {
      // A constant is drawn inside of the range.
      let margin = max(0.1, abs(high) / 10)
      (low, high) = (low >= 0 ? max(0, low - margin) : low - margin, high + margin)
    }
    let range = max(high - low, digits == 0 ? 1 : 0.01)
    var (step, factors) = (0.001, 0)
    // A range of three steps that starts between two values spans four; the fifth is a reserve for rounding.
    while range / step > 3, factors < 60 {
      step *= [2.0, 2.5, 2.0][factors % 3]
      factors += 1
    }
    if digits == 0 { step = max(1, step) }
    let first = (low / step).rounded(.down)
    let count = max(1, Int(clamping: (high / step).rounded(.up) - first))
    let places = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3
    return (0...min(count, 5)).map { number in
      let value = (first + Double(number)) * step
      return Tick(value: value, label: fixed(value, places))
    }
  }

  /// A chart of the extremes and the mean of each part of the time. Its labels are text next to the picture: their size
  /// does not depend on the width.
  static func chart(_ series: Series, ticks: [Tick], seconds: Double, label: String) -> String {
    let (low, high) = (ticks[0].value, ticks[ticks.count - 1].value)
    let span = max(seconds, series.width)
    func x(_ seconds: Double) -> Double { 600 * min(1, seconds / span) }
    func y(_ value: Double) -> Double { 2 + 116 * (1 - (value - low) / (high - low)) }
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
      // A value between two gaps is a short stroke.
      if !isDown { line += "h.1" }
      isDown = true
    }
    let grid = ticks.map { "M0 \(number(y($0.value)))H600" }.joined()
    let widest = ticks.map(\.label).max { $0.count < $1.count } ?? ""
    let labels = ticks.map { "<span style=\"top:\(fixed(y($0.value) / 1.2, 1))%\">\(escaped($0.label))</span>" }
    return "<div class=\"chart\"><div class=\"y\"><b>\(escaped(widest))</b>\(labels.joined())</div>"
      + "<svg viewBox=\"0 0 600 120\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\(escaped(label))\">"
      + "<path class=\"axis\" d=\"\(grid)\"/><path class=\"band\" d=\"\(band)\"/>"
      + "<path class=\"line\" d=\"\(line)\"/></svg>"
      + "<div class=\"x\"><span>0</span><span>\(duration(seconds / 2))</span>"
      + "<span>\(duration(seconds))</span></div></div>"
  }

  /// Azimuth and elevation of the satellites. A satellite without room for its name has it only as a tooltip.
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
    svg += "<path class=\"axis\" d=\"M160 20V300M20 160H300\"/>"
    svg += text(160, 14, "N", anchor: "middle") + text(310, 164, "E", anchor: "middle")
    svg += text(160, 316, "S", anchor: "middle") + text(10, 164, "W", anchor: "middle")
    var names = ""
    for dot in skyDots(satellites.map { ($0.key, $0.value.trail.last.map(place), $0.value) }) {
      let color = "c\(min(8, dot.key >> 8))"
      var path = ""
      for (index, angles) in dot.row.trail.enumerated() {
        // A trail that crosses north is not drawn across the picture.
        let isNear = index > 0 && abs(dot.row.trail[index - 1].x - angles.x) < 180
        let (x, y) = place(angles)
        path += "\(isNear ? "L" : "M")\(number(x)) \(number(y))"
      }
      svg += "<path class=\"trail \(color)\" d=\"\(path)\"/>"
      svg += "<circle class=\"\(dot.row.used > 0 ? "dot" : "ring") \(color)\""
      svg += " cx=\"\(number(dot.x))\" cy=\"\(number(dot.y))\""
      svg += " r=\"\(number(dot.radius))\"><title>\(dot.name)</title></circle>"
      if let label = dot.label { names += text(label.left, label.bottom - 2, dot.name) }
    }
    return svg + names + "</svg>"
  }

  /// A satellite in the picture of the sky, and the area of its name if there is room.
  struct SkyDot {
    var key: UInt16
    var name: String
    var x, y, radius: Double
    var label: LabelPlacement.Rectangle?
    var row: SatelliteStatistics.Row
  }

  /// Used and strong satellites get their labels first.
  static func skyDots(_ places: [(key: UInt16, place: (x: Double, y: Double)?, row: SatelliteStatistics.Row)])
    -> [SkyDot]
  {
    var dots = places.compactMap { key, place, row in
      place.map { place in
        SkyDot(
          key: key, name: SatelliteStatistics.name(system: UInt8(key >> 8), number: UInt8(key & 0xFF)), x: place.x,
          y: place.y,
          radius: 2 + row.signals.mean / 12, row: row)
      }
    }.sorted { ($0.row.used > 0 ? 1 : 0, $0.row.signals.mean) > ($1.row.used > 0 ? 1 : 0, $1.row.signals.mean) }
    let compass = [(160.0, 10.0), (310, 160), (160, 312), (10, 160)].map { x, y in
      LabelPlacement.Rectangle(left: x - 6, top: y - 7, right: x + 6, bottom: y + 7)
    }
    var placement = LabelPlacement(
      area: LabelPlacement.Rectangle(left: 0, top: 0, right: 320, bottom: 320),
      dots: compass
        + dots.map { dot in
          LabelPlacement.Rectangle(
            left: dot.x - dot.radius, top: dot.y - dot.radius, right: dot.x + dot.radius, bottom: dot.y + dot.radius)
        })
    for index in dots.indices {
      let dot = dots[index]
      // A character of 11 pixels is at most 7.5 wide.
      dots[index].label = placement.place(
        x: dot.x, y: dot.y, radius: dot.radius, width: 7.5 * Double(dot.name.utf8.count), height: 11)
    }
    return dots
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
    svg += "<path class=\"bar\" d=\"M12 314v4h\(number(bar * scale))v-4\"/>"
    let name =
      bar >= 1000 ? "\(fixed(bar / 1000, 0)) km" : bar >= 1 ? "\(fixed(bar, 0)) m" : "\(fixed(bar * 1000, 0)) mm"
    return svg + text(12, 332, name) + "</svg>"
  }

  /// A duration in its two largest units.
  /// A part of an axis; a dash if its epochs have no times, because 0 would be wrong.
  static func duration(_ seconds: Double, on axis: RecordingAxis) -> String {
    axis.hasTime ? duration(seconds) : "–"
  }

  static func duration(_ seconds: Double) -> String {
    guard seconds >= 60 else { return "\(fixed(seconds, 1)) s" }
    let whole = Int(clamping: min(seconds, 1e15).rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    if whole < 86_400 { return "\(whole / 3600) h \(whole / 60 % 60) min" }
    return "\(whole / 86_400) d \(whole / 3600 % 24) h"
  }
}

/// Finds free places for the labels next to the dots of a picture, so that no label covers another one or a dot.
struct LabelPlacement {
  struct Rectangle: Equatable {
    var left, top, right, bottom: Double

    func overlaps(_ other: Rectangle) -> Bool {
      left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }
  }

  /// The area of the picture.
  let area: Rectangle
  private(set) var rectangles: [Rectangle]

  /// - Parameter dots: the rectangles of everything that labels must not cover.
  init(area: Rectangle, dots: [Rectangle]) {
    self.area = area
    rectangles = dots
  }

  /// Reserves a place of this size next to a dot: right, left, above, below, then the corners.
  ///
  /// - Returns: the rectangle of the label; nil if every place is covered.
  mutating func place(x: Double, y: Double, radius: Double, width: Double, height: Double) -> Rectangle? {
    let gap = radius + 2
    let (half, middle, diagonal) = (width / 2, height / 2, gap * 0.7)
    let corners = [
      (x + gap, y - middle), (x - gap - width, y - middle), (x - half, y - gap - height), (x - half, y + gap),
      (x + diagonal, y - diagonal - height), (x + diagonal, y + diagonal),
      (x - diagonal - width, y - diagonal - height), (x - diagonal - width, y + diagonal),
    ]
    for (left, top) in corners {
      let rectangle = Rectangle(left: left, top: top, right: left + width, bottom: top + height)
      guard rectangle.left >= area.left, rectangle.right <= area.right, rectangle.top >= area.top,
        rectangle.bottom <= area.bottom,
        !rectangles.contains(where: { $0.overlaps(rectangle) })
      else { continue }
      rectangles.append(rectangle)
      return rectangle
    }
    return nil
  }
}
