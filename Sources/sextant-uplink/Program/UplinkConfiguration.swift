// SPDX-License-Identifier: Apache-2.0
import Positioning

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
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = Self.withoutComment(line)
      if line.isEmpty { continue }
      guard let sign = line.firstIndex(of: "=") else {
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
      let value = String(Self.trimmed(line[line.index(after: sign)...]))
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
    if topic.contains(where: { $0 == "#" || $0 == "+" }) {
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
      let words = text.hasPrefix("every ") ? String(text.dropFirst(6)) : text
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
      let parts = text.split(separator: ",").map { String(Self.trimmed($0)) }
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
    for word in values["backlog"]?.text.split(whereSeparator: { $0 == " " || $0 == "," }) ?? [] {
      switch word {
      case "oldest-first": backlogIsNewestFirst = false
      case "newest-first": backlogIsNewestFirst = true
      default:
        guard word.hasSuffix("/s"), let rate = Double(word.dropLast(2)), (0.01...1000).contains(rate) else {
          throw mistake("backlog", "`\(word)` is unknown; write oldest-first or newest-first, and a rate such as 20/s")
        }
        backlogPerSecond = rate
      }
    }
    for word in values["allow"]?.text.split(whereSeparator: { $0 == " " || $0 == "," }) ?? [] {
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
    while let brace = rest.firstIndex(of: "{") {
      let isDevice = rest[brace...].hasPrefix("{device}")
      done += rest[..<brace] + (isDevice ? device : "{")
      rest = rest[brace...].dropFirst(isDevice ? "{device}".count : 1)
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
      if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
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
    let start = text.drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
  private static func trimmed(_ text: String) -> Substring { trimmed(text[...]) }

  private static func withoutComment(_ line: Substring) -> Substring {
    var before: Character = " "
    for index in line.indices {
      if line[index] == "#", before == " " || before == "\t" { return trimmed(line[..<index]) }
      before = line[index]
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
    guard let colon = text.firstIndex(of: ":"), let scheme = Scheme(rawValue: String(text[..<colon])) else {
      return nil
    }
    guard text[colon...].hasPrefix("://") else { return nil }
    var rest = text[text.index(colon, offsetBy: 3)...]
    if rest.contains(where: { $0.isWhitespace || $0.asciiValue.map { $0 < 0x21 } ?? false }) { return nil }
    path = ""
    if let slash = rest.firstIndex(of: "/") {
      path = String(rest[slash...])
      rest = rest[..<slash]
    }
    if let sign = rest.lastIndex(of: "@") {
      user = String(rest[..<sign])
      // A password would be in the list of processes and in logs.
      if user?.contains(":") == true || user?.isEmpty == true { return nil }
      rest = rest[rest.index(after: sign)...]
    }
    self.scheme = scheme
    port = [.mqtt: 1883, .mqtts: 8883, .http: 80, .https: 443][scheme] ?? 0
    // The brackets of an IPv6 address belong to the address.
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      rest = rest[end...]
    }
    if rest.hasPrefix(":") {
      guard let number = Int(rest.dropFirst()), (1...65_535).contains(number) else { return nil }
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
