import MonotonicTime

/// Decides when what was written is brought to the disk for good, and when the next file is begun.
public struct RecordingPlan: Sendable {
  /// When a file is full.
  public enum Rotation: Equatable, Sendable {
    /// At this many bytes of the file.
    case bytes(UInt64)
    /// When this time has gone by since its first byte.
    case time(Milliseconds)
  }

  /// A loss of power takes at most what was received in this time before it.
  public static let longestUnsynced = Milliseconds(1000)

  private let rotation: Rotation?
  private var firstUnsynced: Instant?
  private var fileBytes: UInt64 = 0
  private var fileStart: Instant?

  /// - Parameter rotation: nil for one file without end.
  public init(rotation: Rotation?) { self.rotation = rotation }

  /// The file that is gone on with has so many bytes already.
  public mutating func goesOn(behind bytes: UInt64) { fileBytes = bytes }

  /// Bytes were written to the file.
  public mutating func wrote(_ count: Int, at now: Instant) {
    fileBytes += UInt64(count)
    if firstUnsynced == nil { firstUnsynced = now }
    if fileStart == nil { fileStart = now }
  }

  /// When `isSyncDue` becomes true.
  public var deadline: Instant? { firstUnsynced.map { $0 + Self.longestUnsynced } }

  public func isSyncDue(at now: Instant) -> Bool { deadline.map { now >= $0 } ?? false }

  /// What was written is on its way to the disk.
  public mutating func synced() { firstUnsynced = nil }

  /// Whether the next bytes belong into a new file. A file that is full stays the one until there are bytes: a silent
  /// receiver leaves no empty files.
  public func isRotationDue(at now: Instant) -> Bool {
    switch rotation {
    case nil: false
    case .bytes(let limit)?: fileBytes >= limit
    case .time(let limit)?: fileStart.map { now >= $0 + limit } ?? false
    }
  }

  /// A new file was begun.
  public mutating func rotated() {
    fileBytes = 0
    fileStart = nil
    firstUnsynced = nil
  }
}

extension RecordingPlan.Rotation {
  /// Reads a size such as `500k`, `100M` or `2G` (powers of 1000), or a time such as `90s`, `15m`, `1h` or `1d`; nil for
  /// anything else, and for nothing.
  public init?(_ text: String) {
    guard let unit = text.last, let number = UInt64(text.dropLast()), number > 0, number < 1_000_000_000 else {
      return nil
    }
    switch unit {
    case "k", "K": self = .bytes(number * 1000)
    case "M": self = .bytes(number * 1_000_000)
    case "G": self = .bytes(number * 1_000_000_000)
    case "s": self = .time(Milliseconds(number * 1000))
    case "m": self = .time(Milliseconds(number * 60_000))
    case "h": self = .time(Milliseconds(number * 3_600_000))
    case "d": self = .time(Milliseconds(number * 86_400_000))
    default: return nil
    }
  }
}

/// The names of a recording's finished files: `FILE.1`, `FILE.2` and so on, counted up. The newest has the highest
/// number, so that one rename finishes a file and no other is touched.
public struct RecordingNames: Sendable {
  private var numbers: [UInt64]
  private let keep: Int?

  /// - Parameters:
  ///   - name: the file's own name, without its folder.
  ///   - present: the names in the folder.
  ///   - keep: how many finished files stay; nil for all.
  public init(of name: String, among present: [String], keep: Int?) {
    self.keep = keep
    numbers = present.compactMap { other in
      guard other.hasPrefix(name + ".") else { return nil }
      let digits = other.dropFirst(name.utf8.count + 1)
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0" else { return nil }
      return UInt64(digits)
    }
    numbers.sort()
  }

  /// The number of the file that is finished now.
  public mutating func finish() -> UInt64 {
    let number = (numbers.last ?? 0) + 1
    numbers.append(number)
    return number
  }

  /// The numbers of the files that are beyond those to keep, oldest first; each is told once.
  public mutating func surplus() -> [UInt64] {
    guard let keep, numbers.count > keep else { return [] }
    let surplus = Array(numbers.prefix(numbers.count - keep))
    numbers.removeFirst(surplus.count)
    return surplus
  }
}
