// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime

// The state of a receiver for programs, and the lending of its line.
extension ReceiverSource {
  var status: ReceiverStatus {
    let name =
      switch source {
      case .device(let path): path
      case .simulator(let scenario): "sim:\(scenario)"
      case .firstFound: connection?.path ?? lentPath ?? ""
      }
    var status = ReceiverStatus(device: name, isOpen: connection?.isOpen ?? false)
    status.line = connection?.path ?? lentPath ?? source.path ?? simulator?.path
    status.use = lending.use
    status.fault = networkFault ?? (connection == nil && isWanted ? lastComplaint : nil)
    status.descriptor = connection?.fileDescriptor
    status.solution = solution
    status.corrections = corrections?.feed.status
    let now = SystemClock.monotonic
    status.trust = trust.trust(at: now)
    if status.trust > .ok { status.reasons = trust.reasons(at: now) }
    // During the search the rate is not known.
    status.baud = connection?.isDetected == true ? connection?.rate : nil
    if let description = connection?.description {
      status.identity = .identified(description)
    } else if isUnidentified {
      status.identity = .unidentified
    }
    return status
  }

  /// Ends the session to lend the line to a program. `status` shows when the program may have it.
  func lend(_ poller: inout Poller, at now: Instant) {
    guard lending.lend() else { return }
    // The receiver is on while the program has it.
    if let complaint = supply?.set(isOn: true) { complain(complaint) }
    lendEngine(at: now)
    guard let connection else { return findLentLine(&poller, at: now) }
    lentPath = connection.path
    endsAt = endsAt ?? now + Self.restoreTimeout
    // The program does not wait for the receiver's orbits.
    connection.set(nil as AssistanceSettings?, at: now)
    connection.finish(&poller, at: now)
  }

  /// Finds the line of a receiver that the service does not have open.
  func findLentLine(_ poller: inout Poller, at now: Instant) {
    lentPath = lentPath ?? (try? path(&poller))
    // The path of the simulator is not known yet.
    if lentPath == nil, simulator != nil { return }
    lending.released(at: now)
    settleLending()
  }

  /// Opens a returned line in the next round, if it is needed.
  func settleLending() {
    guard lending.use == .returning else { return }
    lentPath = nil
    if isWanted { nextTry = .zero } else { lending.opened() }
  }

  /// Handles the return of the line by the program.
  func takeBack(at now: Instant) {
    lending.takeBack(at: now)
    settleLending()
  }
}

extension ServiceSettings.Source {
  /// The path of the line, or another name that `LineAddress` reads; nil until it is found.
  fileprivate var path: String? { if case .device(let path) = self { path } else { nil } }
}
