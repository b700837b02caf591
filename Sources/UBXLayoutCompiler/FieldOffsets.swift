// SPDX-License-Identifier: Apache-2.0

/// The offset of each item of a message: a number, or an expression after a group of unknown count.
struct FieldOffsets {
  private let message: Message
  private var starts: [String] = []
  private var fixedStarts: [Int?] = []

  init(_ message: Message) {
    self.message = message
    var fixed = 0
    var variable: [(count: String, size: Int)] = []
    for item in message.items {
      starts.append(variable.reduce(String(fixed)) { "place(\($0), \($1.count), \($1.size))" })
      fixedStarts.append(variable.isEmpty ? fixed : nil)
      switch item {
      case .field(let field): fixed += field.size
      case .group(let group):
        if case .fixed(let n) = group.times {
          fixed += n * group.size
        } else {
          variable.append(("\(lowerFirst(group.swiftName))Count", group.size))
        }
      }
    }
  }

  /// The offset of item `index`, as an expression over the reader.
  func start(_ index: Int) -> String { starts[index] }

  /// The offset of item `index` for a writer, which has no counts: nil after a group of unknown count.
  func writerStart(_ index: Int) -> Int? { fixedStarts[index] }

  /// Whether item `index` is a group whose count is in the message.
  func isVariable(_ index: Int) -> Bool {
    guard case .group(let group) = message.items[index] else { return false }
    if case .fixed = group.times { return false }
    return true
  }

  /// Whether a payload can be too short for the field at `index`.
  func isOptional(_ index: Int) -> Bool {
    guard case .field(let field) = message.items[index], field.count != .rest else { return false }
    guard let start = fixedStarts[index] else { return message.minimum != nil }
    return start + field.size > message.minimumLength
  }

  /// The place of item `index`, a group whose count is in the message: start, count and size of its blocks.
  func blocks(_ index: Int) -> String {
    guard case .group(let group) = message.items[index] else { return "\(starts[index]), 0, 0" }
    return "\(starts[index]), \(lowerFirst(group.swiftName))Count, \(group.size)"
  }

  /// The expression of a group's count.
  func count(_ index: Int) -> String {
    guard case .group(let group) = message.items[index] else { return "0" }
    switch group.times {
    case .field(let name): return "Int(\(name))"
    case .bits(let field, let bits): return "Int(\(field)_\(bits.name))"
    case .fixed(let n): return String(n)
    case .rest: return "payload.blockCount(\(starts[index]), \(group.size))"
    }
  }
}
