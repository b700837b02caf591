// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// A stage of a session, with the machine that works in it. The machines are indirect: each epoch reads the stage many times, mostly
/// in `steady`, and copies a pointer then.
enum SessionStage {
  /// No frame is received: the rate is searched, or a silent receiver is waited for.
  case searching
  /// Frames are received; the identity is polled at `pollAt`, or once the frames show a u-blox receiver.
  case listening(pollAt: Instant?)
  indirect case identifying(Identification)
  indirect case configuring(Configuration)
  /// The same for a receiver of another maker.
  indirect case identifyingFamily(FamilyIdentification)
  indirect case working(FamilyWork)
  indirect case restoringValues(FamilyWork)
  indirect case changingRate(PortRateChange)
  /// The receiver has its configuration; submitted commands, batches and assistance have their turn.
  case steady
  /// The settings go to battery-backed memory.
  indirect case storing(BackupStore)
  indirect case asleep(SleepWatch)
  indirect case waking(WakeUp)
  indirect case readingDatabase(DatabaseReading, until: Instant)
  indirect case restoring(Configuration)
  indirect case restoringRate(PortRateChange)
  indirect case restoringBackup(BackupStore)
  case ended

  enum Name: String, CaseIterable {
    case searching, listening, identifying, configuring, changingRate, steady, storing, asleep, waking
    case readingDatabase, restoring, restoringRate, restoringBackup, ended
  }

  var name: Name {
    switch self {
    case .searching: .searching
    case .listening: .listening
    case .identifying, .identifyingFamily: .identifying
    case .configuring, .working: .configuring
    case .changingRate: .changingRate
    case .steady: .steady
    case .storing: .storing
    case .asleep: .asleep
    case .waking: .waking
    case .readingDatabase: .readingDatabase
    case .restoring, .restoringValues: .restoring
    case .restoringRate: .restoringRate
    case .restoringBackup: .restoringBackup
    case .ended: .ended
    }
  }
}

/// An event to which a stage reacts.
enum StageEvent {
  /// Time has passed.
  case time
  /// No request is in flight: the next one can start.
  case idle
  /// The request of the stage ended.
  case reply(Outcome)
  /// Whole frames were received.
  case frames
  /// MON-VER was received without a request in flight.
  case version([UInt8])
  /// Bytes are received, and no frames among them.
  case garbage
  /// No bytes are received from a receiver that should send some.
  case silence
  /// The desired configuration was set.
  case newConfiguration
  /// The frames show that the receiver lost its configuration.
  case configurationLost
  case wakeUp
  case finish
  /// The time for the end is over.
  case timeout
  case lineLost
}

/// A change of the stage and its cause: an edge of the diagram in the comment of `ReceiverSession`.
struct StageTransition: Hashable {
  enum Cause: String, CaseIterable {
    case frames, poll, identified, noReply, noRoom, configured, reconfigure, raiseRate, rateDone, store, stored
    case sleep, wake, awake, doesNotSleep, doesNotWake, silence, garbage, finish, restored, timeout, lineLost
  }

  let from: SessionStage.Name
  let cause: Cause
  let to: SessionStage.Name

  var isLegal: Bool { Self.targets(of: from, on: cause).contains(to) }

  /// The stages that can follow `stage` on `cause`.
  static func targets(of stage: SessionStage.Name, on cause: Cause) -> [SessionStage.Name] {
    switch (stage, cause) {
    case (.ended, _): []
    case (_, .lineLost): [.ended]
    // Both end at once.
    case (.searching, .timeout), (.asleep, .timeout): []
    case (_, .timeout): [.ended]
    case (.searching, .frames): [.listening]
    case (.searching, .poll), (.listening, .poll): [.identifying]
    case (.identifying, .identified): [.configuring]
    case (.identifying, .noReply): [.listening, .searching]
    case (.identifying, .noRoom): [.changingRate]
    case (.configuring, .configured): [.steady]
    case (.changingRate, .rateDone): [.steady, .listening]
    case (.steady, .reconfigure): [.configuring]
    case (.steady, .raiseRate): [.changingRate]
    case (.steady, .store): [.storing]
    case (.storing, .stored): [.steady]
    case (.steady, .sleep): [.asleep]
    case (.asleep, .wake): [.waking]
    case (.asleep, .awake), (.waking, .awake), (.asleep, .doesNotSleep): [.steady]
    case (.waking, .doesNotWake): [.searching]
    case (.listening, .silence), (.identifying, .silence), (.configuring, .silence), (.steady, .silence),
      (.storing, .silence):
      [.searching]
    case (.listening, .garbage), (.identifying, .garbage), (.configuring, .garbage), (.steady, .garbage),
      (.storing, .garbage), (.asleep, .garbage), (.waking, .garbage):
      [.searching]
    case (.searching, .finish): [.restoring, .ended]
    case (.listening, .finish), (.identifying, .finish), (.configuring, .finish), (.steady, .finish),
      (.storing, .finish), (.waking, .finish):
      [.readingDatabase, .restoring, .ended]
    case (.asleep, .finish): [.waking, .ended]
    case (.readingDatabase, .finish): [.restoring, .ended]
    case (.restoring, .restored): [.restoringRate, .restoringBackup]
    case (.restoringRate, .restored): [.restoringBackup]
    case (.restoringBackup, .restored): [.ended]
    default: []
    }
  }
}
