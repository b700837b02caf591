// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Positioning
import Receiver
import ReceiverRuntime
import ReceiverStream

/// Further work of the service's thread: the sockets of the daemon. One thread reads the receivers and writes to the clients,
/// so that a fix wakes the daemon once.
package protocol ServiceThreadWork: AnyObject {
  /// The time of the next round; nil if there is none.
  var deadline: Instant? { get }
  /// Handles the events of a round, before the decisions.
  func handle(_ events: [Poller.Event], _ poller: inout Poller, at now: Moment)
  /// Handles bytes of a receiver, as they were read.
  func receive(_ bytes: RawSpan, of receiver: Int)
  /// Handles a frame of a receiver, before its epoch.
  func receive(_ frame: borrowing Frame, of receiver: Int, at now: Instant)
  /// Handles an epoch of a receiver, before the decisions.
  func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of receiver: Int, at now: Moment)
  /// Handles a report of a receiver's session.
  func receive(_ report: SessionReport, of receiver: Int)
  /// Returns the requests of programs to a receiver, once.
  func takeCommands(for receiver: Int) -> [ClientCommand]
  /// Returns the devices to use from now on, once.
  func takeAddedDevices() -> [String]
  /// Ends a round, after its actions.
  ///
  /// - Parameter receivers: returns the receivers of the service, the first one first.
  func roundEnded(_ poller: inout Poller, receivers: () -> [ReceiverStatus], at now: Moment)
}

/// A command of a program to a receiver.
package enum ClientCommand: Equatable, Sendable {
  /// Bytes, queued with the session's own requests. Their reply is among the receiver's bytes.
  case send([UInt8])
  /// All settings that users have changed.
  case set(UserSettings)
}

/// The description of a receiver for users and programs.
package struct ReceiverStatus: Equatable, Sendable {
  /// The device node, or the name of a simulator or recording.
  package var device: String
  package var isOpen: Bool
  /// The path of its line, or another name that `LineAddress` reads; nil until it is known.
  package var line: String?
  /// The rate of its line, baud; nil for a line without a rate, and before the rate is found.
  package var baud: UInt32?
  package var identity = LineIdentity.unknown
  package var use = LineUse.served
  /// The descriptor of its line, which the service owns; nil if the line is not open.
  package var descriptor: Int32?
  /// The reason why a needed receiver is not open, with the next step; nil if it is open or not needed.
  package var fault: String?
  /// The quality of its last epoch; nil if it has no position.
  package var solution: Fix.Quality?
  /// Its corrections; nil if there is no source of corrections.
  package var corrections: CorrectionStatus?
  /// The trust in its signals.
  package var trust = SignalTrust.unknown
  /// The reasons for a trust that is worse than `ok`, the worst first.
  package var reasons: [String] = []

  package init(device: String, isOpen: Bool) {
    self.device = device
    self.isOpen = isOpen
  }

  /// The model, as the receiver reports it; nil before that, and for a receiver that does not report it.
  package var model: String? { if case .identified(let receiver) = identity { receiver.model } else { nil } }
  /// The strings of the receiver's version message, software and hardware first; empty if there are none.
  package var version: [String] { if case .identified(let receiver) = identity { receiver.strings } else { [] } }
}
