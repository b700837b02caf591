// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning

/// A simulated receiver on a pseudo-terminal, which the program `sextant simulate` provides as a separate process:
/// clients of the service do not contain a simulator. It ends with this value, and with this process.
final class SimulatorProcess {
  /// The path to open; nil until the program has written it. It refers to the receiver whenever the receiver is plugged
  /// in.
  private(set) var path: String?
  /// Readable when the path is written, or the program ends.
  var fileDescriptor: Int32 { child.output }

  private let child: ChildProcess
  private var received: [UInt8] = []

  /// - Parameters:
  ///   - scenario: its name, or the path of a file.
  ///   - candidates: candidate paths of the program, in order of preference.
  init(scenario: String, candidates: [String] = SimulatorProcess.candidates) throws {
    guard let program = candidates.first(where: System.isExecutable) else {
      throw SimulatorFailure(
        problem: nil,
        description: "GNSS_DEVICE=sim:\(scenario) needs the program sextant: \(Self.advice)")
    }
    child = try ChildProcess(program, ["simulate", "--for-client", "--scenario=\(scenario)"])
  }

  /// The paths that are searched for the program.
  static var candidates: [String] {
    var folders: [String] = []
    if let own = ownPath?.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
      folders.append(own.joined(separator: "/"))
    }
    #if DEBUG
      // A client built against a checkout uses the program of that checkout.
      let checkout = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
      folders += ["debug", "release"].map { checkout.joined(separator: "/") + "/.build/" + $0 }
    #endif
    folders += System.variable("PATH")?.split(separator: ":").map(String.init) ?? []
    return (folders + ["/usr/local/bin", "/usr/bin"]).map { $0 + "/sextant" }
  }

  private static var ownPath: String? { try? Syscalls.target(ofLink: "/proc/self/exe") }

  /// The next step if the program is missing.
  static var advice: String { advice(ownPath: ownPath) }

  /// The next step if the program is missing. The build folder of a package that depends on the package sextant gets
  /// the program from there.
  ///
  /// - Parameter path: the path of this process's program.
  static func advice(ownPath path: String?) -> String {
    guard let folders = path?.split(separator: "/").dropLast(), let folder = folders.last, folders.contains(".build")
    else { return "install it, or put it on the PATH" }
    return "run `swift build --product sextant\(folder == "release" ? " -c release" : "")` in the package's folder"
  }

  /// Reads the program's output.
  ///
  /// - Throws: `SimulatorFailure` if it has ended.
  func read() throws(SimulatorFailure) {
    while let bytes = child.read() {
      if bytes.isEmpty { return }
      received += bytes
      if path == nil, let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        path = String(decoding: received[..<end], as: UTF8.self)
      }
    }
    let (exitCode, errors) = child.end()
    let line = errors.split(whereSeparator: \.isNewline).first.map(String.init)
    let reason = line.map { $0.hasPrefix("sextant: ") ? String($0.dropFirst(9)) : $0 }
    let problem: ReceiverProblem? =
      switch exitCode.flatMap(SystemExitCode.init) {
      case .noInput, .noPermission: .misnamed
      case .badData: .miswritten
      default: nil
      }
    throw SimulatorFailure(
      problem: problem, description: reason ?? "the simulated receiver has ended; start this program again")
  }
}

/// The reason why there is no simulated receiver.
struct SimulatorFailure: Error, CustomStringConvertible {
  var problem: ReceiverProblem?
  var description: String
}
