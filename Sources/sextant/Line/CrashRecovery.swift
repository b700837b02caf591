// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort

extension CrashRecoveryFile {
  /// Returns the record for a command at this source; nil for a simulator, and for a session that sends nothing.
  static func of(_ choice: Source.Choice, _ settings: SessionSettings) -> CrashRecoveryFile? {
    if let service = choice.service { return service.recovery }
    guard case .device(let path) = choice.source, settings.intent != .readOnly, let folder = stateFolder() else {
      return nil
    }
    return CrashRecoveryFile(stateFolder: folder, line: path)
  }
}

/// The restoration of a receiver that a killed program has changed, before a command reads or changes its settings.
enum CrashRecovery {
  /// The longest time for a receiver to reply, in seconds. After that the record stays for the next program.
  private static let longestWait = 15.0

  /// Restores the receiver if there is a crash-recovery record of it.
  ///
  /// - Throws: `CommandFailure` if a signal ends it, and what prevents opening the line.
  static func restore(_ choice: Source.Choice) throws {
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in .nothing }
    guard let file = CrashRecoveryFile.of(choice, settings), file.recovery != nil || !file.others.isEmpty
    else { return }
    var loop = try ReceiverLoop(choice, settings, seconds: longestWait, client: Client())
    try loop.run()
    if loop.isInterrupted {
      throw CommandFailure(.unavailable, "\(choice.source.name): interrupted while the receiver was being restored")
    }
  }

  private struct Client: ReceiverClient, ~Copyable {
    var deadline: Instant? { nil }

    mutating func receive(
      _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
    ) {
      if case .session(.identified) = event, connection.needsRestoring {
        printNotice("restoring the settings of the receiver, which a killed program left changed")
      }
      if event == .session(.notRestored) { printNotice("the receiver did not accept all of its former settings") }
    }

    mutating func finishRound(
      _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
    ) throws -> Bool {
      connection.isSteady
    }
  }
}
