// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MonotonicTime
import ReceiverRuntime

// The state of a receiver for programs, and its line in the hands of one of them.
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
    // During the search the rate is not known.
    status.baud = connection?.isDetected == true ? connection?.rate : nil
    if let description = connection?.description {
      status.identity = .identified(description)
    } else if isUnidentified {
      status.identity = .unidentified
    }
    return status
  }

  /// Ends the session in order to leave the line to a program. `status` shows when that may have it.
  func lend(_ poller: inout Poller, at now: Instant) {
    guard lending.lend() else { return }
    // It is on while the program has it.
    if let complaint = supply?.set(isOn: true) { complain(complaint) }
    guard let connection else { return findLentLine(&poller, at: now) }
    lentPath = connection.path
    endsAt = endsAt ?? now + Self.restoreTimeout
    connection.finish(&poller, at: now)
  }

  /// Finds the line of a receiver that the service has not open.
  func findLentLine(_ poller: inout Poller, at now: Instant) {
    lentPath = lentPath ?? (try? path(&poller))
    // The path of the simulator is still to come.
    if lentPath == nil, simulator != nil { return }
    lending.released(at: now)
    settleLending()
  }

  /// Opens a line that has come back in the next round, if there is a need for it.
  func settleLending() {
    guard lending.use == .returning else { return }
    lentPath = nil
    if isWanted { nextTry = .zero } else { lending.opened() }
  }

  /// The program needs the line no longer.
  func takeBack(at now: Instant) {
    lending.takeBack(at: now)
    settleLending()
  }
}

extension ServiceSettings.Source {
  /// The path of the line, or another name that `LineAddress` reads; nil if it is found later.
  fileprivate var path: String? { if case .device(let path) = self { path } else { nil } }
}
