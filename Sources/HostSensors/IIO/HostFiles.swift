// Small files of /sys, read through the C library: its calls take pointers, which is the reason for `unsafe` here. Each
// pointer is to memory that a value in this file owns, and none leaves the call.
import Glibc

enum HostFiles {
  /// A whole attribute, a page at most; nil when there is none that can be read.
  static func contents(of path: String) -> String? {
    guard let file = try? HostFile(path), let bytes = try? file.bytes() else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// access(2).
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The names in a folder, in no order; none when it cannot be read. opendir(3).
  static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// strerror(3).
  static func reason(_ code: Int32) -> String {
    guard code != 0, let text = unsafe strerror(code) else { return "no number" }
    return unsafe String(cString: text)
  }
}

/// An attribute that is read again and again. sysfs makes its content anew for each read from its start.
final class HostFile: Sendable {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(SensorReader.Failure) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SensorReader.Failure(path: path, code: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// pread(2).
  func bytes() throws(SensorReader.Failure) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe page.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
      if count >= 0 { return Array(page[..<count]) }
      if errno != EINTR { throw SensorReader.Failure(path: path, code: errno) }
    }
  }

  func number() throws(SensorReader.Failure) -> Double {
    let text = String(decoding: try bytes(), as: UTF8.self).split(whereSeparator: \.isWhitespace).first
    guard let number = text.flatMap({ Double($0) }), number.isFinite else {
      throw SensorReader.Failure(path: path, code: 0)
    }
    return number
  }
}
