// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Positioning
import ReceiverStream
import WireBytes

/// The stored state as lines of text: a heading with the kind and its version, then a line for each record, with tabs between
/// its fields. A line that cannot be read is skipped, so that one bad region does not affect the others. A last line
/// without a line feed was truncated and counts as unreadable, because half a number is also a number.
enum StateText {
  // MARK: Fields

  /// Replaces bytes that are not `plain`, and every %, with %XX.
  static func escape(_ text: String, plain: (UInt8) -> Bool = { $0 > 0x20 && $0 != 0x7F }) -> String {
    text.percentEncoded(plain: plain)
  }

  static func unescape(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == 0x25, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") + "\n" }

  /// Returns the fields of each line after the heading; nil if the heading differs.
  static func lines(of text: String, heading: String) -> [[Substring]]? {
    guard let end = text.lastPosition(of: "\n") else { return nil }
    let lines = text[..<end].parts(at: "\n")
    guard lines.first == heading[...] else { return nil }
    return lines.dropFirst().map { $0.parts(at: "\t", omittingEmpty: false) }
  }

  static func optional<Value: CustomStringConvertible>(_ value: Value?) -> String { value?.description ?? "-" }
  static func flag(_ value: Bool) -> String { value ? "yes" : "no" }

  // MARK: Regions

  static let regionsHeading = "sextant regions 1"

  static func text(of records: [Regions.Record]) -> String {
    var text = regionsHeading + "\n"
    for record in records {
      let region = record.region
      var fields = fields(of: region.shape)
      fields += [
        flag(region.notifiesOnEntry), flag(region.notifiesOnExit), record.state.rawValue.description,
        optional(record.marginMetres), escape(region.identifier),
      ]
      // Written only if it is set, because earlier versions read nine fields.
      if region.notifiesStateOnDisplay { fields.append(flag(true)) }
      // An invalid value would count as damage at the next start.
      if Self.region(fields.map { $0[...] }) != nil { text += line(fields) }
    }
    return text
  }

  static func regions(in text: String) -> [Regions.Record] {
    (lines(of: text, heading: regionsHeading) ?? []).compactMap(region)
  }

  static func region(_ fields: [Substring]) -> Regions.Record? {
    guard fields.count == 9 || fields.count == 10, let shape = shape(fields),
      let state = Int(fields[6]).flatMap(RegionState.init(rawValue:))
    else { return nil }
    var region = Region(
      unescape(fields[8]), shape, notifiesOnEntry: fields[4] == "yes", notifiesOnExit: fields[5] == "yes")
    region.notifiesStateOnDisplay = fields.count == 10 && fields[9] == "yes"
    return Regions.Record(region, state: state, marginMetres: Double(fields[7]))
  }

  /// Returns four fields.
  static func fields(of shape: Region.Shape) -> [String] {
    switch shape {
    case .circle(let circle):
      [
        "circle", circle.centre.latitudeDegrees.description, circle.centre.longitudeDegrees.description,
        circle.radiusMetres.description,
      ]
    case .beacon(let identity):
      [
        "beacon", String(identity.uuid.high, radix: 16) + ":" + String(identity.uuid.low, radix: 16),
        optional(identity.major), optional(identity.minor),
      ]
    }
  }

  /// Reads the first four fields.
  static func shape(_ fields: some RandomAccessCollection<Substring>) -> Region.Shape? {
    let fields = Array(fields)
    switch fields[0] {
    case "circle":
      guard let centre = coordinate(fields[1], fields[2]), let radius = Double(fields[3]), !radius.isNaN else {
        return nil
      }
      return .circle(Circle(centre: centre, radiusMetres: radius))
    case "beacon":
      let halves = fields[1].parts(at: ":").map { UInt64($0, radix: 16) }
      guard halves.count == 2, let high = halves[0], let low = halves[1] else { return nil }
      return .beacon(
        BeaconIdentity(uuid: BeaconUUID(high: high, low: low), major: UInt16(fields[2]), minor: UInt16(fields[3])))
    default: return nil
    }
  }

  private static func coordinate(_ latitude: Substring, _ longitude: Substring) -> Coordinate? {
    guard let latitude = Double(latitude), let longitude = Double(longitude) else { return nil }
    let coordinate = Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude)
    return coordinate.isValid ? coordinate : nil
  }

  // MARK: Visits

  static let visitsHeading = "sextant visits 1"

  static func text(of record: Visits.Record) -> String {
    var text = visitsHeading + "\n" + line(["running", flag(record.isRunning)])
    if let visit = record.current {
      let fields = [
        "visit", optional(visit.arrival?.nanosecondsSince1970), visit.coordinate.latitudeDegrees.description,
        visit.coordinate.longitudeDegrees.description, visit.horizontalAccuracyMetres.description,
      ]
      if Self.visit(fields.map { $0[...] }) != nil { text += line(fields) }
    }
    return text
  }

  static func visits(in text: String) -> Visits.Record? {
    guard let lines = lines(of: text, heading: visitsHeading) else { return nil }
    var record = Visits.Record(isRunning: false, current: nil)
    for fields in lines {
      if let isRunning = isRunning(fields) { record.isRunning = isRunning }
      if let visit = visit(fields) { record.current = visit }
    }
    return record
  }

  static func isRunning(_ fields: [Substring]) -> Bool? {
    fields.count == 2 && fields[0] == "running" ? fields[1] == "yes" : nil
  }

  static func visit(_ fields: [Substring]) -> Visit? {
    guard fields.count == 5, fields[0] == "visit", let place = coordinate(fields[2], fields[3]),
      let accuracy = Double(fields[4])
    else { return nil }
    return Visit(
      arrival: Int64(fields[1]).map { UTCTime(nanosecondsSince1970: $0) }, departure: nil, coordinate: place,
      horizontalAccuracyMetres: accuracy)
  }

  // MARK: Authorization

  static let authorizationHeading = "sextant authorization 1"

  static func text(of record: Authorization.Record) -> String {
    authorizationHeading + "\n"
      + line([
        record.status.rawValue.description, record.accuracy.rawValue.description, flag(record.hasAskedForUpgrade),
      ])
  }

  static func authorization(in text: String) -> Authorization.Record? {
    guard let lines = lines(of: text, heading: authorizationHeading), lines.count == 1, let fields = lines.first,
      fields.count == 3, let hasAsked = flag(fields[2]),
      let status = Int(fields[0]).flatMap(AuthorizationStatus.init(rawValue:)),
      let accuracy = Int(fields[1]).flatMap(AccuracyAuthorization.init(rawValue:))
    else { return nil }
    return Authorization.Record(status: status, accuracy: accuracy, hasAskedForUpgrade: hasAsked)
  }

  // MARK: The newest location

  static let locationHeading = "sextant location 2"

  static func text(of newest: Location) -> String { String(decoding: bytes(of: newest), as: UTF8.self) }

  /// The same text as bytes, for the record of each fix.
  static func bytes(of newest: Location) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(RecordFile.size)
    bytes += locationHeading.utf8
    var separator = UInt8(ascii: "\n")
    func put(_ field: String) {
      bytes.append(separator)
      bytes += field.utf8
      separator = UInt8(ascii: "\t")
    }
    put(newest.coordinate.latitudeDegrees.description)
    put(newest.coordinate.longitudeDegrees.description)
    put(newest.horizontalAccuracyMetres.description)
    put(newest.altitudeMetres.description)
    put(newest.ellipsoidalAltitudeMetres.description)
    put(newest.verticalAccuracyMetres.description)
    put(newest.courseDegrees.description)
    put(newest.courseAccuracyDegrees.description)
    put(newest.speedMetresPerSecond.description)
    put(newest.speedAccuracyMetresPerSecond.description)
    put(newest.timestamp.nanosecondsSince1970.description)
    put(flag(newest.source?.isSimulatedBySoftware ?? false))
    put(flag(newest.source?.isProducedByAccessory ?? false))
    put(checksum(bytes).description)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// The 32-bit FNV-1a hash, which detects a damaged number that is still a number.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  /// Reads locations that were added to a file one by one, without an incomplete last one.
  static func locations(in text: String) -> [Location] {
    var locations: [Location] = []
    var part = ""
    guard let end = text.lastPosition(of: "\n") else { return [] }
    for line in text[..<end].parts(at: "\n") {
      if line.begins(with: locationHeading), !part.isEmpty {
        locations += [self.location(in: part)].compactMap { $0 }
        part = ""
      }
      part += line + "\n"
    }
    return locations + [self.location(in: part)].compactMap { $0 }
  }

  /// Returns the location of a text; nil if the text is damaged or has an invalid value.
  static func location(in text: String) -> Location? {
    // The record in memory is padded with a line of spaces.
    guard let lines = lines(of: text, heading: locationHeading), let fields = lines.first, fields.count == 14,
      lines.dropFirst().allSatisfy({ $0.count == 1 && $0[0].allSatisfy { $0 == " " } }),
      let sum = text.lastPosition(of: "\t"), UInt32(fields[13]) == checksum(text[..<sum].utf8),
      let place = coordinate(fields[0], fields[1]), let time = Int64(fields[10]), times.contains(time),
      let isSimulated = flag(fields[11]), let isAccessory = flag(fields[12])
    else { return nil }
    let numbers = fields[2..<10].compactMap { Double($0) }
    guard numbers.count == 8, zip(numbers, ranges).allSatisfy({ $1.contains($0) }) else { return nil }
    var newest = Location(
      place, horizontalAccuracyMetres: numbers[0], timestamp: UTCTime(nanosecondsSince1970: time),
      source: Location.Source(isSimulatedBySoftware: isSimulated, isProducedByAccessory: isAccessory))
    newest.altitudeMetres = numbers[1]
    newest.ellipsoidalAltitudeMetres = numbers[2]
    newest.verticalAccuracyMetres = numbers[3]
    newest.courseDegrees = numbers[4]
    newest.courseAccuracyDegrees = numbers[5]
    newest.speedMetresPerSecond = numbers[6]
    newest.speedAccuracyMetresPerSecond = numbers[7]
    return newest
  }

  /// The possible times, from 1970 to 2100, nanoseconds.
  private static let times: Range<Int64> = 0..<4_102_444_800_000_000_000

  /// The possible values after the coordinate, in their order: accuracy, two altitudes, and accuracy in metres; course and
  /// its accuracy in degrees; speed and its accuracy in metres per second. Negative accuracies, courses and speeds mean
  /// unknown.
  private static let ranges: [ClosedRange<Double>] = [
    -1...1e8, -1e5...1e8, -1e5...1e8, -1...1e8, -1...360, -1...1e3, -1...1e5, -1...1e5,
  ]

  private static func flag(_ field: Substring) -> Bool? {
    switch field {
    case "yes": true
    case "no": false
    default: nil
    }
  }
}

/// The stored calibration of a compass: the device's own field, for the sensor with this name.
extension StateText {
  static let compassHeading = "sextant compass 1"

  static func text(of calibration: FieldCalibration, sensor name: String) -> String {
    let numbers = [
      calibration.offsetMicrotesla.x, calibration.offsetMicrotesla.y, calibration.offsetMicrotesla.z,
      calibration.strengthMicrotesla, calibration.residualMicrotesla,
    ]
    return compassHeading + "\n" + line(numbers.map(\.description) + [flag(calibration.isSpatial), escape(name)])
  }

  /// Returns nil for a calibration of another sensor, and for invalid numbers.
  static func calibration(in text: String, sensor name: String) -> FieldCalibration? {
    guard let fields = lines(of: text, heading: compassHeading)?.first, fields.count == 7,
      unescape(fields[6]).utf8.elementsEqual(name.utf8)
    else {
      return nil
    }
    let numbers = fields[..<5].compactMap { Double($0) }
    guard numbers.count == 5, numbers.allSatisfy(\.isFinite), numbers[3] > 0, numbers[4] >= 0 else { return nil }
    return FieldCalibration(
      offsetMicrotesla: SIMD3(numbers[0], numbers[1], numbers[2]), strengthMicrotesla: numbers[3],
      residualMicrotesla: numbers[4], isSpatial: fields[5] == "yes")
  }
}

/// The displacement of the cells of reduced accuracy, in cells.
extension StateText {
  static let cellsHeading = "sextant cells 1"

  static func text(of cells: CellGrid) -> String {
    cellsHeading + "\n" + line([cells.rowShift.description, cells.columnShift.description])
  }

  static func cells(in text: String) -> CellGrid? {
    guard let fields = lines(of: text, heading: cellsHeading)?.first, fields.count == 2, let row = Double(fields[0]),
      let column = Double(fields[1])
    else { return nil }
    return CellGrid(rowShift: row, columnShift: column)
  }
}

/// The conditions of a CLMonitor as text (MO-1): a line for each, with the last handled event.
extension StateText {
  static let monitorHeading = "sextant monitor 1"

  static func text(ofMonitor records: [Monitor.Record]) -> String {
    var text = monitorHeading + "\n"
    for record in records {
      let event = record.lastEvent
      let beacon: Region.Shape? = event.refinement.map { .beacon($0) }
      let condition = fields(of: record.condition)
      let refinement = beacon.map { fields(of: $0) } ?? ["-", "-", "-", "-"]
      let written =
        condition + [
          event.state.rawValue.description, event.date.nanosecondsSince1970.description,
          event.diagnostic.rawValue.description,
        ] + refinement + [escape(event.identifier)]
      // An invalid value would count as damage at the next start.
      if monitorRecord(written.map { $0[...] }) != nil { text += line(written) }
    }
    return text
  }

  static func monitor(in text: String) -> [Monitor.Record] {
    (lines(of: text, heading: monitorHeading) ?? []).compactMap { monitorRecord($0) }
  }

  static func monitorRecord(_ fields: [Substring]) -> Monitor.Record? {
    guard fields.count == 12, let condition = shape(fields[0..<4]),
      let state = UInt(fields[4]).flatMap(Monitor.State.init(rawValue:)), let date = Int64(fields[5]),
      let diagnostic = UInt16(fields[6])
    else { return nil }
    var refinement: BeaconIdentity?
    if case .beacon(let identity) = shape(fields[7..<11]) { refinement = identity }
    return Monitor.Record(
      condition: condition,
      lastEvent: Monitor.Event(
        identifier: unescape(fields[11]), state: state, date: UTCTime(nanosecondsSince1970: date),
        refinement: refinement, diagnostic: Diagnostic(rawValue: diagnostic)))
  }
}
