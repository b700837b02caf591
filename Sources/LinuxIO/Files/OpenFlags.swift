// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The ways in which this module opens files.
enum OpenFlags {
  /// A folder, to access its entries.
  static let path = clinux_o_path | O_DIRECTORY
  /// A folder that is not a symbolic link.
  static let pathWithoutLink = clinux_o_path | O_DIRECTORY | O_NOFOLLOW
  /// A folder, to list it and flush it to the disk.
  static let folder = O_RDONLY | O_DIRECTORY
  /// A file, to read it without waiting for the other end of a FIFO.
  static let read = O_RDONLY | O_NONBLOCK
  static let readWithoutLink = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
  /// A file that must not exist yet.
  static let create = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
  /// A file of a state folder that is kept open.
  static let append = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  static let record = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK
  /// Files that the user named.
  static let appendForUser = O_WRONLY | O_CREAT | O_APPEND
  static let newRecordingForUser = O_RDWR | O_CREAT | O_EXCL | O_APPEND
  static let recordingForUser = O_RDWR | O_CREAT | O_APPEND
  static let stream = O_RDONLY
  /// An attribute; a file in its place, as in tests, contains only the last text.
  static let attribute = O_WRONLY | O_TRUNC
  static let write = O_WRONLY
}
