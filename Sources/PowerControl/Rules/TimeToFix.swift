/// How long a start takes here and now: learned, so that a wake-up is early enough for the promised fix and not earlier.
struct TimeToFix: Sendable {
  /// What was seen, newest last, at most ``capacity``.
  private var seen: [Double] = []
  private let dataSheetSeconds: Double
  private static let capacity = 16

  init(dataSheetSeconds: Double) { self.dataSheetSeconds = dataSheetSeconds }

  mutating func observe(_ seconds: Double) {
    if seen.count == Self.capacity { seen.removeFirst() }
    seen.append(seconds)
  }

  /// Long enough for all but the worst of the last starts: an upper estimate of the 90 % quantile, and never below the data
  /// sheet. A single outlier does not count, two do.
  var seconds: Double {
    var largest = 0.0
    var second = 0.0
    for value in seen {
      if value > largest {
        second = largest
        largest = value
      } else if value > second {
        second = value
      }
    }
    return max(dataSheetSeconds, seen.count > 1 ? second : largest)
  }
}
