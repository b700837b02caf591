// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import WireBytes

/// Decides when written bytes are synced to the disk, and when the next file begins.
public struct RecordingPlan: Sendable {
  /// The condition that ends a file.
  public enum Rotation: Equatable, Sendable {
    /// It has this size, bytes.
    case bytes(UInt64)
    /// This time has passed since its first byte.
    case time(Milliseconds)
  }

  /// The maximum time that written bytes wait for the sync. A loss of power loses at most this.
  public static let longestUnsynced = Milliseconds(1000)

  private let rotation: Rotation?
  private var firstUnsynced: Instant?
  private var fileBytes: UInt64 = 0
  private var fileStart: Instant?

  /// - Parameter rotation: nil for a single file.
  public init(rotation: Rotation?) { self.rotation = rotation }

  /// Continues a file of this size.
  public mutating func resume(atByte bytes: UInt64) { fileBytes = bytes }

  /// Records bytes that were written to the file.
  public mutating func wrote(_ count: Int, at now: Instant) {
    fileBytes += UInt64(count)
    if firstUnsynced == nil { firstUnsynced = now }
    if fileStart == nil { fileStart = now }
  }

  /// The time at which `isSyncDue` becomes true.
  public var deadline: Instant? { firstUnsynced.map { $0 + Self.longestUnsynced } }

  public func isSyncDue(at now: Instant) -> Bool { deadline.map { now >= $0 } ?? false }

  /// Records that a sync was started.
  public mutating func synced() { firstUnsynced = nil }

  /// Whether the next bytes belong to a new file. A full file stays open until bytes arrive, so that a silent receiver
  /// does not leave empty files.
  public func isRotationDue(at now: Instant) -> Bool {
    switch rotation {
    case nil: false
    case .bytes(let limit)?: fileBytes >= limit
    case .time(let limit)?: fileStart.map { now >= $0 + limit } ?? false
    }
  }

  /// Records that a new file was started.
  public mutating func rotated() {
    fileBytes = 0
    fileStart = nil
    firstUnsynced = nil
  }
}

extension RecordingPlan.Rotation {
  /// Reads a size such as `500k`, `100M` or `2G` (powers of 1000), or a time such as `90s`, `15m`, `1h` or `1d`; nil
  /// for anything else and for zero.
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

/// The names of the finished files of a recording: `FILE.1`, `FILE.2` and so on. The newest has the highest number, so
/// that one rename finishes a file and no other file changes.
public struct RecordingNames: Sendable {
  private var numbers: [UInt64]
  private let keep: Int?

  /// - Parameters:
  ///   - name: the name of the file, without its folder.
  ///   - present: the names in the folder.
  ///   - keep: the number of finished files to keep; nil for all.
  public init(of name: String, among present: [String], keep: Int?) {
    self.keep = keep
    numbers = present.compactMap { other in
      // A file of another name, though it is equal as text, is not deleted.
      guard let digits = other.after(name + ".") else { return nil }
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != "0" else { return nil }
      return UInt64(digits)
    }
    numbers.sort()
  }

  /// Returns the number of the file that is finished now.
  public mutating func finish() -> UInt64 {
    let number = (numbers.last ?? 0) + 1
    numbers.append(number)
    return number
  }

  /// Returns the numbers of the files beyond those to keep, oldest first, each once.
  public mutating func surplus() -> [UInt64] {
    guard let keep, numbers.count > keep else { return [] }
    let surplus = Array(numbers.prefix(numbers.count - keep))
    numbers.removeFirst(surplus.count)
    return surplus
  }
}
