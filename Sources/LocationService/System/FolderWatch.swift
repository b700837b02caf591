/// Tells when files of some folders may have changed; inotify(7).
///
/// A folder that does not exist is waited for: the nearest one above it that does is watched in its place. The calls of the
/// C library take pointers, which is the reason for `unsafe`: each is to memory that the call alone uses.
import Glibc

struct FolderWatch: ~Copyable {
  /// Readable when something has happened.
  let descriptor: Int32
  private var watches: Set<Int32> = []

  /// What becomes of the files in a folder, and of the folder itself.
  private static var mask: UInt32 {
    UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
      | UInt32(IN_ONLYDIR)
  }

  /// nil when the system has no such watch left for this user.
  init?() {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Watches these folders and no other. To be called before their files are read, and again after each change: a folder
  /// may have come in between.
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
        // What was made while its absence was found out is seen now.
        guard path != folder, above != watch else { return watch }
        above = watch
        path = folder
      } else if let slash = path.lastIndex(of: "/"), path.count > 1 {
        path = String(path[..<slash])
      } else {
        return above
      }
    }
  }

  /// Takes what has happened; the caller looks at its files whatever it was.
  mutating func drain() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({ unsafe read(descriptor, $0.baseAddress, $0.count) }) > 0 {}
  }
}
