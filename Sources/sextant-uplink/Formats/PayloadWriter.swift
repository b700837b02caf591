// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import WireBytes

/// Builds messages: what a fix is to a server.
struct PayloadWriter: Sendable {
  var format: PayloadFormat
  /// The topic of MQTT.
  var topic: String
  var clientID: String
  /// The name of the queue, in the identifiers of fixes.
  var queueIdentity: String

  /// The same on every repeat of a fix, and different for any other. The time is in it because the number of a fix that a loss
  /// of power took is used again.
  func identifier(of fix: QueuedFix) -> String {
    let milliseconds = fix.utcNanoseconds / 1_000_000
    return "\(queueIdentity)-\(fix.sequence)-\(String(milliseconds, radix: 16))"
  }

  /// - Parameter battery: 0…100; nil without a battery.
  /// - Parameter regions: the names of the regions that the fix is in.
  func payload(of fix: QueuedFix, battery: Int? = nil, regions: [String] = []) -> Payload {
    switch format {
    case .ownTracks: Payload(topic: topic, body: text(ownTracks(fix, battery, regions)))
    case .homeAssistant: Payload(topic: "\(topic)/attributes", body: text(homeAssistant(fix, battery)))
    case .traccar: traccar(fix, battery)
    case .traccarJSON: Payload(body: text(traccarJSON(fix, battery)))
    case .geoJSON: Payload(topic: topic, body: text(geoJSON(fix, battery)), contentType: "application/geo+json")
    case .template(let template):
      Payload(
        topic: template.topic?.text(fields(fix)) ?? topic, body: template.body(fields(fix)),
        contentType: template.contentType)
    }
  }

  func text(_ json: JSON) -> [UInt8] {
    // Every number here is finite, and nothing is nested deeply.
    (try? json.text()) ?? []
  }

  // MARK: OwnTracks

  private func ownTracks(_ fix: QueuedFix, _ battery: Int?, _ regions: [String]) -> JSON {
    let trigger =
      switch fix.trigger {
      case .schedule: "t"
      case .request: "r"
      case .region, .entry, .exit: "c"
      }
    return JSON(omittingNil: [
      "_type": "location", "_id": identifier(of: fix), "tid": String(clientID.suffix(2)),
      "tst": seconds(fix.utcNanoseconds), "lat": fix.latitudeDegrees, "lon": fix.longitudeDegrees,
      "acc": Self.whole(fix.horizontalAccuracyMetres), "alt": Self.whole(fix.altitudeMetres),
      "vac": Self.whole(fix.verticalAccuracyMetres), "vel": Self.whole(fix.speedMetresPerSecond, factor: 3.6),
      "cog": Self.whole(fix.courseDegrees), "t": trigger, "batt": battery,
      "inregions": regions.isEmpty ? nil : regions,
    ])
  }

  /// A whole number, by OwnTracks' description of its JSON.
  private static func whole(_ value: Double?, factor: Double = 1) -> Int64? {
    value.flatMap { Int64(exactly: ($0 * factor).rounded()) }
  }

  /// OwnTracks' message of a crossing: its fix has the place and the time.
  func transition(_ fix: QueuedFix, region: Waypoint) -> Payload {
    let message = JSON(omittingNil: [
      "_type": "transition", "_id": identifier(of: fix), "event": fix.trigger == .entry ? "enter" : "leave",
      "desc": region.name, "tid": String(clientID.suffix(2)), "t": "c", "tst": seconds(fix.utcNanoseconds),
      "wtst": region.madeSeconds, "lat": fix.latitudeDegrees, "lon": fix.longitudeDegrees,
      "acc": Self.whole(fix.horizontalAccuracyMetres),
    ])
    return Payload(topic: "\(topic)/event", body: text(message))
  }

  /// OwnTracks' list of the regions that are set.
  func waypoints(_ waypoints: [Waypoint]) -> Payload {
    let elements = waypoints.map { waypoint -> JSON in
      [
        "_type": "waypoint", "desc": .string(waypoint.name), "lat": .double(waypoint.latitudeDegrees),
        "lon": .double(waypoint.longitudeDegrees),
        "rad": .integer(Int64(exactly: waypoint.radiusMetres.rounded()) ?? 0),
        "tst": .integer(waypoint.madeSeconds),
      ]
    }
    return Payload(topic: "\(topic)/waypoints", body: text(["_type": "waypoints", "waypoints": .array(elements)]))
  }

  /// The message that the broker sends when the connection is lost; nil for a format without one.
  func will(connectedSince seconds: Int64) -> Payload? {
    switch format {
    case .ownTracks:
      Payload(
        topic: topic, body: text(["_type": "lwt", "tst": .integer(seconds)]))
    case .homeAssistant: Payload(topic: "\(topic)/availability", body: Array("offline".utf8), isRetained: true)
    case .traccar, .traccarJSON, .geoJSON, .template: nil
    }
  }

  // MARK: Home Assistant

  /// The messages after each connection: OwnTracks' status, or Home Assistant's discovery of a device tracker, and that it is available.
  func greetings() -> [Payload] {
    if format == .ownTracks {
      return [
        Payload(
          topic: "\(topic)/status",
          body: text(["_type": "status", "sextant": ["version": .string(SextantVersion.text)]]))
      ]
    }
    guard format == .homeAssistant else { return [] }
    let discovery: JSON = [
      "name": .null,
      "unique_id": .string(clientID),
      "json_attributes_topic": .string("\(topic)/attributes"),
      "availability_topic": .string("\(topic)/availability"),
      "source_type": "gps",
      "device": ["identifiers": [.string(clientID)], "name": .string(clientID), "manufacturer": "Sextant"],
      "origin": ["name": "sextant-uplink"],
    ]
    // The broker keeps both, so that a restart of Home Assistant finds the tracker.
    return [
      Payload(
        topic: "homeassistant/device_tracker/\(Self.objectID(clientID))/config", body: text(discovery), isRetained: true
      ),
      Payload(topic: "\(topic)/availability", body: Array("online".utf8), isRetained: true),
    ]
  }

  /// Alphanumerics, `_` and `-`, as Home Assistant allows in a topic of discovery.
  static func objectID(_ name: String) -> String {
    String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { scalar in
          switch scalar {
          case "a"..."z", "A"..."Z", "0"..."9", "_", "-": scalar
          default: "_"
          }
        }))
  }

  private func homeAssistant(_ fix: QueuedFix, _ battery: Int?) -> JSON {
    JSON(omittingNil: [
      "latitude": fix.latitudeDegrees, "longitude": fix.longitudeDegrees, "gps_accuracy": fix.horizontalAccuracyMetres,
      "altitude": fix.altitudeMetres, "vertical_accuracy": fix.verticalAccuracyMetres,
      "speed": fix.speedMetresPerSecond, "course": fix.courseDegrees, "battery_level": battery,
      "last_fix": fix.iso8601, "fix_id": identifier(of: fix),
    ])
  }

  // MARK: Traccar

  /// OsmAnd's form, one position a request. Speeds are in knots there.
  private func traccar(_ fix: QueuedFix, _ battery: Int?) -> Payload {
    var fields = [
      ("id", clientID), ("timestamp", String(seconds(fix.utcNanoseconds))), ("lat", "\(fix.latitudeDegrees)"),
      ("lon", "\(fix.longitudeDegrees)"),
    ]
    if let value = fix.altitudeMetres { fields.append(("altitude", "\(value)")) }
    if let value = fix.speedMetresPerSecond {
      fields.append(("speed", "\((value * 3_600_000 / 1852).rounded() / 1000)"))
    }
    if let value = fix.courseDegrees { fields.append(("bearing", "\(value)")) }
    if let value = fix.horizontalAccuracyMetres { fields.append(("accuracy", "\(value)")) }
    if let battery { fields.append(("batt", String(battery))) }
    fields.append(("fixId", identifier(of: fix)))
    let query = fields.map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
    return Payload(body: Array(query.utf8), contentType: "application/x-www-form-urlencoded")
  }

  /// Traccar's JSON (traccar.org/osmand), one position a request. Speeds are in m/s, the battery's level is 0…1.
  private func traccarJSON(_ fix: QueuedFix, _ battery: Int?) -> JSON {
    let place = JSON(omittingNil: [
      "latitude": fix.latitudeDegrees, "longitude": fix.longitudeDegrees, "accuracy": fix.horizontalAccuracyMetres,
      "altitude": fix.altitudeMetres, "speed": fix.speedMetresPerSecond, "heading": fix.courseDegrees,
    ])
    let location = JSON(omittingNil: [
      "timestamp": fix.iso8601, "coords": place, "extras": ["fixId": .string(identifier(of: fix))] as JSON,
      "battery": battery.map { ["level": .double(Double($0) / 100)] as JSON },
    ])
    return ["location": location, "device_id": .string(clientID)]
  }

  // MARK: GeoJSON

  private func geoJSON(_ fix: QueuedFix, _ battery: Int?) -> JSON {
    var place: [JSON] = [.double(fix.longitudeDegrees), .double(fix.latitudeDegrees)]
    if let altitude = fix.altitudeMetres { place.append(.double(altitude)) }
    var properties = [JSON.Member("id", .string(identifier(of: fix))), JSON.Member("device", .string(clientID))]
    properties += fields(fix).compactMap { name, value in
      switch name {
      case "latitude", "longitude", "altitude", "id", "device": nil
      default: value.map { JSON.Member(name, $0) }
      }
    }
    if let battery { properties.append(JSON.Member("battery", .integer(Int64(battery)))) }
    return [
      "type": "Feature",
      "id": .string(identifier(of: fix)),
      "geometry": ["type": "Point", "coordinates": .array(place)],
      "properties": .object(properties),
    ]
  }

  // MARK: Fields

  /// The names of `sextant track --json`, for templates; nil for an unknown value.
  private func fields(_ fix: QueuedFix) -> [(String, JSON?)] {
    [
      ("timestamp", .string(fix.iso8601)),
      ("tst", .integer(seconds(fix.utcNanoseconds))),
      ("latitude", .double(fix.latitudeDegrees)),
      ("longitude", .double(fix.longitudeDegrees)),
      ("altitude", fix.altitudeMetres.map { .double($0) }),
      ("horizontalAccuracy", fix.horizontalAccuracyMetres.map { .double($0) }),
      ("verticalAccuracy", fix.verticalAccuracyMetres.map { .double($0) }),
      ("speed", fix.speedMetresPerSecond.map { .double($0) }),
      ("course", fix.courseDegrees.map { .double($0) }),
      ("id", .string(identifier(of: fix))),
      ("device", .string(clientID)),
      ("simulated", .bool(fix.isSimulated)),
    ]
  }

  private func seconds(_ nanoseconds: Int64) -> Int64 {
    // Rounded down, so that the order of two times holds before 1970 too.
    nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -((999_999_999 - nanoseconds) / 1_000_000_000)
  }
}
