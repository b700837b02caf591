import MonotonicTime

/// Hears from logind when the computer is about to suspend, and holds that up until the receiver sleeps, for two seconds at
/// most. Messages and the time go in, calls come out; it has no bus.
///
/// A delay lock is held all the time: logind waits for those who have one, five seconds by its own settings
/// (InhibitDelayMaxSec), and tells them by PrepareForSleep(true). The lock is let go when all is done, which lets the suspend
/// begin, and taken anew after PrepareForSleep(false).
public struct SuspendWatch: Sendable {
  public enum Output: Hashable, Sendable {
    case call(BusCall)
    /// The lock; it is held for as long as somebody has it.
    case hold(BusFile)
    case letGo
    /// The computer suspends as soon as the lock is let go.
    case suspending
    /// It is back, or did not suspend at all.
    case resumed
  }

  private enum Question: Int { case rule = 1, lock }

  /// For how long a suspend is held up.
  public static let patience = Milliseconds(2000)

  private static let login = "org.freedesktop.login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let path = "/org/freedesktop/login1"

  private var isLocked = false
  private var isSuspending = false
  private var letGoAt: Instant?
  private var outputs: [Output] = []

  public init() {}

  /// When `wake` is due.
  public var deadline: Instant? { letGoAt }

  /// The next thing to do; nil when there is no more.
  public mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// The bus is there.
  public mutating func connected() {
    for rule in [
      "type='signal',sender='\(Self.login)',interface='\(Self.manager)',member='PrepareForSleep'",
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.login)'",
    ] { outputs.append(.call(.match(BusToken(.suspend, Question.rule.rawValue), rule))) }
    takeLock()
  }

  /// The bus is gone, or suspends are no longer of interest.
  public mutating func disconnected() {
    self = SuspendWatch()
    outputs.append(.letGo)
  }

  /// All is done that was to be done before the suspend.
  public mutating func isPrepared() {
    guard letGoAt != nil else { return }
    letGoAt = nil
    letGo()
  }

  /// Time has passed.
  public mutating func wake(at now: Instant) {
    guard let due = letGoAt, now >= due else { return }
    isPrepared()
  }

  /// A message that came. Refusals are left alone: a computer without logind does not suspend by it.
  public mutating func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token):
      guard token.number == Question.lock.rawValue, case .file(let file)? = message.body.first else { return }
      isLocked = true
      outputs.append(.hold(file))
    case .refusal: break
    case .signal(_, Self.manager, "PrepareForSleep"):
      guard let begins = message.body.first?.flag, begins != isSuspending else { return }
      isSuspending = begins
      if begins {
        outputs.append(.suspending)
        letGoAt = now + Self.patience
      } else {
        letGoAt = nil
        outputs.append(.resumed)
        if !isLocked { takeLock() }
      }
    case .signal(_, "org.freedesktop.DBus", "NameOwnerChanged"):
      guard message.body.count == 3, message.body[0].text == Self.login else { return }
      // Locks end with the logind that gave them.
      letGo()
      letGoAt = nil
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
          BusToken(.suspend, Question.lock.rawValue), Self.login, Self.path, Self.manager, "Inhibit",
          [.text("sleep"), .text("sextant"), .text("The GNSS receiver is put to sleep"), .text("delay")])))
  }

  private mutating func letGo() {
    guard isLocked else { return }
    isLocked = false
    outputs.append(.letGo)
  }
}
