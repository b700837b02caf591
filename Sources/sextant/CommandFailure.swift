// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime

/// Why a command ends: one line for the user with the next step, and an exit code.
struct CommandFailure: Error, CustomStringConvertible {
  /// The exit codes of sysexits.h.
  enum ExitCode: Int32 {
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case systemResource = 71
    case cannotCreate = 73
    case inputOutput = 74
    case held = 75
    case noPermission = 77
    case configuration = 78
  }

  var exitCode: Int32
  var description: String

  init(_ exitCode: ExitCode, _ description: String) { self.init(exitCode: exitCode.rawValue, description: description) }

  init(exitCode: Int32, description: String) {
    self.exitCode = exitCode
    self.description = description
  }
}

extension ReceiverConnection.Event {
  /// Prints the advice on a silent line, and the notices of the runtime, of a command that waits for its receiver.
  func printAdvice(path: String, baud: UInt32?) {
    switch self {
    case .session(.adviseOnSilence), .notice: if let text = notice(path: path, baud: baud) { printNotice(text) }
    default: break
    }
  }
}

/// Why several commands end.
enum Reason {
  static let disconnected = "the receiver is disconnected; check the cable"
  static let file = LineAddress.refusalOfFile
}
