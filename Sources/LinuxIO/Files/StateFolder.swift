// SPDX-License-Identifier: Apache-2.0

/// The folder of state that outlives a run.
package enum StateFolder {
  /// Returns the path of the folder; nil if there is no location for it.
  ///
  /// - Parameters:
  ///   - isRoot: whether the process runs as root.
  ///   - variable: returns a variable of the environment.
  package static func path(isRoot: Bool, _ variable: (String) -> String?) -> String? {
    if let folder = variable("SEXTANT_STATE_DIR"), !folder.isEmpty { return folder }
    if isRoot { return "/var/lib/sextant" }
    // The XDG base directory specification: relative paths are to be ignored.
    if let folder = variable("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/sextant" }
    return variable("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.local/state/sextant" : nil }
  }
}
