// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Delays a suspend of the computer, which logind announces, until the receiver sleeps, for at most two seconds. The
/// inputs are messages and the time, the outputs are calls; it does not use a bus.
///
/// The program always has a delay lock. logind announces a suspend with PrepareForSleep(true) and waits for the release
/// of all delay locks, for five seconds by default (InhibitDelayMaxSec). The lock is taken again after
/// PrepareForSleep(false).
package struct SuspendWatch: Sendable {
  package enum Output: Hashable, Sendable {
    case call(BusCall)
    /// The lock, which delays a suspend while the file is open.
    case inhibit(BusFile)
    case release
    /// The computer suspends as soon as the lock is released.
    case suspending
    /// The computer has resumed, or did not suspend.
    case resumed
  }

  private enum Request: Int { case rule = 1, lock }

  /// The longest delay of a suspend.
  package static let longestDelay = Milliseconds(2000)

  private static let login = "org.freedesktop.login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let path = "/org/freedesktop/login1"

  private var isLocked = false
  private var isSuspending = false
  private var releaseAt: Instant?
  private var outputs: [Output] = []

  package init() {}

  /// The time of the next `wake`.
  package var deadline: Instant? { releaseAt }

  /// Returns the next output; nil if there is none.
  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// Handles the connection of the bus.
  package mutating func connected() {
    for rule in [
      "type='signal',sender='\(Self.login)',interface='\(Self.manager)',member='PrepareForSleep'",
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.login)'",
    ] { outputs.append(.call(.match(BusToken(.suspend, Request.rule.rawValue), rule))) }
    takeLock()
  }

  /// Handles the loss of the bus, or the end of the demand for suspends.
  package mutating func disconnected() {
    self = SuspendWatch()
    outputs.append(.release)
  }

  /// Releases the lock, because the receiver is ready for the suspend.
  package mutating func allow() {
    guard releaseAt != nil else { return }
    releaseAt = nil
    release()
  }

  /// Performs the actions that are due.
  package mutating func wake(at now: Instant) {
    guard let due = releaseAt, now >= due else { return }
    allow()
  }

  /// Handles a message. Refusals are ignored: a computer without logind does not suspend through it.
  package mutating func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token):
      guard token.number == Request.lock.rawValue, case .file(let file)? = message.body.first else { return }
      isLocked = true
      outputs.append(.inhibit(file))
    case .refusal: break
    case .signal(_, Self.manager, "PrepareForSleep"):
      guard let begins = message.body.first?.flag, begins != isSuspending else { return }
      isSuspending = begins
      if begins {
        outputs.append(.suspending)
        releaseAt = now + Self.longestDelay
      } else {
        releaseAt = nil
        outputs.append(.resumed)
        if !isLocked { takeLock() }
      }
    case .signal(_, "org.freedesktop.DBus", "NameOwnerChanged"):
      guard message.body.count == 3, message.body[0].text == Self.login else { return }
      // Locks end with the logind that granted them.
      release()
      releaseAt = nil
      if isSuspending {
        isSuspending = false
        outputs.append(.resumed)
      }
      if message.body[2].text != "" { takeLock() }
    case .signal: break
    }
  }

  private mutating func takeLock() {
    outputs.append(
      .call(
        BusCall(
          BusToken(.suspend, Request.lock.rawValue), Self.login, Self.path, Self.manager, "Inhibit",
          [.text("sleep"), .text("sextant"), .text("The GNSS receiver is put to sleep"), .text("delay")])))
  }

  private mutating func release() {
    guard isLocked else { return }
    isLocked = false
    outputs.append(.release)
  }
}
