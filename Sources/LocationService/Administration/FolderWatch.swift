// SPDX-License-Identifier: Apache-2.0

/// A watch for changes of the files in some folders; inotify(7).
///
/// For a folder that does not exist, the nearest existing folder above it is watched. `unsafe` because the calls of the
/// C library take pointers, which are only used during the call.
import Glibc
import WireBytes

struct FolderWatch: ~Copyable {
  /// Readable after a change.
  let descriptor: Int32
  private var watches: Set<Int32> = []

  /// Changes of the files in a folder, and of the folder itself.
  private static var mask: UInt32 {
    UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
      | UInt32(IN_ONLYDIR)
  }

  /// Returns nil if this user already has the maximum number of watches.
  init?() {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Watches only these folders. The caller calls it before reading their files, and again after each change, because a
  /// folder may have been created in between.
  mutating func watch(_ folders: [String]) {
    var wanted: Set<Int32> = []
    for folder in folders {
      if let watch = nearest(folder) { wanted.insert(watch) }
    }
    for watch in watches.subtracting(wanted) { inotify_rm_watch(descriptor, watch) }
    watches = wanted
  }

  private func nearest(_ folder: String) -> Int32? {
    var path = folder
    var above: Int32?
    while true {
      let watch = unsafe inotify_add_watch(descriptor, path.isEmpty ? "/" : path, Self.mask)
      if watch >= 0 {
        // The folder may have been created after its absence was found.
        guard path != folder, above != watch else { return watch }
        above = watch
        path = folder
      } else if let slash = path.lastPosition(of: "/"), path.utf8.count > 1 {
        path = String(path[..<slash])
      } else {
        return above
      }
    }
  }

  /// Discards the events. The caller reads its files regardless of the events.
  mutating func drain() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({ unsafe read(descriptor, $0.baseAddress, $0.count) }) > 0 {}
  }
}
