// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import SerialPort

// The line that is lent to another program, for `sextant bridge`. The session is suspended meanwhile: received bytes go to the tap of
// `handle` and `wake` alone, and nothing is sent but the program's bytes. A line that is lost is not lent any more.
extension ReceiverConnection {
  /// Whether the line is lent.
  package var isLent: Bool { read { $0.isLent } ?? false }

  /// Lends the line, which is open.
  package func lend(_ poller: inout Poller, at now: Instant) {
    guard isOpen, !isLent else { return }
    change {
      $0.setLent(true)
      $0.scheduler.reset()
    }
    _ = write(&poller, at: now) { _, _ in }
  }

  /// Takes the line back with the rate and the form of a character that it had, and begins a new session, which finds the
  /// receiver's rate again.
  package func takeBack(_ poller: inout Poller, at now: Instant) {
    guard isLent else { return }
    // The program may have given the receiver the rate of its line.
    if let used = lineRate { settings.likelyRates = [used] }
    change {
      $0.setLent(false)
      if $0.line.character != .usual { $0.line.setCharacter(.usual) }
      if let known = $0.session.rate { try? $0.line.setBaudRate(known) }
    }
    restartSession(at: now)
    _ = write(&poller, at: now) { _, _ in }
  }

  /// Sends bytes of the program.
  package func sendLent(_ bytes: [UInt8], _ poller: inout Poller, at now: Instant) {
    guard isLent else { return }
    change { $0.queue(bytes) }
    _ = write(&poller, at: now) { _, _ in }
  }

  /// The number of bytes of the program that the kernel has not taken.
  package var unsentCount: Int { read { $0.unsentCount } ?? 0 }
  /// Whether all bytes of the program are on the line.
  package var isDrained: Bool { read { $0.unsentCount == 0 && $0.line.unsentByteCount == 0 } ?? true }

  /// Discards bytes of the program that the kernel has not taken.
  package func discardUnsent() { change { $0.discardUnsent() } }
  /// Discards received bytes that were not read.
  package func discardReceived() { change { $0.line.discardInput() } }

  /// The rate of the lent line, baud; nil without a rate.
  package var lineRate: UInt32? { read { $0.line.baudRate } }
  /// The form of a character on the line; nil for a line without one.
  package var character: SerialCharacter? { read { $0.line.character } }
  /// The modem lines that are on; nil for a line without them.
  package var modemLines: ModemLines? { read { $0.line.modemLines } }

  /// Sets the rate of the lent line, once it is drained. A rate that the hardware does not have changes nothing.
  package func setLineRate(_ rate: UInt32) {
    guard isLent else { return }
    change { try? $0.line.setBaudRate(rate) }
  }

  /// Sets the form of a character on the lent line, as far as its driver has it.
  package func setCharacter(_ character: SerialCharacter) {
    guard isLent else { return }
    change { $0.line.setCharacter(character) }
  }

  /// Switches modem lines of the lent line.
  package func switchModemLines(_ lines: ModemLines, on: Bool) {
    guard isLent else { return }
    change { $0.line.switchModemLines(lines, on: on) }
  }
}
