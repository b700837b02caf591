// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The header record of a recording: lines of text, the first with the format and its version.
public struct RecordingHeader: Equatable, Sendable {
  /// The version that this module writes, and the highest that it reads.
  public static let currentVersion = 1

  public var version = RecordingHeader.currentVersion
  /// The path of the device.
  public var device: String
  /// The rate of the line when it was opened, baud; nil if it has none.
  public var baud: UInt32?
  /// The number of bytes of the stream in earlier files of a rotated recording.
  public var earlierBytes: UInt64 = 0

  public init(device: String, baud: UInt32?, earlierBytes: UInt64 = 0) {
    self.device = device
    self.baud = baud
    self.earlierBytes = earlierBytes
  }

  private static let title = "sextant recording "

  /// The text of the payload.
  public var text: String {
    // A line break in a path would start a new header line.
    let line = device.map { $0.isNewline ? "?" : $0 }
    var text = "\(Self.title)\(version)\ndevice=\(String(line.prefix(4096)))\n"
    if let baud { text += "baud=\(baud)\n" }
    if earlierBytes > 0 { text += "earlier-bytes=\(earlierBytes)\n" }
    return text
  }

  /// Reads a header; nil if the first line does not belong to a recording. Unknown lines are skipped.
  public init?(_ text: String) {
    let lines = text.parts(at: "\n", omittingEmpty: false)
    guard let first = lines.first, first.begins(with: Self.title),
      let version = Int(first.after(Self.title) ?? "")
    else { return nil }
    self.init(device: "", baud: nil)
    self.version = version
    for line in lines.dropFirst() {
      guard let equals = line.position(of: "=") else { continue }
      let value = line[line.utf8.index(after: equals)...]
      switch line[..<equals] {
      case "device": device = String(value)
      case "baud": baud = UInt32(value)
      case "earlier-bytes": earlierBytes = UInt64(value) ?? 0
      default: break
      }
    }
  }
}

/// The reason why a recording cannot be read, with the next step.
public enum RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file does not start like a recording.
  case notARecording
  /// The file has a later version of the format.
  case newerVersion(Int)

  public var description: String {
    switch self {
    case .notARecording:
      "is not a recording of sextant; choose another name, or read it as plain bytes with `sextant decode`"
    case .newerVersion(let version):
      "is a recording in version \(version) of the format, and this program reads versions up to "
        + "\(RecordingHeader.currentVersion); read it with a later version of sextant"
    }
  }
}
