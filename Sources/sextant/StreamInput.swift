// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The bytes of a receiver's stream in a file, which is plain bytes or a recording.
struct StreamInput: ~Copyable {
  /// The number of bytes of the stream so far.
  var bytes: UInt64 { recorded.count }

  /// Whether the file begins with the byte order mark of UTF-16.
  private(set) var isUTF16 = false

  private let path: String
  private var file: InputFile
  private var recorded = RecordedBytes()
  private var isAtEnd = false
  private let isLive: Bool
  private var unfinished = UnfinishedFrame()
  private var progress: ReadProgress

  /// Opens a file; `-` is standard input.
  ///
  /// - Parameter printsMeanwhile: whether the command prints to standard output while it reads.
  init(opening path: String, printsMeanwhile: Bool = true) throws {
    do throws(FileError) { self.init(path, try InputFile(opening: path), printsMeanwhile) } catch {
      throw CommandFailure(reading: error)
    }
  }

  private init(_ path: String, _ file: consuming InputFile, _ printsMeanwhile: Bool) {
    self.path = path
    isLive = file.size == nil
    progress = ReadProgress(of: path, size: file.size, printsMeanwhile: printsMeanwhile)
    self.file = file
  }

  /// Reads the next part of the file, and passes the bytes of the stream to `body`. Returns false at the end.
  ///
  /// - Parameter pauses: gets the milliseconds between the arrivals of the previous and the following bytes of a recording.
  mutating func next(pauses: (UInt32) -> Void = { _ in }, _ body: (RawSpan) -> Void) throws -> Bool {
    if isAtEnd { return false }
    let isFirst = bytes == 0
    do {
      if let piece = try file.next() {
        progress.advance(by: piece.byteCount)
        if isFirst { isUTF16 = RecordingFault.isUTF16(piece) }
        try recorded.receive(piece, pauses: pauses, body)
      } else {
        isAtEnd = true
        progress.end()
        let torn = try recorded.finish(body)
        if torn > 0 { printNotice("\(path): the last record of \(torn) bytes is incomplete and is skipped") }
        if recorded.damagedBytes > 0 {
          printNotice("\(path): \(recorded.damagedBytes) bytes are damaged and are skipped")
        }
      }
    } catch let error as FileError {
      throw CommandFailure(reading: error)
    } catch let error as RecordingError {
      throw CommandFailure(.noInput, "\(path): \(error)")
    }
    return true
  }

  /// Gives up a false start that holds back frames of a pipe or terminal. In a file they are found at its end.
  mutating func skipFalseStarts(in stream: inout FrameStream, _ body: (borrowing Frame) -> Void) {
    if isLive { stream.skipFalseStarts(if: &unfinished, at: SystemClock.monotonic.nanoseconds, body) }
  }

  /// Refuses a file without a frame in its first bytes.
  ///
  /// - Parameters:
  ///   - counters: the counts of the stream so far.
  ///   - limit: the number of bytes.
  /// - Throws: `CommandFailure`.
  func check(_ counters: StreamCounters, after limit: UInt64 = RecordingFault.longestSearch) throws {
    guard bytes >= limit, let reason = RecordingFault.reason(counters, bytes: bytes, isUTF16: isUTF16) else { return }
    progress.end()
    throw CommandFailure(.badData, "\(path == "-" ? "standard input" : path): \(reason)")
  }
}

/// The progress of reading a long file, as a line on standard error that is overwritten. It is shown only on a terminal, and
/// only where no other output appears on it.
///
/// A report, and a summary, are printed after the file was read; what is printed meanwhile would be mixed with the line.
struct ReadProgress {
  /// A shorter file is read before its line could be read.
  private static let shortest: UInt64 = 64 << 20
  private static let step: UInt64 = 16 << 20
  private static let megabyte: UInt64 = 1_000_000

  private let name: String
  private let size: UInt64?
  private let isShown: Bool
  private var count: UInt64 = 0
  private var next = Self.step

  /// - Parameters:
  ///   - name: the file.
  ///   - size: bytes; nil for a stream.
  ///   - printsMeanwhile: whether the command prints to standard output while it reads.
  init(of name: String, size: UInt64?, printsMeanwhile: Bool) {
    self.name = name == "-" ? "standard input" : name
    self.size = size
    isShown = showsProgress() && !(printsMeanwhile && isTerminal()) && size ?? .max >= Self.shortest
  }

  /// Counts bytes that were read.
  mutating func advance(by bytes: Int) {
    count += UInt64(bytes)
    guard isShown, count >= next else { return }
    next = count + Self.step
    putProgress(Self.text(name, count, of: size))
  }

  /// Removes the line.
  func end() { if isShown, count >= Self.step { clearProgress() } }

  /// The text of the line.
  static func text(_ name: String, _ count: UInt64, of size: UInt64?) -> String {
    guard let size, size > 0 else { return "\(name): \(count / megabyte) MB" }
    return "\(name): \(min(100, count * 100 / size)) %, \(count / megabyte) of \(size / megabyte) MB"
  }
}
