// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning

/// The limits on a user's part of the daemon's resources, so that no user blocks the others. docs/guides/service.md
/// lists them.
///
/// The user of the daemon and root have a separate share of each, the reserve of the administrator.
enum ServiceLimits {
  /// Connections to the location socket. Each has a descriptor and some kilobytes; a desktop has a few dozen programs.
  static let connections = Share(ofUser: 128, ofUsers: 512, ofAdministrator: 512)
  /// Connected programs with demands, each with an engine and a copy of its state.
  static let programs = Share(ofUser: 32, ofUsers: 256, ofAdministrator: 512)
  /// Managers, streams, sessions, activities and monitors of the programs of a user; a kilobyte each, in several copies.
  static let objects = Share(ofUser: 1024, ofUsers: 4096, ofAdministrator: 8192)
  /// The objects of one program.
  static let objectsOfProgram = 256
  /// Clients of gpsd, per user or address of the other end. Each may leave 64 kB unread.
  static let clients = Share(ofUser: 64, ofUsers: 384, ofAdministrator: 128)
  /// The time after which a client of gpsd without a watch that sends nothing is closed.
  static let idleClient = Milliseconds(60_000)
  /// Bytes in the queues of a user's connections, received or to be sent. The queues take up to three times this
  /// memory.
  static let queuedBytes = Share(ofUser: 4 << 20, ofUsers: 12 << 20, ofAdministrator: 16 << 20)
  /// The length of a name or a text in a program's description and in its messages, in bytes of UTF-8.
  static let textBytes = TextLimit.bytes
  /// The length of a program's identifier, which is part of the name of its folder.
  static let identifierBytes = 128
  /// The time for which one connection is served before the next one's turn: a location is delayed at most by the turns
  /// of a round.
  static let turn = Milliseconds(1)
  /// The turns of a round: the receivers are read in each round.
  static let turnsOfRound = 16
  /// The time of a round within which a user who has had a turn gets a further one.
  static let round = Milliseconds(2)
  /// The connections that a round accepts or closes at a socket. Before a connection's first turn the service only
  /// looks up its user, so that users who connect continuously do not block others in the queue of the listener.
  static let acceptsOfRound = 256
  /// The same for clients of gpsd, for which the look-up of the user is a request to the kernel.
  static let clientAcceptsOfRound = 64
  /// The log lines that a user may cause in an interval.
  static let logLines = (count: 8, time: Milliseconds(60_000))
  /// The length of a log line with text from a program.
  static let logLineBytes = 512
  /// The changes of stored permissions by a user in an interval: each is a write to the disk, for which the daemon
  /// waits.
  static let storedChanges = (count: 16, time: Milliseconds(10_000))
  /// The programs of a user with a stored permission. Each is a folder, and all are read for the list.
  static let storedPrograms = 256
  /// The time for which the list of a user's programs is cached.
  static let listAge = Milliseconds(1000)
  /// The time for which the fault of a device in the status is cached.
  static let deviceFaultAge = Milliseconds(2000)
}
