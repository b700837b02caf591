// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import SystemPackage

/// A socket that accepts clients of gpsd's protocol, of NMEA, or of gpsd's control socket.
package struct GPSDListener: Sendable {
  package enum Problem: Error {
    /// The address is in use, or the system rejects it.
    case refused(Errno, address: String)
  }

  /// gpsd's port.
  package static let port: UInt16 = 2947
  /// The group for receivers (hw-rules/60-sextant-gnss.rules), whose members may use the control socket.
  static let receiversGroup = "gnss"

  var kind: GPSDClient.Kind
  /// Owned by the caller until a server takes it over.
  var descriptor: Int32
  /// The path of a Unix socket that this program created; nil for other sockets.
  var path: String?

  /// The sockets of the service manager.
  static func sockets(of manager: ServiceManager) -> [GPSDListener] {
    manager.allSockets.compactMap { socket in
      switch socket.name {
      case "gpsd": GPSDListener(kind: .gpsd, descriptor: socket.descriptor)
      case "nmea": GPSDListener(kind: .nmea, descriptor: socket.descriptor)
      case "gpsd-control": GPSDListener(kind: .control, descriptor: socket.descriptor)
      default: nil
      }
    }
  }

  /// Listens at addresses.
  static func listen(
    _ kind: GPSDClient.Kind, at addresses: [InternetAddress]
  ) throws(Problem) -> [GPSDListener] {
    do throws(InternetListeners.Failure) {
      return try InternetListeners.listen(at: addresses).map { GPSDListener(kind: kind, descriptor: $0) }
    } catch {
      throw .refused(error.reason, address: error.address.description)
    }
  }

  /// Listens at the path of a Unix socket. Everybody may connect; a control socket is restricted to root, the user of
  /// the service, and the group for receivers, if it exists.
  static func listen(_ kind: GPSDClient.Kind, atPath path: String) throws(Problem) -> GPSDListener {
    do throws(Errno) {
      let socket = try UnixSocket(listeningAt: path, permissions: kind == .control ? 0o600 : 0o666)
      if kind == .control, let group = GroupDatabase.number(of: receiversGroup) {
        try? Syscalls.share(path, withGroup: group)
      }
      return GPSDListener(kind: kind, descriptor: socket.release(), path: path)
    } catch {
      throw .refused(error, address: path)
    }
  }

  func close() {
    _ = UnixSocket(adopting: descriptor)
    if let path { try? Syscalls.unlink(path) }
  }
}
