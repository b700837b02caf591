// SPDX-License-Identifier: Apache-2.0
import Positioning
import WireBytes

/// The configuration file of the uplink, `/etc/sextant/uplink`: a line has a key, `=` and the value. A comment begins with `#` at
/// the start of a line or after a space.
///
///     server = mqtts://board17@mqtt.example.net:8883
///     format = owntracks
///     interval = 30 s
///     distance = 50 m
struct UplinkConfiguration: Equatable, Sendable {
  /// A line that cannot be used, with the next step.
  struct Mistake: Error, Equatable {
    /// From 1; 0 for the file as a whole.
    var line: Int
    var text: String
  }

  var server: ServerAddress
  var format: PayloadFormat
  /// The topic of MQTT.
  var topic: String
  var clientID: String
  /// The file with the authorities of the server's certificate; nil for the system's authorities.
  var authorities: String?
  var certificate: String?
  var key: String?
  /// The protocol of TLS's negotiation, such as `x-amzn-mqtt-ca` on port 443 of AWS.
  var alpn: String?
  /// 4 for MQTT 3.1.1, 5 for MQTT 5.
  var mqttVersion: Int32 = 4
  var keepaliveSeconds = 60
  var schedule = FixSchedule.Settings()
  var queueBytes = 4 << 20
  var queueAgeSeconds: Int64? = 7 * 86_400
  var toleranceMetres = 10.0
  var backlogPerSecond = 20.0
  var backlogIsNewestFirst = false
  var allowed: Set<RemoteCommand.Name> = []

  /// Whether the connection stays open between the fixes: for commands, and where opening one costs more than keeping it.
  var keepsConnection: Bool {
    !allowed.isEmpty || (schedule.intervalSeconds ?? 0) < Double(2 * keepaliveSeconds)
  }

  private static let keys = [
    "server", "format", "topic", "client-id", "ca", "cert", "key", "alpn", "mqtt-version", "keepalive", "interval",
    "distance",
    "accuracy", "activity", "stationary", "queue", "tolerance", "backlog", "allow", "payload", "content-type",
  ]

  /// Reads the text of a file.
  ///
  /// - Parameter host: the name of this computer, for a client id and a topic that are not given.
  /// - Throws: ``Mistake`` for the first line that cannot be used.
  init(parsing text: String, host: String) throws(Mistake) {
    var values: [String: (text: String, line: Int)] = [:]
    for (index, line) in (text.after("\u{FEFF}") ?? text[...]).lines.enumerated() {
      let line = Self.withoutComment(line)
      if line.isEmpty { continue }
      guard let sign = line.position(of: "=") else {
        throw Mistake(line: index + 1, text: "`\(line.prefix(40))` has no `=`; write `key = value`")
      }
      let key = String(Self.trimmed(line[..<sign]))
      guard Self.keys.contains(key) else {
        throw Mistake(
          line: index + 1, text: "`\(key.prefix(40))` is unknown; the keys are \(Self.keys.joined(separator: ", "))")
      }
      guard values[key] == nil else {
        throw Mistake(line: index + 1, text: "`\(key)` appears twice; remove one of the lines")
      }
      let value = String(Self.trimmed(line[line.utf8.index(after: sign)...]))
      guard !value.isEmpty else { throw Mistake(line: index + 1, text: "`\(key)` has no value") }
      values[key] = (value, index + 1)
    }
    func mistake(_ key: String, _ text: String) -> Mistake { Mistake(line: values[key]?.line ?? 0, text: text) }

    guard let address = values["server"]?.text else {
      throw Mistake(line: 0, text: "`server` is missing; add a line such as `server = mqtts://user@host:8883`")
    }
    guard let server = ServerAddress(address) else {
      throw mistake("server", "`\(address)` is not an address; write mqtt://, mqtts://, http:// or https:// and a host")
    }
    self.server = server
    clientID = values["client-id"]?.text ?? host
    let clientID = clientID
    // The name of the board is known now, and the topic of commands needs it.
    topic = Self.text(values["topic"]?.text ?? "owntracks/\(server.user ?? "sextant")/{device}", device: clientID)
    if topic.includes("#") || topic.includes("+") {
      throw mistake(values["topic"] == nil ? "client-id" : "topic", "a topic has no `#` and no `+`")
    }
    format = try Self.format(values, topic: topic, mistake)
    if format == .traccar || format == .traccarJSON, server.isMQTT {
      throw mistake("format", "traccar and traccar-json are forms of HTTP; write `server = https://…`")
    }
    if case .homeAssistant = format, !server.isMQTT {
      throw mistake("format", "homeassistant is a form of MQTT; write `server = mqtts://…`, or another format")
    }
    authorities = values["ca"]?.text
    certificate = values["cert"]?.text
    key = values["key"]?.text
    if (certificate == nil) != (key == nil) {
      throw mistake(certificate == nil ? "key" : "cert", "`cert` and `key` are used together; add the other one")
    }
    alpn = values["alpn"]?.text
    if let version = values["mqtt-version"]?.text {
      guard let number: Int32 = ["3.1.1": 4, "5": 5][version] else {
        throw mistake("mqtt-version", "`\(version)` is not a version of MQTT here; write 3.1.1 or 5")
      }
      mqttVersion = number
    }
    func quantity(_ key: String, _ units: [(String, Double)], _ range: ClosedRange<Double>) throws(Mistake) -> Double? {
      guard let text = values[key]?.text else { return nil }
      guard let value = Self.quantity(text, units), range.contains(value) else {
        let names = units.map(\.0).joined(separator: ", ")
        throw mistake(key, "`\(text)` is not a value of `\(key)`: a number with a unit of \(names), in its range")
      }
      return value
    }
    if let seconds = try quantity("keepalive", Self.times, 5...3600) {
      keepaliveSeconds = Int(exactly: seconds.rounded()) ?? 60
    }
    schedule.intervalSeconds = try quantity("interval", Self.times, 0.1...31_536_000)
    schedule.distanceMetres = try quantity("distance", Self.lengths, 0...10_000_000)
    schedule.accuracyMetres = try quantity("accuracy", Self.lengths, 0.01...100_000) ?? schedule.accuracyMetres
    if let text = values["stationary"]?.text {
      let words = text.after("every ").map(String.init) ?? text
      guard let seconds = Self.quantity(words, Self.times), (1...31_536_000).contains(seconds) else {
        throw mistake("stationary", "`\(text)` is not a time; write `every 6 h`")
      }
      schedule.stationarySeconds = seconds
    }
    if let text = values["activity"]?.text {
      let names: [String: Activity] = [
        "other": .other, "automotive": .automotiveNavigation, "fitness": .fitness, "navigation": .otherNavigation,
        "airborne": .airborne,
      ]
      guard let activity = names[text] else {
        throw mistake("activity", "`\(text)` is unknown; write other, automotive, fitness, navigation or airborne")
      }
      schedule.activity = activity
    }
    if let text = values["queue"]?.text {
      let parts = text.parts(at: ",").map { String(Self.trimmed($0)) }
      let least = Double(FixQueue<QueueFolder>.Limits.leastBytes)
      guard (1...2).contains(parts.count), let size = Self.quantity(parts[0], Self.sizes), (least...4e9).contains(size),
        let bytes = Int(exactly: size.rounded())
      else {
        throw mistake("queue", "`\(text)` is not a size and an age; write `4 MB, 7 d`; the smallest size is 64 kB")
      }
      queueBytes = bytes
      if parts.count == 2 {
        guard let age = Self.quantity(parts[1], Self.times), (1...3_153_600_000).contains(age) else {
          throw mistake("queue", "`\(parts[1])` is not an age; write `7 d`")
        }
        queueAgeSeconds = Int64(exactly: age.rounded())
      }
    }
    toleranceMetres = try quantity("tolerance", Self.lengths, 0...100_000) ?? toleranceMetres
    for word in values["backlog"]?.text.parts(at: ",").flatMap(\.words) ?? [] {
      switch word {
      case "oldest-first": backlogIsNewestFirst = false
      case "newest-first": backlogIsNewestFirst = true
      default:
        guard word.ends(with: "/s"), let rate = Double(word.dropLast(2)), (0.01...1000).contains(rate) else {
          throw mistake("backlog", "`\(word)` is unknown; write oldest-first or newest-first, and a rate such as 20/s")
        }
        backlogPerSecond = rate
      }
    }
    for word in values["allow"]?.text.parts(at: ",").flatMap(\.words) ?? [] {
      guard let name = RemoteCommand.Name(rawValue: String(word)) else {
        let names = RemoteCommand.Name.allCases.map(\.rawValue).joined(separator: ", ")
        throw mistake("allow", "`\(word)` is not a command; the commands are \(names)")
      }
      allowed.insert(name)
    }
  }

  /// A text with the name of the device in place of each `{device}`. A split by a text would bring the library of regular expressions.
  private static func text(_ text: String, device: String) -> String {
    var (done, rest) = ("", text[...])
    while let brace = rest.position(of: "{") {
      let after = rest[brace...].after("{device}")
      done += rest[..<brace] + (after == nil ? "{" : device)
      rest = after ?? rest[rest.utf8.index(after: brace)...]
    }
    return done + rest
  }

  private static func format(
    _ values: [String: (text: String, line: Int)], topic: String, _ mistake: (String, String) -> Mistake
  ) throws(Mistake) -> PayloadFormat {
    let name = values["format"]?.text ?? "owntracks"
    if name != "template", values["payload"] != nil { throw mistake("payload", "`payload` needs `format = template`") }
    switch name {
    case "owntracks": return .ownTracks
    case "homeassistant": return .homeAssistant
    case "traccar": return .traccar
    case "traccar-json": return .traccarJSON
    case "geojson": return .geoJSON
    case "template":
      guard var text = values["payload"]?.text else {
        throw mistake("format", "a template needs `payload = \"{latitude},{longitude}\"`")
      }
      if text.utf8.count >= 2, text.begins(with: "\""), text.ends(with: "\"") {
        text = String(text.dropFirst().dropLast())
      }
      let fields = Template.Text(topic)
      return .template(
        Template(
          topic: fields.isConstant ? nil : fields, payload: Template.Text(text),
          contentType: values["content-type"]?.text ?? "application/json"))
    default:
      throw mistake(
        "format",
        "`\(name)` is unknown; the formats are owntracks, homeassistant, traccar, traccar-json, geojson and template")
    }
  }

  // MARK: Values

  private static let times = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)]
  private static let lengths = [("m", 1.0), ("km", 1000.0)]
  private static let sizes = [
    ("kB", 1024.0), ("KB", 1024.0), ("KiB", 1024.0), ("MB", 1_048_576.0), ("MiB", 1_048_576.0), ("GB", 1_073_741_824.0),
    ("GiB", 1_073_741_824.0), ("B", 1.0),
  ]

  /// A number and its unit; without a unit, the first one of factor 1. `50 m`, `50m`, `6 h`.
  static func quantity(_ text: String, _ units: [(String, Double)]) -> Double? {
    let number = text.prefix { $0.isNumber || ".-+".contains($0) }
    let unit = String(trimmed(text[number.endIndex...]))
    guard let value = Double(number), value.isFinite else { return nil }
    if unit.isEmpty { return units.contains { $0.1 == 1 } ? value : nil }
    return units.first { $0.0 == unit }.map { value * $0.1 }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = Substring(text.utf8.drop { $0 == 0x20 || $0 == 0x09 })
    return start.utf8.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { start[..<start.utf8.index(after: $0)] } ?? ""
  }
  private static func trimmed(_ text: String) -> Substring { trimmed(text[...]) }

  private static func withoutComment(_ line: Substring) -> Substring {
    var before = UInt8(ascii: " ")
    for (index, byte) in zip(line.utf8.indices, line.utf8) {
      if byte == UInt8(ascii: "#"), before == 0x20 || before == 0x09 { return trimmed(line[..<index]) }
      before = byte
    }
    return trimmed(line)
  }
}

/// The address of a server: `mqtts://user@host:8883`, `https://host/path`.
struct ServerAddress: Equatable, Sendable {
  enum Scheme: String, Sendable { case mqtt, mqtts, http, https }

  var scheme: Scheme
  var user: String?
  var host: String
  var port: Int
  /// With the `/`; of HTTP alone.
  var path: String

  init?(_ text: String) {
    guard let colon = text.position(of: ":"), let scheme = Scheme(rawValue: String(text[..<colon])),
      var rest = text[colon...].after("://")
    else { return nil }
    if rest.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x21 }) { return nil }
    path = ""
    if let slash = rest.position(of: "/") {
      path = String(rest[slash...])
      rest = rest[..<slash]
    }
    if let sign = rest.lastPosition(of: "@") {
      user = String(rest[..<sign])
      // A password would be in the list of processes and in logs.
      if user?.includes(":") == true || user?.isEmpty == true { return nil }
      rest = rest[rest.utf8.index(after: sign)...]
    }
    self.scheme = scheme
    port = [.mqtt: 1883, .mqtts: 8883, .http: 80, .https: 443][scheme] ?? 0
    // The brackets of an IPv6 address belong to the address.
    if let inner = rest.after("[") {
      guard let end = inner.position(of: "]") else { return nil }
      host = String(inner[..<end])
      rest = inner[inner.utf8.index(after: end)...]
    } else {
      host = String(rest.before(":"))
      rest = rest[(rest.position(of: ":") ?? rest.endIndex)...]
    }
    if let digits = rest.after(":") {
      guard let number = Int(digits), (1...65_535).contains(number) else { return nil }
      port = number
      rest = ""
    }
    guard rest.isEmpty, !host.isEmpty else { return nil }
    if isMQTT, !path.isEmpty, path != "/" { return nil }
  }

  var isMQTT: Bool { scheme == .mqtt || scheme == .mqtts }
  var usesTLS: Bool { scheme == .mqtts || scheme == .https }
  /// Whether the server is on this computer, so that no route is needed.
  var isLocal: Bool { host == "localhost" || host.hasPrefix("127.") || host == "::1" }

  /// The address of HTTP, without the user.
  var url: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(scheme.rawValue)://\(name):\(port)\(path.isEmpty ? "/" : path)"
  }

  /// For messages.
  var text: String { "\(scheme.rawValue)://\(host.contains(":") ? "[\(host)]" : host):\(port)\(path)" }
}
