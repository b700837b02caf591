// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import UBX

/// Polls of the messages that the page shows and that the session does not switch on: signals, radio, spectrum, and the
/// receiver's statements about jamming and spoofing. A message that
/// the receiver refuses is polled no more in the session. The replies are in the stream.
struct RadioPolls {
  private struct Poll {
    var message: MessageIdentity
    var interval: Milliseconds
    /// The least rate of a line with a rate, baud, at which the reply leaves room for the receiver's own messages.
    var leastRate: UInt32
    var due = Instant.zero
    var isRefused = false
    var hasReply = false
  }

  // NAV-SIG, MON-RF, MON-HW of receivers without MON-RF, MON-SPAN, SEC-SIG, and NAV-STATUS of receivers without SEC-SIG.
  private var polls = [
    Poll(message: MessageIdentity(0x01, 0x43), interval: Milliseconds(1000), leastRate: 38_400),
    Poll(message: MessageIdentity(0x0A, 0x38), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x0A, 0x09), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x0A, 0x31), interval: Milliseconds(5000), leastRate: 38_400),
    Poll(message: MessageIdentity(0x27, 0x09), interval: Milliseconds(2000), leastRate: 9600),
    Poll(message: MessageIdentity(0x01, 0x03), interval: Milliseconds(2000), leastRate: 9600),
  ]
  private var sent: (ticket: SessionTicket, index: Int)?
  private(set) var deadline: Instant?

  /// Sends the next poll that is due, one at a time.
  mutating func work(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard sent == nil, connection.isSteady, connection.description != nil else {
      // The outcome of a poll, and the session, wake the loop.
      deadline = nil
      return
    }
    deadline = nil
    for index in polls.indices where isWanted(index, connection.rate) {
      guard polls[index].due <= now else {
        deadline = .earlier(deadline, polls[index].due)
        continue
      }
      polls[index].due = now + polls[index].interval
      var command = Command.poll(polls[index].message)
      command.attempts = 1
      guard let ticket = connection.submit(command, &poller, at: now) else { return }
      sent = (ticket, index)
      deadline = nil
      return
    }
  }

  private func isWanted(_ index: Int, _ rate: UInt32?) -> Bool {
    let poll = polls[index]
    // MON-HW has what MON-RF has.
    if index == 2, !polls[1].isRefused { return false }
    if index == 5, !polls[4].isRefused { return false }
    return !poll.isRefused && rate.map { $0 >= poll.leastRate } ?? true
  }

  mutating func finished(_ ticket: SessionTicket, _ outcome: Outcome) {
    guard let sent, sent.ticket == ticket else { return }
    self.sent = nil
    switch outcome {
    case .answered: polls[sent.index].hasReply = true
    // A reply can be lost on the line; a message that never came is not there.
    case .refused, .silent: polls[sent.index].isRefused = !polls[sent.index].hasReply
    default: break
    }
  }
}
