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
  /// Ask the user.
  case prompt(Authorization.Prompt)
  /// A line for the log.
  case say(String)
  /// Keep the newest location where the end of the process does not take it.
  case remember(String)
  /// Replace a file of the state folder.
  case store(StateFile, String)
  /// Positions are needed for the first time; the program ends.
  case openReceiver, releaseReceiver
  /// The receivers that stand by beside the first one are needed; no longer needed.
  case openOthers, releaseOthers
  /// What the receiver is to do.
  case receiver(ReceiverOrder)
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
  case regions, visits, authorization

  /// What such files are called.
  static let names: Set<String> = ["newest-location", "regions", "visits", "authorization"]

  static func appFolder(_ app: AppDescription) -> String { "apps/\(app.folderName)" }

  /// Its path in the state folder.
  func path(of app: AppDescription) -> String {
    switch self {
    case .newestLocation: "newest-location"
    case .regions: "\(Self.appFolder(app))/regions"
    case .visits: "\(Self.appFolder(app))/visits"
    case .authorization: "\(Self.appFolder(app))/authorization"
    }
  }
}
