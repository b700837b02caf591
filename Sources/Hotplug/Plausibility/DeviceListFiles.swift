import FileSystem

// Where the user's list of devices lies.
extension DeviceList {
  /// The list of this machine: the user's file, `$XDG_CONFIG_HOME/sextant/devices` (XDG Base Directory Specification:
  /// `~/.config` where it is not set), and behind it the machine's, `/etc/sextant/devices`. A file that does not exist
  /// has no lines.
  ///
  /// - Throws: ``DeviceListError`` for a file that cannot be read, and for a line that cannot.
  public static func installed() throws(DeviceListError) -> DeviceList {
    var list = DeviceList()
    let folder = Environment.variable("XDG_CONFIG_HOME")
    for path in paths(configurationFolder: folder, home: Environment.variable("HOME")) {
      list = list.followed(by: try read(path))
    }
    return list
  }

  /// The files in their order.
  static func paths(configurationFolder: String?, home: String?) -> [String] {
    var folders: [String] = []
    if let configurationFolder, configurationFolder.hasPrefix("/") {
      folders.append(configurationFolder)
    } else if let home, home.hasPrefix("/") {
      folders.append(home + "/.config")
    }
    return (folders + ["/etc"]).map { $0 + "/sextant/devices" }
  }

  /// Reads one file.
  static func read(_ path: String) throws(DeviceListError) -> DeviceList {
    let text: String
    do {
      text = try UserFile.read(path)
    } catch {
      // In a folder of somebody else (HOME is kept by some ways to become another user) there is no file of ours.
      if !FileLookup.exists(path) { return DeviceList() }
      throw DeviceListError(file: path, line: 0, mistake: nil)
    }
    return try DeviceList(parsing: text, file: path)
  }
}
