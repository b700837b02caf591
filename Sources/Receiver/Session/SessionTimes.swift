// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The times that a session assumes of receivers, for a comparison with measured ones.
package enum SessionTimes {
  /// From the first edge of a wake-up until the receiver reads.
  package static var wakeUp: Milliseconds { WakeUp.oscillatorStart }
  /// From the request to sleep until the line is silent.
  package static var settling: Milliseconds { SleepWatch.settling }
  /// How late a receiver may wake by its timer.
  package static var lateness: Milliseconds { SleepWatch.lateness }
  /// The end of a session: settings, and the baud rate after them.
  package static var restoring: Milliseconds { EndPhase.longestRestoring + EndPhase.longestWait }
  /// The shortest sleep of a receiver.
  package static func shortestSleep(of receiver: ReceiverDescription) -> Milliseconds {
    receiver.family?.language?.shortestSleep(on: receiver) ?? SleepRequest.shortest
  }
  /// The longest sleep of a receiver.
  package static func longestSleep(of receiver: ReceiverDescription) -> Milliseconds {
    receiver.family?.language?.longestSleep(on: receiver) ?? SleepRequest.longest
  }
}

extension Command {
  /// The time of all attempts without a reply, on a line that is not busy.
  package var longestWait: Milliseconds {
    RequestInFlight(self, earliest: .zero).longestWait(backlog: Milliseconds(0), bitRate: nil)
  }
}
