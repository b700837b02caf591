// SPDX-License-Identifier: Apache-2.0

/// The location service that a program uses: in the program itself, or in the daemon.
package enum ServiceChoice: Equatable, Sendable {
  case inProcess
  /// The daemon with this socket.
  case daemon(path: String)

  package static let defaultSocket = "/run/sextant/location"

  /// - Parameters:
  ///   - variable: returns a variable of the environment. SEXTANT_SERVICE names a socket, which is awaited, or is
  ///     `none`. A program with GNSS_DEVICE has its own receiver.
  ///   - isServed: returns whether a socket accepts a connection.
  package init(_ variable: (String) -> String?, isServed: (String) -> Bool) {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    switch value("SEXTANT_SERVICE") {
    case "none": self = .inProcess
    case let path?: self = .daemon(path: path)
    case nil:
      let usesDaemon = value("GNSS_DEVICE") == nil && isServed(Self.defaultSocket)
      self = usesDaemon ? .daemon(path: Self.defaultSocket) : .inProcess
    }
  }
}
