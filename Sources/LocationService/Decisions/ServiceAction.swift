// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import Power
import Receiver

/// The actions of one round of the service.
struct ServiceRound {
  var before: [ServiceAction] = []
  /// The delegates' events. Their delivery waits for `remembered`: it delivers no event before the location is remembered.
  var events: [ServiceAction] = []
  var remembered: ServiceAction?
  var after: [ServiceAction] = []
  /// State that is stored after the events were sent.
  var stores: [ServiceAction] = []

  /// All, in the order in which a service inside a program performs them.
  var actions: [ServiceAction] { before + events + (remembered.map { [$0] } ?? []) + after + stores }
}

/// An action of the service's thread.
package enum ServiceAction: Equatable {
  case program(ProgramID, ProgramAction)
  /// Writes a line to the log.
  case log(String)
  /// Keeps the newest location in memory that outlives the process, before a delegate is called with it.
  case remember(Location)
  /// Replaces a file of the state folder that all programs share.
  case store(StateFile, String)
  /// Replaces the file of the newest location without waiting for the disk: the copy in memory outlives the process
  /// until then.
  case storeNewestLater(String)
  /// Replaces a file of a program's state after the events of the round were sent to the program, which recognises
  /// repeated events: a service that is killed in between does not lose them.
  case storeAfterEvents(ProgramID, StateFile, String)
  case openReceiver, releaseReceiver
  /// Opens or releases the standby receivers.
  case openStandby, releaseStandby
  /// Ends the session with a receiver and leaves its line to a program; takes the line back.
  case lend(receiver: Int), takeBack(receiver: Int)
  /// Sets the measurements of the computer's own sensors from now on.
  case sense(SensorDemand)
  /// Lets the computer suspend.
  case readyForSuspend
  case receiver(ReceiverCommand)
  /// Adds a location to the file of deferred locations; empties the file.
  case keepLocation(String), discardLocations
  /// Opens the journal of a batch: received bytes are stored until their fixes are delivered.
  case keepBatch(BatchJournal)
  /// Records in the journal that fixes up to this one are delivered.
  case noteBatch(BatchJournal)
  /// Clears the journal; `collects` is true if the receiver continues to collect.
  case discardBatch(collects: Bool)
}

/// An action for one program.
package enum ProgramAction: Equatable, Sendable {
  /// An output of the program's engine, other than a change of stored state.
  case output(PositioningOutput)
  /// The diagnostic of the sessions has changed.
  case sessions(Diagnostic)
  /// Replaces a file of the program's state.
  case store(StateFile, String)
}

/// A file of the state folder.
package enum StateFile: Hashable, Sendable {
  /// The newest location, which all programs share (LC-2).
  case newestLocation
  /// The device's own magnetic field, which all programs share.
  case compass
  /// Undelivered locations that a deferral keeps.
  case deferred
  case regions, visits, authorization
  /// The conditions of the CLMonitor of this name.
  case monitor(String)

  /// The names of all these files except monitors'.
  static let names: Set<String> = [
    "newest-location", "compass", "deferred", "regions", "visits", "authorization", "launch",
  ]

  /// Whether its lines have checksums in the file (``ChecksummedText``). Each location has its own checksum.
  var hasChecksum: Bool {
    switch self {
    case .newestLocation, .deferred: false
    case .compass, .regions, .visits, .authorization, .monitor: true
    }
  }

  static func appFolder(_ app: AppDescription) -> String { "apps/\(app.folderName)" }

  /// The path in the state folder.
  func path(of app: AppDescription) -> String {
    switch self {
    case .newestLocation: "newest-location"
    case .compass: "compass"
    case .regions: "\(Self.appFolder(app))/regions"
    case .visits: "\(Self.appFolder(app))/visits"
    case .authorization: "\(Self.appFolder(app))/authorization"
    case .monitor(let name): "\(Self.appFolder(app))/monitors/\(AppDescription.place(of: name, isFolder: false))"
    case .deferred: "\(Self.appFolder(app))/deferred"
    }
  }
}
