import Receiver

/// Finding names: by a pattern, and the nearest ones to a name that does not exist.
enum NameMatching {
  /// Whether a name fits a pattern, whatever the case: `*` stands for any characters and `?` for one; a pattern without
  /// them is looked for anywhere in the name.
  static func fits(_ name: String, _ pattern: String) -> Bool {
    let name = Array(name.lowercased().utf8)
    let pattern = Array(pattern.lowercased().utf8)
    let star = UInt8(ascii: "*")
    let one = UInt8(ascii: "?")
    guard pattern.contains(star) || pattern.contains(one) else { return contains(name, pattern) }
    var n = 0
    var p = 0
    // Where to go on when what follows the last star does not fit.
    var back: (name: Int, pattern: Int)?
    while n < name.count {
      if p < pattern.count, pattern[p] == star {
        back = (n, p + 1)
        p += 1
      } else if p < pattern.count, pattern[p] == one || pattern[p] == name[n] {
        n += 1
        p += 1
      } else if let last = back {
        back = (last.name + 1, last.pattern)
        n = last.name + 1
        p = last.pattern
      } else {
        return false
      }
    }
    while p < pattern.count, pattern[p] == star { p += 1 }
    return p == pattern.count
  }

  /// The names that are most like `name`, the best first, three at the most; none when nothing is like it.
  static func nearest(to name: String, among names: some Sequence<String>) -> [String] {
    let wanted = Array(name.lowercased().utf8)
    guard !wanted.isEmpty else { return [] }
    var best: [(name: String, score: Int)] = []
    for candidate in names {
      let other = Array(candidate.lowercased().utf8)
      // A part of a name is nearer than any misspelling.
      let score = contains(other, wanted) ? 0 : distance(wanted, other)
      guard score <= max(2, wanted.count / 3) else { continue }
      best.append((candidate, score * 64 + abs(other.count - wanted.count)))
    }
    return best.sorted { ($0.score, $0.name) < ($1.score, $1.name) }.prefix(3).map(\.name)
  }

  private static func contains(_ name: [UInt8], _ part: [UInt8]) -> Bool {
    guard name.count >= part.count else { return false }
    return (0...name.count - part.count).contains { name[$0..<$0 + part.count].elementsEqual(part) }
  }

  /// How many letters have to be put in, taken out or exchanged, or change places with their neighbour (optimal string
  /// alignment).
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
      var next = [i + 1]
      for j in b.indices {
        var least = min(next[j] + 1, row[j + 1] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        next.append(least)
      }
      before = row
      row = next
    }
    return row[b.count]
  }
}
