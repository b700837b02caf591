// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// The reason why a file could not be read or written: the path, the error of the system, and the next step.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path at fault. If a folder in the caller's path is at fault, it is that part of the path.
  package let path: String
  /// The error of the system call. For refusals by this module, the closest error of a system call.
  package let errno: Errno
  let refusal: Refusal?

  /// The reasons for which this module itself refuses a file that the system would have opened.
  enum Refusal: Equatable {
    /// A FIFO, a device or a socket, where a regular file is expected.
    case notRegular
    case longerThan(bytes: Int)
    /// A symbolic link in a state folder.
    case link
    /// A symbolic link, on the way to the file or in its place, whose target does not exist, as before a file system is
    /// mounted.
    case brokenLink
    /// A file with a second name, or one that belongs to another user.
    case foreign
    /// A state folder in which another user can write.
    case folderOfOthers
    /// The folder of a file that is to be written does not exist.
    case missingFolder
  }

  package init(_ path: String, _ errno: Errno) {
    self.path = path
    self.errno = errno
    refusal = nil
  }

  /// The error for a file that is longer than the limit of a read.
  package static func longer(than bytes: Int, _ path: String) -> FileError {
    FileError(path, .longerThan(bytes: bytes))
  }

  init(_ path: String, _ refusal: Refusal) {
    self.path = path
    self.refusal = refusal
    errno =
      switch refusal {
      case .notRegular: .invalidArgument
      case .longerThan: .fileTooLarge
      case .link, .brokenLink: .tooManySymbolicLinkLevels
      case .foreign, .folderOfOthers: .notPermitted
      case .missingFolder: .noSuchFileOrDirectory
      }
  }

  /// The reason as text, without the path.
  package var reason: String {
    switch refusal {
    case .notRegular: "it is not a regular file"
    case .longerThan(let bytes): "it is longer than \(bytes) bytes"
    case .link: "it is a symbolic link in a state folder"
    case .brokenLink: "it is a symbolic link to what does not exist"
    case .foreign: "it belongs to another user or has a second name"
    case .folderOfOthers: "other users can write in this folder"
    case .missingFolder, nil: errno.description
    }
  }

  /// The remedy for the user.
  package var nextStep: String {
    switch refusal {
    case .notRegular: "name a regular file"
    case .longerThan: "check the name; this is not a file of this program"
    case .link, .foreign: "remove it, or name another state folder with SEXTANT_STATE_DIR"
    case .brokenLink: "mount or restore the target of the link, or remove the link"
    case .folderOfOthers: "take the permission away (`chmod go-w`), or name a folder of yours with SEXTANT_STATE_DIR"
    case .missingFolder: "make this folder first, or name another one"
    case nil:
      switch errno {
      case .noSpace, .diskQuotaExceeded: "make room, or name another folder"
      case .fileTooLarge:
        "raise the limit of a file's size (ulimit -f, LimitFSIZE= of a unit), or use a disk that takes larger files"
      case .readOnlyFileSystem, .permissionDenied, .notPermitted: "name a folder of yours that can be written"
      case .noSuchFileOrDirectory: "check the name, and that its folder is there"
      case .notDirectory: "a part of the path is not a folder; check the name"
      case .isDirectory: "it is a folder; name a file"
      default: "check the path and the disk"
      }
    }
  }

  /// One line: the path, what happened, and the next step.
  package var description: String { "\(path): \(reason); \(nextStep)" }

  package var isFolder: Bool { errno == .isDirectory }
  /// Whether no entry has the name. A file in the place of a folder is an entry.
  package var isAbsent: Bool { errno == .noSuchFileOrDirectory }
  package var isMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }
  package var isForbidden: Bool { errno == .permissionDenied || errno == .notPermitted }
}

/// Makes calls for one path and adds the path to their error.
func naming<Result: ~Copyable>(
  _ path: String, _ body: () throws(Errno) -> Result
) throws(FileError) -> Result {
  do { return try body() } catch { throw FileError(path, error) }
}
