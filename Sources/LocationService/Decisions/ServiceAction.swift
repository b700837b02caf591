import Positioning
import Receiver
import ReceiverPower

/// What the service's thread has to do, in this order.
enum ServiceAction: Equatable {
  /// Hand an event to a client's mailbox.
  case deliver(Positioning.ClientID, DelegateEvent, Ticket)
  case temporaryAccuracy(Positioning.ClientID, token: Int, PositioningError?)
  case showCalibration(Positioning.ClientID, Bool)
  case live(Int, LiveUpdate)
  /// A monitor of this name has an event that waits.
  case monitorHasEvent(String)
  /// What stands in the way of sessions has changed.
  case sessions(Diagnostic)
  /// Ask the user.
  case prompt(Authorization.Prompt)
  /// A line for the log.
  case log(String)
  /// Keep the newest location where the end of the process does not take it; before a delegate is told of it, whose event
  /// may be on its way already.
  case remember(Location)
  /// Replace a file of the state folder.
  case store(StateFile, String)
  /// Positions are needed for the first time; the program ends.
  case openReceiver, releaseReceiver
  /// What the computer's own sensors have to give from now on.
  case sense(SensorDemand)
  /// The computer may suspend now.
  case readyForSuspend
  /// The receivers that stand by beside the first one are needed; no longer needed.
  case openOthers, releaseOthers
  /// What the receiver is to do.
  case receiver(ReceiverCommand)
  /// A location that a deferral keeps is added to the file of those; all of them are delivered.
  case keepLocation(String), forgetLocations
  /// The receiver keeps fixes from now on: what the line brings is kept until it is delivered.
  case keepBatch(BatchJournal)
  /// Fixes up to here are delivered.
  case noteBatch(BatchJournal)
  /// All fixes that were taken out of the receiver are delivered; whether it goes on collecting.
  case forgetBatch(collects: Bool)
}

/// A file of the state folder.
enum StateFile: Hashable {
  /// The newest location, which all programs share (LC-2).
  case newestLocation
  /// The device's own magnetic field, which all programs share.
  case compass
  /// Locations that came while they were deferred, and are not delivered.
  case deferred
  case regions, visits, authorization
  /// The conditions of a CLMonitor by its name.
  case monitor(String)

  /// What such files are called.
  static let names: Set<String> = ["newest-location", "compass", "deferred", "regions", "visits", "authorization"]

  static func appFolder(_ app: AppDescription) -> String { "apps/\(app.folderName)" }

  /// Its path in the state folder.
  func path(of app: AppDescription) -> String {
    switch self {
    case .newestLocation: "newest-location"
    case .compass: "compass"
    case .regions: "\(Self.appFolder(app))/regions"
    case .visits: "\(Self.appFolder(app))/visits"
    case .authorization: "\(Self.appFolder(app))/authorization"
    case .monitor(let name): "\(Self.appFolder(app))/monitors/\(AppDescription.fileName(of: name, dots: false))"
    case .deferred: "\(Self.appFolder(app))/deferred"
    }
  }
}
