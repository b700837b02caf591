/// Small files that are read as a whole and replaced as a whole: a configuration, what is kept of a receiver.
///
/// The calls of the C library take pointers, which is the reason for `unsafe` here. Each pointer is to memory that a value
/// in this file owns, and none leaves the call.
import Glibc

/// Why a file could not be read or written.
public struct FileProblem: Error, Sendable, Equatable, CustomStringConvertible {
  public var path: String
  /// The errno that the system left.
  public var code: Int32
  /// What the system says of it.
  public var reason: String

  init(_ path: String, _ code: Int32) {
    self.path = path
    self.code = code
    reason = if let text = unsafe strerror(code) { unsafe String(cString: text) } else { "error \(code)" }
  }

  /// A line for people, with the cure.
  public var description: String { "\(path): \(reason); \(Self.cure(code))" }

  /// What to do when a file or folder cannot be written or read, by the errno.
  public static func cure(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "make room, or name another folder"
    case EROFS, EACCES, EPERM: "name a folder of yours that can be written"
    case ENOENT: "check the name, and that its folder is there"
    case ENOTDIR: "a part of the path is no folder; check the name"
    case EISDIR: "it is a folder; name a file"
    default: "check the path and the disk"
    }
  }

  public var isFolder: Bool { code == EISDIR }
  public var isMissing: Bool { code == ENOENT || code == ENOTDIR }
  public var isForbidden: Bool { code == EACCES || code == EPERM }
}

public enum WholeFile {
  /// The text of a file; bytes that are no UTF-8 are replaced.
  ///
  /// - Parameters:
  ///   - path: the file; `-` is standard input.
  ///   - limit: bytes that are read at the most; a longer file is a problem (EFBIG).
  public static func read(_ path: String, limit: Int = 1 << 20) throws(FileProblem) -> String {
    String(decoding: try readBytes(path, limit: limit), as: UTF8.self)
  }

  /// Reads the bytes of a file; see `read`.
  public static func readBytes(_ path: String, limit: Int = 1 << 20) throws(FileProblem) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileProblem(path, errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      if count < 0 {
        if errno == EINTR { continue }
        throw FileProblem(path, errno)
      }
      bytes += buffer[..<count]
      if bytes.count > limit { throw FileProblem(path, EFBIG) }
    }
  }

  /// Replaces a file: whoever reads it, and whoever comes after a crash, finds the old text or the new one, whole. Behind a
  /// symbolic link it is the file that the link names. A device or a FIFO is written to, and stays what it is.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - text: what the file says.
  ///   - mode: the permissions of the file.
  public static func replace(_ path: String, with text: String, mode: UInt32 = 0o644) throws(FileProblem) {
    let target = targetOfLink(path)
    if isOther(target) { return try write(text, to: target, named: path) }
    // In the same folder, because a file can be renamed within a file system only.
    let temporary = target + ".new\(getpid())"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw FileProblem(path, errno) }
    var code = write(text, to: descriptor)
    if code == 0, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0, unsafe rename(temporary, target) != 0 { code = errno }
    guard code != 0 else { return }
    _ = unsafe unlink(temporary)
    throw FileProblem(path, code)
  }

  /// The path itself where it is no symbolic link, or leads nowhere yet.
  private static func targetOfLink(_ path: String) -> String {
    guard let target = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(target) }
    return unsafe String(cString: target)
  }

  /// Whether there is something that is neither a file nor a folder.
  private static func isOther(_ path: String) -> Bool {
    var found = stat()
    guard unsafe stat(path, &found) == 0 else { return false }
    return found.st_mode & S_IFMT != S_IFREG && found.st_mode & S_IFMT != S_IFDIR
  }

  private static func write(_ text: String, to device: String, named path: String) throws(FileProblem) {
    let descriptor = unsafe open(device, O_WRONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw FileProblem(path, errno) }
    var code = write(text, to: descriptor)
    if close(descriptor) != 0, code == 0 { code = errno }
    if code != 0 { throw FileProblem(path, code) }
  }

  /// Writes all of it; the errno that kept it from that, or 0.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written)
      }
      if count >= 0 { written += count } else if errno != EINTR { return errno }
    }
    return 0
  }

  /// Makes a folder and those above it, for the owner alone where they do not exist.
  public static func makeFolder(_ path: String) throws(FileProblem) {
    var at = path.startIndex
    while at < path.endIndex {
      let end = path[path.index(after: at)...].firstIndex(of: "/") ?? path.endIndex
      let folder = String(path[..<end])
      if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw FileProblem(folder, errno) }
      at = end
    }
  }

  /// The names of the files in a folder; none when it does not exist.
  public static func names(in folder: String) -> [String] {
    guard let directory = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Deletes a file; one that does not exist is deleted already.
  public static func remove(_ path: String) { _ = unsafe unlink(path) }
}
