// SPDX-License-Identifier: Apache-2.0

/// Search for names: by a pattern, and by similarity to a name that does not exist.
package enum NameMatching {
  /// Whether a name matches a pattern, regardless of case. `*` matches any characters and `?` one. A pattern without
  /// them matches anywhere in the name.
  static func matches(_ name: String, _ pattern: String) -> Bool {
    let name = Array(name.lowercased().utf8)
    let pattern = Array(pattern.lowercased().utf8)
    let star = UInt8(ascii: "*")
    let one = UInt8(ascii: "?")
    guard pattern.contains(star) || pattern.contains(one) else { return contains(name, pattern) }
    var n = 0
    var p = 0
    // The place to continue at if the part after the last star does not match.
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

  /// Returns up to three names that are most similar to `name`, the best first.
  package static func nearest(to name: String, among names: some Sequence<String>) -> [String] {
    let target = Array(name.lowercased().utf8)
    guard !target.isEmpty else { return [] }
    let most = max(2, target.count / 3)
    var best: [(name: String, score: Int)] = []
    for candidate in names {
      let other = Array(candidate.lowercased().utf8)
      // A part of a name is closer than any misspelling.
      let isPart = contains(other, target)
      // A distance is never below the difference of the lengths: text that is much longer than names costs little.
      guard isPart || abs(target.count - other.count) <= most else { continue }
      let score = isPart ? 0 : distance(target, other)
      guard score <= most else { continue }
      best.append((candidate, score * 64 + abs(other.count - target.count)))
    }
    return best.sorted { ($0.score, $0.name) < ($1.score, $1.name) }.prefix(3).map(\.name)
  }

  /// Returns the end of a message about an unknown name.
  ///
  /// - Parameters:
  ///   - near: the most similar names.
  ///   - nextStep: what the user can do if there are none.
  package static func suggestion(_ near: [String], otherwise nextStep: String) -> String {
    near.isEmpty ? "; \(nextStep)" : "; did you mean \(near.joined(separator: ", "))?"
  }

  private static func contains(_ name: [UInt8], _ part: [UInt8]) -> Bool {
    guard name.count >= part.count else { return false }
    return (0...name.count - part.count).contains { name[$0..<$0 + part.count].elementsEqual(part) }
  }

  /// The number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
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
