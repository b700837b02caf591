// SPDX-License-Identifier: Apache-2.0
import Messages
import Testing

@testable import sextant_uplink

@Suite struct FormatTests {
  private let fix: QueuedFix = {
    var fix = walkFix(0)
    fix.sequence = 12
    fix.latitudeDegrees = 48.1234567
    fix.longitudeDegrees = -11.5
    fix.courseDegrees = 271.25
    fix.speedMetresPerSecond = 10
    return fix
  }()

  private func writer(_ format: PayloadFormat) -> PayloadWriter {
    PayloadWriter(format: format, topic: "owntracks/ann/van 7", clientID: "van 7", queueIdentity: "9af3")
  }

  private func text(_ payload: Payload) -> String { String(decoding: payload.body, as: UTF8.self) }

  @Test("OwnTracks: a location") func ownTracks() throws {
    let payload = writer(.ownTracks).payload(of: fix, battery: 81, regions: ["yard"])
    #expect(payload.topic == "owntracks/ann/van 7")
    let json = try JSON(parsing: payload.body)
    #expect(json["_type"] == "location" && json["tid"] == " 7" && json["tst"] == 1_800_000_000 && json["t"] == "t")
    #expect(json["lat"] == 48.1234567 && json["lon"] == -11.5)
    // Whole metres, km/h and degrees.
    #expect(json["acc"] == 3 && json["alt"] == 519 && json["vac"] == 4 && json["vel"] == 36 && json["cog"] == 271)
    #expect(json["batt"] == 81 && json["inregions"] == ["yard"])
    #expect(json["_id"]?.string == "9af3-12-1a319e25000" || json["_id"]?.string?.hasPrefix("9af3-12-") == true)
  }

  @Test("An unknown value is absent") func absent() throws {
    var bare = fix
    bare.horizontalAccuracyMetres = nil
    bare.altitudeMetres = nil
    bare.speedMetresPerSecond = nil
    let json = try JSON(parsing: writer(.ownTracks).payload(of: bare).body)
    #expect(
      json["acc"] == nil && json["alt"] == nil && json["vel"] == nil && json["batt"] == nil && json["inregions"] == nil)
  }

  @Test("OwnTracks: a transition, waypoints, the will") func ownTracksOthers() throws {
    var crossing = fix
    crossing.trigger = .exit
    let yard = Waypoint(
      name: "yard", latitudeDegrees: 48, longitudeDegrees: 11, radiusMetres: 150, madeSeconds: 1_700_000_000)
    let transition = writer(.ownTracks).transition(crossing, region: yard)
    #expect(transition.topic == "owntracks/ann/van 7/event")
    let json = try JSON(parsing: transition.body)
    #expect(json["event"] == "leave" && json["desc"] == "yard" && json["wtst"] == 1_700_000_000 && json["acc"] == 3)
    let list = writer(.ownTracks).waypoints([yard])
    #expect(list.topic.hasSuffix("/waypoints"))
    #expect(
      text(list)
        == #"{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"yard","lat":48.0,"lon":11.0,"rad":150,"tst":1700000000}]}"#
    )
    #expect(writer(.ownTracks).will(connectedSince: 5).map(text) == #"{"_type":"lwt","tst":5}"#)
  }

  @Test("The identifier is the same on a repeat, and another for a number that is used again") func identifiers() {
    let writer = writer(.ownTracks)
    var other = fix
    other.utcNanoseconds += 1_000_000_000
    #expect(writer.identifier(of: fix) == writer.identifier(of: fix))
    #expect(writer.identifier(of: fix) != writer.identifier(of: other))
  }

  @Test("Home Assistant: discovery, attributes, availability") func homeAssistant() throws {
    let writer = writer(.homeAssistant)
    let greetings = writer.greetings()
    #expect(
      greetings.map(\.topic) == ["homeassistant/device_tracker/van_7/config", "owntracks/ann/van 7/availability"])
    #expect(greetings.count { $0.isRetained } == 2)
    let discovery = try JSON(parsing: greetings[0].body)
    #expect(discovery["json_attributes_topic"] == "owntracks/ann/van 7/attributes" && discovery["source_type"] == "gps")
    #expect(discovery["unique_id"] == "van 7" && discovery["device"]?["identifiers"] == ["van 7"])
    let json = try JSON(parsing: writer.payload(of: fix).body)
    #expect(json["latitude"] == 48.1234567 && json["gps_accuracy"] == 2.5)
    #expect(json["last_fix"] == "2027-01-15T08:00:00.000Z")
  }

  @Test("Traccar: OsmAnd's query, in knots") func traccar() {
    let query = text(writer(.traccar).payload(of: fix, battery: 50))
    let fields = Dictionary(
      uniqueKeysWithValues: query.split(separator: "&").map { field in
        let parts = field.split(separator: "=", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
      })
    #expect(fields["id"] == "van%207" && fields["timestamp"] == "1800000000" && fields["lat"] == "48.1234567")
    #expect(fields["bearing"] == "271.25" && fields["batt"] == "50")
    #expect(abs((fields["speed"].flatMap(Double.init) ?? 0) - 19.4384) < 0.001)
  }

  @Test("Traccar's JSON, in m/s and with a level of the battery from 0 to 1") func traccarJSON() throws {
    let payload = writer(.traccarJSON).payload(of: fix, battery: 50)
    #expect(payload.contentType == "application/json")
    let json = try JSON(parsing: payload.body)
    let place = json["location"]?["coords"]
    #expect(json["device_id"] == "van 7" && json["location"]?["timestamp"] == "2027-01-15T08:00:00.000Z")
    #expect(place?["latitude"] == 48.1234567 && place?["longitude"] == -11.5 && place?["altitude"] == 519.25)
    #expect(place?["speed"] == 10.0 && place?["heading"] == 271.25 && place?["accuracy"] == 2.5)
    #expect(json["location"]?["battery"]?["level"] == 0.5)
    #expect(json["location"]?["extras"]?["fixId"]?.string?.hasPrefix("9af3-12-") == true)
    var bare = fix
    bare.speedMetresPerSecond = nil
    let unknown = try JSON(parsing: writer(.traccarJSON).payload(of: bare).body)["location"]
    #expect(unknown?["coords"]?["speed"] == nil && unknown?["battery"] == nil)
  }

  @Test("GeoJSON has the longitude first") func geoJSON() throws {
    let json = try JSON(parsing: writer(.geoJSON).payload(of: fix).body)
    #expect(json["geometry"]?["coordinates"] == [-11.5, 48.1234567, 519.25])
    #expect(json["properties"]?["speed"] == 10.0 && json["properties"]?["latitude"] == nil)
  }

  @Test("A template writes fields, and leaves other braces") func template() {
    let template = Template(
      topic: Template.Text("a/{device}"),
      payload: Template.Text(#"{"p":[{latitude},{longitude}],"s":{speed},"x":{nothing}}"#))
    var bare = fix
    bare.speedMetresPerSecond = nil
    let payload = writer(.template(template)).payload(of: bare)
    #expect(payload.topic == "a/van 7")
    #expect(text(payload) == #"{"p":[48.1234567,-11.5],"s":null,"x":{nothing}}"#)
  }

  @Test(
    "Texts in a template of JSON are escaped, in another message and in a topic they are not",
    arguments: [
      ("application/json", true), ("application/json; charset=utf-8", true), ("application/geo+json", true),
      ("Application/JSON", true), ("text/csv", false), ("application/jsonlines", false),
    ])
  func escapes(type: String, isJSON: Bool) throws {
    let name = "a\"b\\c\nd\u{1}é"
    var writer = writer(
      .template(
        Template(
          topic: Template.Text("a/{device}"),
          payload: Template.Text(#"{"d":"{device}","t":"{timestamp}","lat":{latitude},"s":{simulated}}"#),
          contentType: type)))
    writer.clientID = name
    let payload = writer.payload(of: fix)
    #expect(payload.topic == "a/" + name)
    if isJSON {
      let json = try JSON(parsing: payload.body)
      #expect(json["d"]?.string == name && json["t"] == "2027-01-15T08:00:00.000Z")
      #expect(json["lat"] == 48.1234567 && json["s"] == false)
    } else {
      #expect(text(payload).hasPrefix("{\"d\":\"\(name)\",\"t\":\"2027-01-15T08:00:00.000Z\","))
    }
  }
}

@Suite struct RemoteCommandTests {
  private func read(_ text: String, _ allowed: Set<RemoteCommand.Name> = Set(RemoteCommand.Name.allCases)) throws
    -> RemoteCommand
  {
    try RemoteCommand(Array(text.utf8), allowed: allowed)
  }

  @Test("Nothing is allowed by default, and each command by its name alone") func allowed() throws {
    for name in RemoteCommand.Name.allCases {
      let text = #"{"_type":"cmd","action":"\#(name.rawValue)","waypoints":{"waypoints":[]},"configuration":{}}"#
      #expect(throws: RemoteCommand.Refusal.self) { try read(text, []) }
      #expect(throws: RemoteCommand.Refusal.self) {
        try read(text, Set(RemoteCommand.Name.allCases).subtracting([name]))
      }
      _ = try read(text, [name])
    }
    #expect(throws: RemoteCommand.Refusal.self) { try read(#"{"_type":"cmd","action":"dump"}"#) }
    #expect(throws: RemoteCommand.Refusal.self) { try read(#"{"_type":"location","action":"reportLocation"}"#) }
  }

  @Test("Waypoints as OwnTracks writes them") func waypoints() throws {
    let text = """
      {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
        {"_type":"waypoint","desc":"yard","lat":48.1,"lon":11.6,"rad":150,"tst":1700000000},
        {"_type":"waypoint","desc":"place","lat":48.2,"lon":11.6,"rad":0,"tst":1}]}}
      """
    #expect(
      try read(text)
        == .setWaypoints([
          Waypoint(
            name: "yard", latitudeDegrees: 48.1, longitudeDegrees: 11.6, radiusMetres: 150, madeSeconds: 1_700_000_000)
        ]))
  }

  @Test(
    "Waypoints out of range are refused whole",
    arguments: [
      #""lat":91,"lon":0,"rad":100"#, #""lat":0,"lon":1e300,"rad":100"#, #""lat":0,"lon":0,"rad":-5"#,
      #""lat":0,"lon":0,"rad":1e9"#, #""lat":"0","lon":0,"rad":100"#, #""lon":0,"rad":100"#,
    ])
  func wrongWaypoints(place: String) {
    let text = #"{"_type":"cmd","action":"setWaypoints","waypoints":{"waypoints":[{"desc":"a",\#(place)}]}}"#
    #expect(throws: RemoteCommand.Refusal.self) { try read(text) }
  }

  @Test("20,000 damaged commands end in a command or a refusal") func damaged() throws {
    var random = SystemRandomNumberGenerator()
    let text = Array(
      #"{"_type":"cmd","action":"setWaypoints","waypoints":{"waypoints":[{"desc":"y","lat":48,"lon":11,"rad":150,"tst":1e9}]}}"#
        .utf8)
    var carried = 0
    for _ in 0..<20_000 {
      var damaged = text
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let command = try? RemoteCommand(damaged, allowed: [.setWaypoints]),
        case .setWaypoints(let waypoints) = command
      else {
        continue
      }
      carried += 1
      #expect(waypoints.allSatisfy { RemoteCommand.radii.contains($0.radiusMetres) && abs($0.latitudeDegrees) <= 90 })
    }
    #expect(carried > 0)
  }
}
