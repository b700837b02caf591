// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import SerialPort

/// The reason why a device cannot be opened now, determined without opening it: opening a line raises its modem lines,
/// which resets some boards.
package enum DeviceFault {
  /// Returns the reason with the next step, in one line; nil if the node shows no obstacle.
  ///
  /// - Parameter name: a path, or another name that ``LineAddress`` reads.
  package static func text(of name: String) -> String? {
    do throws(SerialPortError) {
      switch try LineAddress(name) {
      case .port(let path):
        // Both ends of a pseudo-terminal may be open in the program that provides it.
        if (FileLookup.resolved(path) ?? path).hasPrefix("/dev/pts/") { return try PortState.cure(of: path) }
        let state = try PortState(of: path)
        if let cure = state.cure { return cure }
        let holders = state.holders.map(\.description).joined(separator: ", ")
        return holders.isEmpty ? nil : "\(path): held by \(holders); stop that program first, or choose another port"
      case .i2c(let bus, _): return try PortState.cure(of: bus)
      case .replay(let file, _):
        return FileLookup.isRegularFile(file) ? nil : "\(file): no such recording; correct the path"
      case .network, .simulator: return nil
      }
    } catch {
      return error.description
    }
  }
}
