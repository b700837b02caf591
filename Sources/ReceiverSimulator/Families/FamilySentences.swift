// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import WireBytes

/// Writes the sentences of a solution in a receiver's own form.
struct FamilySentences {
  let solution: Solution
  let format: SentenceFormat
  let systems: SatelliteSystems

  /// The sentences with a formatter.
  func sentences(_ formatter: String) -> [String] {
    switch formatter {
    case "GGA": [gga]
    case "GLL": ["\(talker)GLL,\(position),\(time),\(status),\(mode)"]
    case "GSA": numbered.map(gsa)
    case "GSV": numbered.flatMap { gsv($0) }
    case "RMC": [rmc]
    case "VTG": [vtg]
    case "ZDA": [zda]
    case "GST": [gst]
    case "TXT": format.antennaText.map { ["GPTXT,01,01,01,\($0)"] } ?? []
    default: []
    }
  }

  private var talker: String { systems == .gps ? "GP" : "GN" }
  private var status: String { solution.hasFix ? "A" : "V" }
  private var mode: String { solution.hasFix ? "A" : "N" }

  private var position: String {
    guard solution.hasFix else { return ",,," }
    let north = angle(solution.latitudeDegrees, digits: 2)
    let east = angle(solution.longitudeDegrees, digits: 3)
    return "\(north),\(solution.latitudeDegrees < 0 ? "S" : "N"),\(east),\(solution.longitudeDegrees < 0 ? "W" : "E")"
  }

  /// `ddmm.mmmm`.
  private func angle(_ degrees: Double, digits: Int) -> String {
    let scale = Self.power(format.minuteDecimals)
    let units = Int64(clamping: (abs(degrees) * 60 * Double(scale)).rounded())
    let (minutes, fraction) = units.quotientAndRemainder(dividingBy: scale)
    return (minutes / 60).digits(digits) + (minutes % 60).digits(2) + "."
      + fraction.digits(format.minuteDecimals)
  }

  private var time: String {
    guard solution.hasTime else { return "" }
    let civil = solution.civil
    let fraction = Int64(solution.millisecond) * Self.power(format.timeDecimals) / 1000
    return civil.hour.digits(2) + civil.minute.digits(2) + civil.second.digits(2)
      + "."
      + fraction.digits(format.timeDecimals)
  }

  private var gga: String {
    let dop = solution.hdop.decimals(format.dopDecimals)
    let used = (solution.hasFix ? min(solution.used, format.hasNumbers ? 99 : 12) : 0).digits(2)
    guard solution.hasFix else { return "\(talker)GGA,\(time),\(position),0,\(used),,,M,,M,," }
    return
      "\(talker)GGA,\(time),\(position),\(quality),\(used),\(dop),\(solution.altitudeMetres.decimals(format.altitudeDecimals)),M,"
      + "\(Solution.geoidSeparation.decimals(1)),M,,"
  }

  /// 7 is a position that was given, or surveyed before (Unicore's GGA).
  private var quality: Int { solution.isBase && format.marksBase ? 7 : 1 }

  private var course: String { degreesOfCourse(solution).decimals(2) }

  private var rmc: String {
    let civil = solution.civil
    let date =
      solution.hasTime
      ? civil.day.digits(2) + civil.month.digits(2) + (civil.year % 100).digits(2)
      : ""
    let motion = solution.hasFix ? "\((solution.speed * 3600 / 1852).decimals(2)),\(course)" : ","
    return "\(talker)RMC,\(time),\(status),\(position),\(motion),\(date),,,\(mode)\(format.hasNumbers ? ",V" : "")"
  }

  private var vtg: String {
    guard solution.hasFix else { return "\(talker)VTG,,T,,M,,N,,K,N" }
    return "\(talker)VTG,\(course),T,,M,\((solution.speed * 3600 / 1852).decimals(2)),N,"
      + "\((solution.speed * 3.6).decimals(2)),K,A"
  }

  private var zda: String {
    guard solution.hasTime else { return "\(talker)ZDA,,,,,00,00" }
    let civil = solution.civil
    return
      "\(talker)ZDA,\(time),\(civil.day.digits(2)),\(civil.month.digits(2)),\(civil.year),00,00"
  }

  private var gst: String {
    guard solution.hasFix else { return "\(talker)GST,\(time),,,,,,," }
    let axis = (solution.horizontalMetres / 2.0.squareRoot()).decimals(1)
    return "\(talker)GST,\(time),\(axis),,,,\(axis),\(axis),\(solution.verticalMetres.decimals(1))"
  }

  private struct NumberedSystem {
    var system: SatelliteSystems
    var id: Int
    var talker: String
  }

  private var numbered: [NumberedSystem] {
    let all = [
      NumberedSystem(system: .gps, id: 1, talker: "GP"), NumberedSystem(system: .glonass, id: 2, talker: "GL"),
      NumberedSystem(system: .galileo, id: 3, talker: "GA"),
      NumberedSystem(system: .beiDou, id: 4, talker: format.beiDou),
    ]
    return all.filter { systems.contains($0.system) }
  }

  private func id(_ satellite: VisibleSatellite) -> Int64 {
    Int64(satellite.number) + (satellite.gnss == 6 ? 64 : 0)
  }

  private func view(_ value: Int64, _ digits: Int) -> String {
    format.padsViews ? value.digits(digits) : "\(value)"
  }

  private func gsa(_ row: NumberedSystem) -> String {
    let used = solution.satellites.filter { $0.isUsed && $0.satellite.system == row.system }.prefix(12)
      .map { view(id($0.satellite), 2) }
    let list = (used + Array(repeating: "", count: 12 - used.count)).joined(separator: ",")
    let dops =
      solution.hasFix
      ? [solution.pdop, solution.hdop, solution.vdop].map { $0.decimals(format.dopDecimals) }.joined(
        separator: ",")
      : ",,"
    // Without numbers the talker tells the system.
    let talker = format.hasNumbers ? self.talker : row.talker
    return "\(talker)GSA,A,\(solution.hasFix ? 3 : 1),\(list),\(dops)\(format.hasNumbers ? ",\(row.id)" : "")"
  }

  private func gsv(_ row: NumberedSystem) -> [String] {
    let group = Array(solution.satellites.filter { $0.satellite.system == row.system }.prefix(16))
    let pages = max(1, (group.count + 3) / 4)
    return (0..<pages).map { page in
      var text = "\(row.talker)GSV,\(pages),\(page + 1),\(view(Int64(group.count), 2))"
      for state in group.dropFirst(page * 4).prefix(4) {
        let elevation = Int64(clamping: state.satellite.elevationDegrees)
        let azimuth = Int64(clamping: state.satellite.azimuthDegrees) % 360
        text += ",\(view(id(state.satellite), 2)),\(view(elevation, 2)),\(view(azimuth, 3)),"
        if state.signal > 0 { text += view(Int64(state.signal), 2) }
      }
      return text + (format.hasNumbers ? ",\(row.id == 3 ? 7 : 1)" : "")
    }
  }

  private static func power(_ digits: Int) -> Int64 { (0..<digits).reduce(1) { value, _ in value * 10 } }
}

extension VirtualReceiver {
  /// Sends the sentences of the epoch that are due.
  mutating func sendFamilyEpoch() {
    guard let family else { return }
    if solution.hasFix, self.family?.log.record(solution) == true {
      respond("PMTKLOG,FULL_STOP", after: Milliseconds(0))
    }
    self.family?.logging.record(solution)
    guard !disturbances.isMute(at: now) else { return }
    let writer = FamilySentences(
      solution: solution, format: family.traits.format, systems: family.current.systems)
    var frames: [[UInt8]] = []
    for formatter in family.traits.format.order {
      guard let every = family.current.rates[formatter], every > 0, epochs % UInt64(every) == 0 else { continue }
      for body in writer.sentences(formatter) { frames.append(sentenceBytes(body)) }
    }
    if family.current.rates["EPE", default: 0] > 0, solution.hasFix {
      let digits = (0..<3).map { _ in "\((solution.horizontalMetres * 1000).rounded() / 1000)" }
      frames.append(sentenceBytes("PQTMEPE,2,\(digits.joined(separator: ",")),\(digits[0]),\(digits[0])"))
    }
    if let status = surveyStatusPQTM { frames.append(sentenceBytes(status)) }
    let corrections = CorrectionOutput(solution: solution, base: timeMode.place)
    let isSilent = family.quirks.contains(.observationsOfBase) && !family.isBase
    for (number, period) in family.current.corrections.sorted(by: { $0.key < $1.key })
    where !isSilent
      && solution.utcMilliseconds / Int64(settings.epochMilliseconds)
        % Int64(max(1, period / settings.epochMilliseconds)) == 0
    {
      if let frame = corrections.frame(number) { frames.append(frame) }
    }
    frames += family.withEpoch
    self.family?.withEpoch = []
    emit(frames, at: now + Milliseconds(traits.latencyMilliseconds))
  }

  /// Sends the lines that follow a start.
  mutating func sendBanner() {
    guard let family else { return }
    let lines: [String]
    switch family.traits.language {
    case .mediaTek:
      // A standby keeps all; most firmware sends nothing when it ends.
      if startCause == .standby, isWokenFromStandby {
        lines = family.quirks.contains(.wakeMessage) ? ["PMTK010,002"] : []
      } else {
        lines = ["PMTK011,MTKGPS", "PMTK010,001"]
      }
    case .airoha:
      let gps = solution.gps
      lines = ["PAIR010,0,0,\(gps.week),\(gps.millisecondOfWeek / 1000)"]
    case .casic:
      lines = [
        "GPTXT,01,01,02,MA=CASIC", "GPTXT,01,01,02,IC=\(model == .at6668 ? "AT6668-6T-30" : "AT6558-5N-31-1C510800")",
        "GPTXT,01,01,02,SW=\(traits.software)", "GPTXT,01,01,02,TB=2020-01-06,09:28:11", "GPTXT,01,01,02,MO=GB",
      ]
    case .quectel, .septentrio: lines = []
    case .unicore:
      // Its checksum includes the first character.
      transmitter.send(Array("$devicename,COM3*65\r\n".utf8), at: now)
      lines = []
    case .allystar:
      transmitter.send([13, 10], at: now)
      lines = ["GNTXT,02,01,01,ALLYSTAR,9529", "GNTXT,02,02,02,\(family.traits.format.antennaText ?? "")"]
    case .teseo:
      lines = ["PSTMVER,\(traits.hardware)", "PSTMVER,BINIMG_\(traits.software)", "GPTXT,DEFAULT PVT CONFIGURATION"]
    }
    for line in lines { transmitter.send(sentenceBytes(line), at: now) }
  }

  /// Whether the last sleep was one that any byte ends.
  private var isWokenFromStandby: Bool { canWakeByUART }
}
