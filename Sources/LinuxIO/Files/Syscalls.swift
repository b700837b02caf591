// SPDX-License-Identifier: Apache-2.0

// All calls of this module into the C library, and all `unsafe` expressions.
//
// Each function passes memory to the kernel for the duration of one call and does not keep pointers. Buffers come with
// their length, and C strings are copied before the call returns. An interrupted call is repeated. The callers add the
// path to the error.
import CLinux
import Glibc
import SystemPackage

/// A file descriptor that is closed exactly once, when its owner is destroyed.
package struct OwnedDescriptor: ~Copyable {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  /// Returns the number, which the caller closes from now on.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  // close(2) must not be repeated after EINTR on Linux: the descriptor is already closed.
  deinit { _ = close(number) }
}

/// Makes a call that returns -1 and sets errno on failure, and repeats it while a signal interrupts it.
package func retryOnInterrupt<Value: SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
  while true {
    let result = call()
    if result != -1 { return result }
    let error = Errno(rawValue: errno)
    if error != .interrupted { throw error }
  }
}

/// The attributes of a file, folder or device node.
package struct NodeStatus: Sendable {
  package enum FileType: Sendable { case directory, character, block, fifo, regular, socket, link, other }

  package let type: FileType
  /// The device that the file system lies on and the file's number on it: together the file's identity.
  package let fileSystem: UInt64
  package let inode: UInt64
  /// The device that a character or block node represents.
  package let device: UInt64
  package let mode: UInt32
  package let owner: UInt32
  package let group: UInt32
  package let linkCount: Int
  package let size: UInt64
  let modified: (seconds: Int, nanoseconds: Int)

  init(_ found: stat) {
    type =
      switch found.st_mode & S_IFMT {
      case S_IFDIR: .directory
      case S_IFCHR: .character
      case S_IFBLK: .block
      case S_IFIFO: .fifo
      case S_IFREG: .regular
      case S_IFSOCK: .socket
      case S_IFLNK: .link
      default: .other
      }
    fileSystem = UInt64(found.st_dev)
    inode = UInt64(found.st_ino)
    device = UInt64(found.st_rdev)
    mode = UInt32(found.st_mode)
    owner = found.st_uid
    group = found.st_gid
    linkCount = Int(found.st_nlink)
    size = UInt64(max(found.st_size, 0))
    modified = (found.st_mtim.tv_sec, found.st_mtim.tv_nsec)
  }
}

/// File calls. A path is relative to `folder`, the descriptor of a folder; if that is nil, to the working directory.
package enum Syscalls {
  /// The corresponding C function is openat(2), with O_CLOEXEC and O_NOCTTY.
  package static func open(
    _ path: String, _ flags: Int32, permissions: UInt32 = 0, in folder: Int32 = AT_FDCWD
  ) throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(
      try retryOnInterrupt { unsafe openat(folder, path, flags | O_CLOEXEC | O_NOCTTY, permissions) })
  }

  static let standardInput = STDIN_FILENO
  static let standardOutput = STDOUT_FILENO

  /// The corresponding C function is fcntl(2) with F_DUPFD_CLOEXEC. The copy is above the standard streams.
  package static func duplicate(_ descriptor: Int32) throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try retryOnInterrupt { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) })
  }

  /// The corresponding C function is isatty(3).
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The corresponding C function is fstatat(2). Follows symbolic links unless `ofLink`.
  package static func status(
    ofPath path: String, in folder: Int32 = AT_FDCWD, ofLink: Bool = false
  ) throws(Errno) -> NodeStatus {
    var found = stat()
    _ = try retryOnInterrupt { unsafe fstatat(folder, path, &found, ofLink ? AT_SYMLINK_NOFOLLOW : 0) }
    return NodeStatus(found)
  }

  /// The corresponding C function is fstat(2).
  package static func status(of descriptor: Int32) throws(Errno) -> NodeStatus {
    var found = stat()
    _ = try retryOnInterrupt { unsafe fstat(descriptor, &found) }
    return NodeStatus(found)
  }

  /// The corresponding C function is access(2) with F_OK.
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Returns the number of bytes that were stored in `span` from `offset` on. The corresponding C function is read(2).
  package static func read(
    _ descriptor: Int32, into span: inout MutableRawSpan, at offset: Int = 0
  ) throws(Errno) -> Int {
    try unsafe span.withUnsafeMutableBytes { (whole) throws(Errno) -> Int in
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: whole[offset...])
      return try retryOnInterrupt { unsafe Glibc.read(descriptor, rest.baseAddress, rest.count) }
    }
  }

  /// Fills `buffer` from its start. The corresponding C function is read(2).
  static func read(_ descriptor: Int32, into buffer: inout [UInt8]) throws(Errno) -> Int {
    var elements = buffer.mutableSpan
    var span = unsafe elements.mutableBytes
    return try read(descriptor, into: &span)
  }

  /// Returns up to `count` bytes from `offset` on. The corresponding C function is pread(2).
  static func read(_ descriptor: Int32, count: Int, at offset: UInt64) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = try retryOnInterrupt {
      unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }
    bytes.removeLast(count - read)
    return bytes
  }

  /// Returns the number of written bytes. The corresponding C function is write(2), or pwrite(2) with an offset.
  package static func write(_ descriptor: Int32, _ span: RawSpan, at offset: Int? = nil) throws(Errno) -> Int {
    try unsafe span.withUnsafeBytes { (buffer) throws(Errno) -> Int in
      try retryOnInterrupt {
        if let offset { return unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
        return unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
      }
    }
  }

  /// Writes all bytes, starting at `offset` if given.
  static func writeAll(_ descriptor: Int32, _ bytes: RawSpan, at offset: Int? = nil) throws(Errno) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(written..<bytes.byteCount)
      written += try write(descriptor, rest, at: offset.map { $0 + written })
    }
  }

  /// Writes all bytes of a text.
  static func writeAll(_ descriptor: Int32, _ text: String, at offset: Int? = nil) throws(Errno) {
    let bytes = Array(text.utf8)
    try unsafe writeAll(descriptor, bytes.span.bytes, at: offset)
  }

  /// Writes in one call. The corresponding C function is write(2).
  static func writeOnce(_ descriptor: Int32, _ text: String) throws(Errno) -> Int {
    let bytes = Array(text.utf8)
    return try unsafe write(descriptor, bytes.span.bytes)
  }

  /// The corresponding C function is ftruncate(2).
  static func truncate(_ descriptor: Int32, to length: UInt64) throws(Errno) {
    _ = try retryOnInterrupt { ftruncate(descriptor, off_t(length)) }
  }

  /// The corresponding C function is fsync(2).
  static func sync(_ descriptor: Int32) throws(Errno) { _ = try retryOnInterrupt { fsync(descriptor) } }

  /// The corresponding C function is fdatasync(2).
  static func syncData(_ descriptor: Int32) throws(Errno) { _ = try retryOnInterrupt { fdatasync(descriptor) } }

  /// EWOULDBLOCK: another open file has the lock. The corresponding C function is flock(2) with LOCK_EX and LOCK_NB.
  package static func lockExclusively(_ descriptor: Int32) throws(Errno) {
    _ = try retryOnInterrupt { flock(descriptor, LOCK_EX | LOCK_NB) }
  }

  /// The corresponding C function is flock(2) with LOCK_UN: without it a lock lasts until every copy of the descriptor is closed.
  package static func unlock(_ descriptor: Int32) throws(Errno) {
    _ = try retryOnInterrupt { flock(descriptor, LOCK_UN) }
  }

  /// The corresponding C function is fchownat(2) with AT_EMPTY_PATH.
  static func changeOwner(_ descriptor: Int32, to owner: UInt32, _ group: UInt32) throws(Errno) {
    _ = try retryOnInterrupt { unsafe fchownat(descriptor, "", owner, group, clinux_at_empty_path) }
  }

  /// The corresponding C function is renameat(2).
  static func rename(_ path: String, to target: String, in folder: Int32 = AT_FDCWD) throws(Errno) {
    _ = try retryOnInterrupt { unsafe renameat(folder, path, folder, target) }
  }

  /// The corresponding C function is unlinkat(2), for a folder with AT_REMOVEDIR.
  package static func unlink(_ path: String, in folder: Int32 = AT_FDCWD, isFolder: Bool = false) throws(Errno) {
    _ = try retryOnInterrupt { unsafe unlinkat(folder, path, isFolder ? AT_REMOVEDIR : 0) }
  }

  /// The corresponding C function is mkdirat(2).
  static func makeFolder(_ path: String, permissions: UInt32, in folder: Int32 = AT_FDCWD) throws(Errno) {
    _ = try retryOnInterrupt { unsafe mkdirat(folder, path, permissions) }
  }

  /// Returns the names in an open folder without `.` and `..`, in no order. The corresponding C functions are fdopendir(3)
  /// and readdir(3).
  static func names(in folder: Int32) throws(Errno) -> [String] {
    // The stream closes the descriptor from which it was created.
    let copy = try retryOnInterrupt { unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = unsafe fdopendir(copy) else {
      let error = Errno(rawValue: errno)
      _ = OwnedDescriptor(copy)
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      // An error and the end of the folder have the same value.
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        let error = Errno(rawValue: errno)
        if error.rawValue != 0 { throw error }
        return names
      }
      // d_name is an array of 256 bytes that ends in a zero.
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// The corresponding C function is symlink(2).
  package static func link(_ target: String, at path: String) throws(Errno) {
    _ = try retryOnInterrupt { unsafe symlink(target, path) }
  }

  /// Returns the target of a symbolic link. The corresponding C function is readlink(2).
  package static func target(ofLink path: String) throws(Errno) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = try retryOnInterrupt {
      unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe readlink(path, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
      }
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Returns the absolute path without symbolic links; nil if the path does not exist. The corresponding C function is
  /// realpath(3).
  static func resolved(_ path: String) -> String? {
    guard let target = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(target) }
    return unsafe String(cString: target)
  }

  /// The corresponding C function is geteuid(2).
  static var effectiveUser: UInt32 { geteuid() }

  /// The corresponding C function is getegid(2).
  static var effectiveGroup: UInt32 { getegid() }

  /// The corresponding C function is getpid(2).
  package static var processID: Int32 { getpid() }
}
