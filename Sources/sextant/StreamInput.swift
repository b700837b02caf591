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
  /// Whether frames are wanted before the end of a pipe or terminal.
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
    isLive = file.size == nil && printsMeanwhile
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

  /// Passes the frames of the file to `frame`, to its end. A false start that holds back frames of a pipe or terminal is given up; in
  /// a file they are found at its end.
  ///
  /// - Parameters:
  ///   - pauses: gets the milliseconds of a pause of a recording, unless it is inside a frame.
  ///   - part: called after the frames of each part of the file.
  /// - Returns: the counts of the stream, for ``check(_:after:)``.
  /// - Throws: `CommandFailure`, also if the first bytes have no frame.
  mutating func read(
    _ protocols: Frame.Protocols = .ofReceivers, pauses: (UInt32) -> Void = { _ in },
    frame: (borrowing Frame) -> Void, part: () throws -> Void = {}
  ) throws -> StreamCounters {
    var stream = FrameStream(protocols: protocols)
    while try next(pauses: { if !stream.isInsideFrame { pauses($0) } }, { stream.receive($0, frame) }) {
      if isLive { stream.skipFalseStarts(if: &unfinished, at: SystemClock.monotonic.nanoseconds, frame) }
      try part()
      try check(stream.counters, after: RecordingFault.longestSearch)
    }
    stream.finish(frame)
    return stream.counters
  }

  /// Refuses a file without any frame, which is not a recording of a receiver.
  ///
  /// - Parameters:
  ///   - counters: the counts of the stream so far.
  ///   - limit: the number of bytes below which the file is not refused.
  /// - Throws: `CommandFailure`.
  func check(_ counters: StreamCounters, after limit: UInt64 = 0) throws {
    guard bytes >= limit, let reason = RecordingFault.reason(counters, bytes: bytes, isUTF16: isUTF16) else { return }
    progress.end()
    throw CommandFailure(.badData, "\(name): \(reason)")
  }

  /// The name of the file in messages.
  var name: String { path == "-" ? "standard input" : path }
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
