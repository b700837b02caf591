// SPDX-License-Identifier: Apache-2.0

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
