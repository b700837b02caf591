// SPDX-License-Identifier: Apache-2.0
import CSextant

/// A message of the service (varlink.org, "Method Call").
enum Reply {
  /// The position of the parameters in the message; more replies follow if `continues` is true.
  case parameters(position: Int, continues: Bool)
  case failure(sextant_client_result)
  case malformed

  init(_ reader: inout MessageReader) {
    var parameters: Int?
    var failure: sextant_client_result?
    var continues = false
    self = .malformed
    guard reader.beginObject() else { return }
    while let name = reader.nextMember() {
      if reader.equals(name, "parameters") {
        parameters = reader.position
        reader.skip()
      } else if reader.equals(name, "error"), let text = reader.text() {
        failure = Reply.result(text, reader)
      } else if reader.equals(name, "continues") {
        continues = reader.boolean()
      } else {
        reader.skip()
      }
    }
    guard reader.isValid else { return }
    if let failure {
      self = .failure(failure)
    } else if let parameters {
      self = .parameters(position: parameters, continues: continues)
    }
  }

  private static func result(_ text: MessageReader.Text, _ reader: borrowing MessageReader) -> sextant_client_result {
    if reader.equals(text, "org.sextant.Location.Denied") { return SEXTANT_CLIENT_DENIED }
    if reader.equals(text, "org.sextant.Location.NotDetermined") { return SEXTANT_CLIENT_NOT_DETERMINED }
    if reader.equals(text, "org.sextant.Location.LocationUnknown") { return SEXTANT_CLIENT_LOCATION_UNKNOWN }
    if reader.equals(text, "org.sextant.Location.NoReceiver") { return SEXTANT_CLIENT_NO_RECEIVER }
    return SEXTANT_CLIENT_REFUSED
  }
}

extension sextant_location {
  /// Reads the parameters of a reply of RequestLocation or Subscribe; nil if they lack the time or the position.
  init?(_ reader: inout MessageReader) {
    guard reader.beginObject() else { return nil }
    var location: sextant_location?
    while let name = reader.nextMember() {
      if reader.equals(name, "location") {
        location = sextant_location(members: &reader)
      } else {
        reader.skip()
      }
    }
    guard reader.isValid, let location else { return nil }
    self = location
  }

  private init?(members reader: inout MessageReader) {
    self.init()
    latitude_degrees = .nan
    longitude_degrees = .nan
    altitude_metres = .nan
    ellipsoidal_altitude_metres = .nan
    horizontal_accuracy_metres = .nan
    vertical_accuracy_metres = .nan
    speed_metres_per_second = .nan
    course_degrees = .nan
    var time: Int64?
    guard reader.beginObject() else { return nil }
    while let name = reader.nextMember() {
      if reader.equals(name, "timestamp") {
        time = reader.time()
      } else if reader.equals(name, "latitude") {
        latitude_degrees = reader.number()
      } else if reader.equals(name, "longitude") {
        longitude_degrees = reader.number()
      } else if reader.equals(name, "altitude") {
        altitude_metres = reader.number()
      } else if reader.equals(name, "ellipsoidalAltitude") {
        ellipsoidal_altitude_metres = reader.number()
      } else if reader.equals(name, "horizontalAccuracy") {
        horizontal_accuracy_metres = reader.number()
      } else if reader.equals(name, "verticalAccuracy") {
        vertical_accuracy_metres = reader.number()
      } else if reader.equals(name, "speed") {
        speed_metres_per_second = reader.number()
      } else if reader.equals(name, "course") {
        course_degrees = reader.number()
      } else if reader.equals(name, "isSimulated") {
        is_simulated = reader.boolean()
      } else {
        reader.skip()
      }
    }
    guard reader.isValid, let time, abs(latitude_degrees) <= 90, abs(longitude_degrees) <= 180 else { return nil }
    time_nanoseconds_since_1970 = time
  }
}

/// The status of the service: positions of texts in the message, and numbers.
struct ServiceStatus {
  struct Receiver {
    var device: MessageReader.Text?
    var model: MessageReader.Text?
    var state: MessageReader.Text?
    var reason: MessageReader.Text?
    var fix: MessageReader.Text?
  }
  var receivers = InlineArray<16, Receiver>(repeating: Receiver())
  var receiverCount = 0
  var programCount = 0
  var version: MessageReader.Text?
  var uptimeSeconds = Double.nan

  /// Reads the parameters of a reply of GetStatus; nil if they are not a status.
  init?(_ reader: inout MessageReader) {
    guard reader.beginObject() else { return nil }
    while let name = reader.nextMember() {
      if reader.equals(name, "status") {
        readStatus(&reader)
      } else {
        reader.skip()
      }
    }
    guard reader.isValid, version != nil else { return nil }
  }

  private mutating func readStatus(_ reader: inout MessageReader) {
    guard reader.beginObject() else { return }
    while let name = reader.nextMember() {
      if reader.equals(name, "receivers") {
        guard reader.beginArray() else { return }
        while reader.nextElement() { readReceiver(&reader) }
      } else if reader.equals(name, "programs") {
        guard reader.beginArray() else { return }
        while reader.nextElement() {
          reader.skip()
          guard reader.isValid else { return }
          programCount += 1
        }
      } else if reader.equals(name, "service") {
        readService(&reader)
      } else {
        reader.skip()
      }
    }
  }

  /// Receivers beyond the capacity of the structure are read and dropped.
  private mutating func readReceiver(_ reader: inout MessageReader) {
    var receiver = Receiver()
    guard reader.beginObject() else { return }
    while let name = reader.nextMember() {
      if reader.equals(name, "device") {
        receiver.device = reader.text()
      } else if reader.equals(name, "model") {
        receiver.model = reader.text()
      } else if reader.equals(name, "state") {
        receiver.state = reader.text()
      } else if reader.equals(name, "reason") {
        receiver.reason = reader.text()
      } else if reader.equals(name, "fix") {
        receiver.fix = reader.text()
      } else {
        reader.skip()
      }
    }
    guard receiverCount < receivers.count else { return }
    receivers[receiverCount] = receiver
    receiverCount += 1
  }

  private mutating func readService(_ reader: inout MessageReader) {
    guard reader.beginObject() else { return }
    while let name = reader.nextMember() {
      if reader.equals(name, "version") {
        version = reader.text()
      } else if reader.equals(name, "uptimeSeconds") {
        uptimeSeconds = reader.number()
      } else {
        reader.skip()
      }
    }
  }
}
