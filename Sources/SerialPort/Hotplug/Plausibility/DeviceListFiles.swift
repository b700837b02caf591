// SPDX-License-Identifier: Apache-2.0
import LinuxIO

// The files of the user's list of devices.
extension DeviceList {
  /// Reads the list of this machine: the user's file, `$XDG_CONFIG_HOME/sextant/devices` (XDG Base Directory
  /// Specification: `~/.config` if it is not set), followed by `/etc/sextant/devices`. A missing file is empty.
  ///
  /// - Throws: ``DeviceListError`` for a file that cannot be read, and for an invalid line.
  public static func installed() throws(DeviceListError) -> DeviceList {
    var list = DeviceList()
    let folder = Environment.variable("XDG_CONFIG_HOME")
    for path in paths(configurationFolder: folder, home: Environment.variable("HOME")) {
      list = list.followed(by: try read(path))
    }
    return list
  }

  /// The paths of the files, in their order.
  static func paths(configurationFolder: String?, home: String?) -> [String] {
    var folders: [String] = []
    if let configurationFolder, configurationFolder.hasPrefix("/") {
      folders.append(configurationFolder)
    } else if let home, home.hasPrefix("/") {
      folders.append(home + "/.config")
    }
    return (folders + ["/etc"]).map { $0 + "/sextant/devices" }
  }

  /// Reads one file. A missing file is an empty list.
  static func read(_ path: String) throws(DeviceListError) -> DeviceList {
    let text: String
    do {
      text = try UserFile.read(path)
    } catch {
      // HOME may still refer to another user, whose folder is not readable.
      if !FileLookup.exists(path) { return DeviceList() }
      throw DeviceListError(file: path, line: 0, mistake: nil)
    }
    return try DeviceList(parsing: text, file: path)
  }
}
