// SPDX-License-Identifier: Apache-2.0
import GPSD
import Glibc
import LinuxIO
import SystemPackage

/// The sockets at which the daemon listens: those that systemd has opened (the units sextantd*.socket in hw-rules), and the others of the
/// command line.
struct ListeningSockets {
  struct Failure: Error {
    var text: String
    var code: SystemExitCode
  }

  /// The socket for programs and commands.
  let location: Int32
  /// The sockets for clients of gpsd and NMEA, and gpsd's control socket.
  let gpsd: [GPSDListener]
  /// The name of `location`; nil for a socket of systemd.
  private let file: NamedFile?

  /// - Parameter path: the path at which to listen for programs if systemd has no socket for them.
  init(_ options: DaemonOptions, at path: String, _ systemd: Systemd) throws(Failure) {
    (location, file) = try Self.location(at: path, systemd)
    gpsd = try Self.activated(systemd) + Self.requested(options)
  }

  /// Removes the paths of sockets that this process has created. A path that now leads to the socket of a successor is kept.
  func removePaths() { for case let file? in gpsd.map(\.file) + [file] { file.remove() } }

  // MARK: systemd's sockets

  /// The name in sextantd.socket (systemd.socket(5), FileDescriptorName=).
  private static let locationName = "location"

  private static func activated(_ systemd: Systemd) -> [GPSDListener] {
    systemd.allSockets.compactMap { socket in
      switch socket.name {
      case "gpsd": GPSDListener(kind: .gpsd, descriptor: socket.descriptor)
      case "nmea": GPSDListener(kind: .nmea, descriptor: socket.descriptor)
      case "gpsd-control": GPSDListener(kind: .control, descriptor: socket.descriptor)
      default: nil
      }
    }
  }

  // MARK: Own sockets

  /// Returns the socket of systemd, or a new one that listens at a path. Everybody may connect: the kernel's credentials of a peer decide
  /// what it may do.
  private static func location(
    at path: String, _ systemd: Systemd
  ) throws(Failure) -> (descriptor: Int32, file: NamedFile?) {
    if let descriptor = systemd.sockets[locationName] ?? systemd.sockets["unknown"] { return (descriptor, nil) }
    let folder = folder(of: path)
    if !FileLookup.exists(folder) { unsafe _ = mkdir(folder, 0o755) }
    do throws(Errno) {
      return (try UnixSocket(listeningAt: path, permissions: 0o666).release(), NamedFile(atPath: path))
    } catch {
      switch error {
      case .addressInUse:
        throw Failure(text: "\(path): another sextantd listens here; stop it, or name another --socket", code: .held)
      case .permissionDenied, .readOnlyFileSystem:
        throw Failure(text: "\(path): \(error); run as root, or name another --socket", code: .noPermission)
      default: throw Failure(text: "\(path): \(error); name another --socket", code: .cannotCreate)
      }
    }
  }

  /// Listens at the addresses and paths of the command line.
  private static func requested(_ options: DaemonOptions) throws(Failure) -> [GPSDListener] {
    var listeners: [GPSDListener] = []
    do throws(GPSDListener.Problem) {
      let all = options.gpsd.map { (GPSDClient.Kind.gpsd, $0) } + options.nmea.map { (GPSDClient.Kind.nmea, $0) }
      for (kind, text) in all {
        if let addresses = InternetAddress.parse(text) {
          listeners += try GPSDListener.listen(kind, at: addresses)
        } else {
          listeners.append(try GPSDListener.listen(kind, atPath: text))
        }
      }
      if let path = options.gpsdControl { listeners.append(try GPSDListener.listen(.control, atPath: path)) }
    } catch {
      guard case .refused(let reason, _) = error else { return listeners }
      throw Failure(
        text: error.text,
        code: reason == .addressInUse ? .held : reason == .permissionDenied ? .noPermission : .cannotCreate)
    }
    return listeners
  }

  /// The folder of a path.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// A socket that accepts clients of gpsd's protocol, of NMEA, or of gpsd's control socket.
package struct GPSDListener: Sendable {
  package enum Problem: Error {
    /// The address is in use, or the system rejects it.
    case refused(Errno, address: String)

    var text: String {
      switch self {
      case .refused(.addressInUse, let address): "\(address): another program listens here (is it gpsd?)"
      case .refused(let error, let address): "\(address): \(error)"
      }
    }
  }

  /// gpsd's port.
  package static let port: UInt16 = 2947
  /// The group for receivers (hw-rules/60-sextant-gnss.rules), whose members may use the control socket.
  static let receiversGroup = "gnss"

  var kind: GPSDClient.Kind
  /// Owned by the caller until a server takes it over.
  var descriptor: Int32
  /// The name of a Unix socket that this program created; nil for other sockets.
  var file: NamedFile?

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
      return GPSDListener(kind: kind, descriptor: socket.release(), file: NamedFile(atPath: path))
    } catch {
      throw .refused(error, address: path)
    }
  }

  func close() {
    _ = UnixSocket(adopting: descriptor)
    file?.remove()
  }
}
