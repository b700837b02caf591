// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import ReceiverRuntime

/// Why a command ends: one line for the user with the next step, and an exit code.
struct CommandFailure: Error, CustomStringConvertible {
  var exitCode: Int32
  var description: String

  init(_ exitCode: SystemExitCode, _ description: String) {
    self.init(exitCode: exitCode.rawValue, description: description)
  }

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
