// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

/// Recordings without pauses that begin anywhere in a burst.
@Suite("Recordings that begin within a burst")
struct CutTests {
  /// The orders of receivers: names of sentences.
  struct Order: CustomTestStringConvertible, Sendable {
    let names: [String]
    init(_ names: String) { self.names = names.split(separator: " ").map(String.init) }
    var testDescription: String { names.joined(separator: ",") }
  }

  private static let epochs = 10

  /// The sentences of a burst. HDOP and the speed in RMC are constant if they `areConstant`; all other values differ from epoch to epoch.
  private func burst(_ order: Order, _ index: Int, areConstant: Bool) -> [[UInt8]] {
    let time = "1011\(10 + index)"
    let speed = areConstant ? 0 : 10 * (index + 1)
    let hdop = areConstant ? "0.9" : "0.\(9 - index % 3)"
    return order.names.flatMap { name -> [String] in
      switch name {
      case "RMC": [rmc(time, speed: areConstant ? "" : "\(speed).0")]
      case "GGA": [gga(time, hdop: hdop)]
      case "GLL": [gll(time)]
      case "ZDA": [zda(time)]
      case "GST": ["GPGST,\(time),1.0,1.0,1.0,0.0,1.0,1.0,2.\(index)"]
      case "VTG": ["GPVTG,77.5,T,,M,\(areConstant ? 10 * (index + 1) : speed).0,N,,K,A"]
      case "GSA": ["GPGSA,A,3,05,09,14,30,,,,,,,,,1.8,\(hdop),1.\(index)"]
      case "GSV": (1...3).map { "GPGSV,3,\($0),03,0\($0),40,083,46" }
      case "PGRME": ["PGRME,7.6,M,4\(index).7,M,42.4,M"]
      case "PGRMV": ["PGRMV,-2.5,-1.1,0.\(index)"]
      default: []
      }
    }.map { Wire.nmea($0) }
  }

  /// The fixes with their time, as they are after all updates, without the number of satellites in view: no value shows the burst of GSV.
  private func fixes(_ bytes: [UInt8]) -> [UTCTime: Fix] {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    playback.receive(bytes)
    playback.finish()
    var fixes: [UTCTime: Fix] = [:]
    for var fix in playback.fixes {
      fix.satellitesInView = nil
      if let time = fix.time { fixes[time] = fix }
    }
    return fixes
  }

  /// Compares the epochs of each cut recording, from the `first` whole one on, with those of the whole recording.
  private func compare(
    _ order: Order, areConstant: Bool, from first: Int, cuts: (_ burst: [[UInt8]]) -> [Int]
  ) {
    let bursts = (0..<Self.epochs).map { burst(order, $0, areConstant: areConstant) }
    let bytes = bursts.flatMap { $0.flatMap { $0 } }
    let whole = fixes(bytes)
    #expect(whole.count == Self.epochs)
    for cut in cuts(bursts[0]) {
      let found = fixes(Array(bytes[cut...]))
      for index in first..<Self.epochs {
        let time = UTCTime(2025, 12, 9, 10, 11, 10 + index)
        #expect(found[time] == whole[time], "cut at \(cut), epoch \(index)")
        if found[time] != whole[time] { break }
      }
    }
  }

  /// The places within the sentences of a burst.
  private func within(_ burst: [[UInt8]]) -> [Int] {
    var start = 0
    return burst.flatMap { sentence -> [Int] in
      defer { start += sentence.count }
      return [1, sentence.count / 2, sentence.count - 1].map { start + $0 }
    }
  }

  /// The starts of the sentences of a burst.
  private func starts(_ burst: [[UInt8]]) -> [Int] {
    var start = 0
    return burst.map { sentence in
      defer { start += sentence.count }
      return start
    }
  }

  static let timedFirst = [
    "GGA VTG", "ZDA GGA VTG", "GGA VTG GSA GSV", "GGA GSA GSV RMC VTG", "RMC GGA GSA", "GGA RMC GSA GSV",
    "RMC VTG GGA GSA GSV GLL",
    "GGA GST VTG ZDA", "RMC GGA GSA GSV PGRME PGRMV", "RMC GGA GSV GSA VTG",
  ].map(Order.init)

  @Test(
    "A recording that begins within a sentence has the values of the whole one", arguments: timedFirst, [true, false])
  func withinSentence(order: Order, areConstant: Bool) {
    compare(order, areConstant: areConstant, from: 2, cuts: within)
  }

  @Test(
    "A later page of GSV is not the start of a burst",
    arguments: ["RMC GGA GSV GSA VTG", "GGA RMC GSV"].map(Order.init))
  func laterPage(order: Order) {
    compare(order, areConstant: true, from: 2) { burst in
      let page = burst.indices.first { burst[$0].starts(with: Array("$GPGSV,3,2".utf8)) }!
      return [burst[..<page].reduce(0) { $0 + $1.count }]
    }
  }

  @Test(
    "HDOP and speed, which two sentences of a burst share, correct a wrong order",
    arguments: [
      "GGA RMC GSA GSV", "GGA GSA GSV RMC VTG", "RMC GGA GSV GSA VTG", "GSV GSA VTG RMC GGA", "GSA GSV GGA RMC",
      "VTG RMC GGA GSA",
      "GSV GGA VTG RMC GSA", "GGA GSA RMC VTG GSV",
    ].map(Order.init), [true, false])
  func values(order: Order, isWithin: Bool) {
    compare(order, areConstant: false, from: 3, cuts: isWithin ? within : starts)
  }

  @Test("The pauses of a line precede values: a receiver whose GSA has the HDOP of the next epoch")
  func pauses() {
    var playback = Playback()
    for index in 0..<Self.epochs {
      playback.receive(rmc("1011\(10 + index)"), gga("1011\(10 + index)", hdop: "0.\(9 - index % 3)"))
      playback.receive("GPGSA,A,3,05,09,,,,,,,,,,,1.8,0.\(9 - (index + 1) % 3),1.\(index)")
      playback.idle()
    }
    playback.finish()
    #expect(playback.fixes.map(\.vdop) == (0..<Self.epochs).map { 1 + Double($0) / 10 })
  }

  @Test("A single value that disagrees does not change an order that many values confirmed")
  func chance() {
    var playback = Playback()
    let hdops = ["0.9", "0.8", "0.9", "0.8", "0.9", "0.8", "0.9", "0.8", "0.9", "0.8"]
    for index in hdops.indices {
      // The sixth GSA has the HDOP of the next epoch.
      let shown = hdops[index == 5 ? index + 1 : index]
      playback.receive(rmc("1011\(10 + index)"), gga("1011\(10 + index)", hdop: hdops[index]))
      playback.receive("GPGSA,A,3,05,09,,,,,,,,,,,1.8,\(shown),1.\(index)")
    }
    playback.finish()
    let found = playback.reports.filter { !$0.isUpdate }.map(\.fix.vdop)
    #expect(found == (0..<10).map { 1 + Double($0) / 10 })
  }
}

/// Streams without pauses of receivers that send ZDA, PUBX,04, UBX or several of these. HDOP and speed are constant, so that no value shows
/// the order of a burst.
@Suite("Bursts with times of output and with UBX, without pauses")
struct MixedBurstTests {
  private static let epochs = 14
  /// The first of the two bursts that are damaged.
  private static let damaged = 7

  private static func frames(_ name: String, _ index: Int) -> [[UInt8]] {
    let time = "1011\(10 + index)"
    let week = timeOfWeek(10, 11, 10 + index)
    func satellites(_ numbers: ClosedRange<Int>) -> String {
      numbers.map { "\($0),40,083,\(10 + index)" }.joined(separator: ",")
    }
    switch name {
    case "PVT": return [navPVT(10 + index)]
    case "SOL":
      return [
        ubx {
          NavSOL.encode(into: &$0) {
            $0.iTOW(week); $0.week(2396); $0.gpsFix(3); $0.flags(0b1101)
            $0.ecefX(428_600_000); $0.ecefY(64_500_000); $0.ecefZ(466_300_000)
          }
        }
      ]
    case "POSLLH":
      return [
        ubx {
          NavPOSLLH.encode(into: &$0) {
            $0.iTOW(week); $0.lat(472_852_395); $0.lon(85_652_537)
          }
        }
      ]
    case "DOP":
      return [
        ubx {
          NavDOP.encode(into: &$0) {
            $0.iTOW(week); $0.hDOP(90)
          }
        }
      ]
    case "STATUS":
      return [
        ubx {
          NavSTATUS.encode(into: &$0) {
            $0.iTOW(week); $0.gpsFix(3); $0.flags(1)
          }
        }
      ]
    case "TIMELS": return [ubx { NavTIMELS.encode(into: &$0) { $0.iTOW(week) } }]
    case "EOE": return [navEOE(10 + index)]
    default: break
    }
    let sentences =
      switch name {
      case "RMC": [rmc(time)]
      case "GGA": [gga(time, hdop: "0.9")]
      case "GLL": [gll(time)]
      case "GNS": ["GNGNS,\(time),4717.11437,N,00833.91522,E,AA,12,0.9,499.6,48.0,,"]
      case "GST": ["GPGST,\(time),1.0,1.0,1.0,0.0,1.0,1.0,2.0"]
      case "ZDA": [zda(time)]
      case "ZDA.15": [zda("\(time).15")]
      case "ZDA+2": [zda("1011\(12 + index)")]
      case "P04": ["PUBX,04,\(time),091225,209490.00,2396,18,1930035,-2660.664,43"]
      case "HPR": ["GNHPR,\(time),\(200 + index).00,-2.50,0.00,4,18,0.00,0999"]
      case "VTG": ["GPVTG,\(100 + index).0,T,,M,5.0,N,9.3,K,A"]
      case "GSA": ["GPGSA,A,3,01,02,03,04,,,,,,,,,1.8,0.9,2.\(10 + index)"]
      case "GSV": ["GPGSV,2,1,05," + satellites(1...4), "GPGSV,2,2,05," + satellites(5...5)]
      default: [String]()
      }
    return sentences.map { Wire.nmea($0) }
  }

  /// What the reports say about the sentences without a time: those that are missing in each epoch, and those that are another epoch's.
  private struct Difference {
    var missing: [String] = []
    var wrong: [String] = []
    var isEmpty: Bool { missing.isEmpty && wrong.isEmpty }
  }

  private func text(_ found: [Difference]) -> String {
    found.indices.filter { !found[$0].isEmpty }
      .map { "\($0): no \(found[$0].missing), of another epoch \(found[$0].wrong)" }.joined(separator: "; ")
  }

  /// Reads a stream.
  ///
  /// - Parameter cut: the number of bytes that it lacks at its start.
  private func differences(_ order: [String], _ bursts: [[[UInt8]]], cut: Int = 0) -> [Difference] {
    var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
    playback.receive(Array(bursts.flatMap { $0.flatMap { $0 } }[cut...]))
    playback.finish()
    var found = [Difference](repeating: Difference(), count: bursts.count)
    var last: [Int: Playback.Received] = [:]
    var seen: [Int: Int] = [:]
    let first = UTCTime(2025, 12, 9, 10, 11, 10).nanosecondsOfDay
    for report in playback.reports {
      guard let time = report.fix.time else { continue }
      let index = Int((time.nanosecondsOfDay - first) / 1_000_000_000)
      guard found.indices.contains(index) else { continue }
      last[index] = report
      if !report.isUpdate, report.fix.hasPosition { seen[index, default: 0] += 1 }
      // Satellites without an epoch are reported with the last fix.
      if report.skyChanged, report.fixChanged, !report.satellites.isEmpty,
        report.satellites.contains(where: { $0.signalDecibelHertz != UInt8(10 + index) })
      {
        found[index].wrong.append("GSV")
      }
      if let vdop = report.fix.vdop, vdop != Double("2.\(10 + index)") { found[index].wrong.append("GSA") }
      if let heading = report.fix.headingDegrees, heading != Double(200 + index) { found[index].wrong.append("HPR") }
      if order.contains("VTG"), let course = report.fix.courseDegrees, course >= 100, course != Double(100 + index) {
        found[index].wrong.append("VTG")
      }
    }
    for index in found.indices {
      if seen[index, default: 0] > 1 { found[index].wrong.append("epoch") }
      guard let last = last[index] else {
        found[index].missing.append("epoch")
        continue
      }
      if order.contains("GSV"), last.satellites.count != 5 { found[index].missing.append("GSV") }
      if order.contains("GSA"), last.fix.vdop == nil { found[index].missing.append("GSA") }
      if order.contains("HPR"), last.fix.headingDegrees == nil { found[index].missing.append("HPR") }
      if order.contains("VTG"), last.fix.courseDegrees == nil { found[index].missing.append("VTG") }
    }
    return found
  }

  private func bursts(_ order: [String]) -> [[[UInt8]]] {
    (0..<Self.epochs).map { index in order.flatMap { Self.frames($0, index) } }
  }

  private static func orders(of names: [String]) -> [[String]] {
    if names.count < 2 { return [names] }
    return names.indices.flatMap { index in
      var rest = names
      let name = rest.remove(at: index)
      return orders(of: rest).map { [name] + $0 }
    }
  }

  /// The names of a receiver's messages, in each order; NAV-EOE is the last one.
  private func orders(_ names: String) -> [[String]] {
    let names = names.split(separator: " ").map(String.init)
    return Self.orders(of: names.filter { $0 != "EOE" }).map { $0 + (names.contains("EOE") ? ["EOE"] : []) }
  }

  static let receivers = [
    "ZDA VTG GGA", "P04 VTG GGA", "ZDA VTG GLL GSV", "ZDA GSA GSV RMC", "P04 GSA GSV GGA RMC", "ZDA GSV GST RMC GSA",
    "ZDA P04 GSA GNS", "GSA GSV VTG PVT EOE", "VTG SOL POSLLH EOE", "VTG SOL POSLLH", "GSA GSV POSLLH STATUS SOL",
    "ZDA VTG PVT EOE", "ZDA GSA SOL POSLLH", "P04 GSA GSV PVT DOP", "PVT GSA GSV VTG", "RMC GSA GSV PVT DOP",
    "GGA VTG GSA PVT EOE", "GST GSA VTG GGA", "HPR VTG GGA", "HPR GSA GSV RMC", "HPR VTG RMC GGA", "HPR GSA PVT",
    "HPR ZDA VTG GGA", "ZDA.15 GSA GSV GGA RMC", "ZDA+2 VTG GSA GGA",
  ]

  @Test("Each value of a stream that begins with a burst is of its own epoch", arguments: receivers)
  func whole(receiver: String) {
    for order in orders(receiver) {
      let found = differences(order, bursts(order))
      #expect(found.allSatisfy { $0.isEmpty }, "\(order): \(text(found))")
    }
  }

  @Test(
    "The last message with a time of a burst has a place, however many are before it",
    arguments: [
      "GSA GSV VTG PVT SOL POSLLH STATUS DOP TIMELS RMC GGA GLL",
      "GSA RMC GSV GGA GLL GST PVT SOL VTG POSLLH STATUS DOP TIMELS",
    ])
  func many(names: String) {
    let order = names.split(separator: " ").map(String.init)
    let found = differences(order, bursts(order))
    #expect(found.allSatisfy { $0.isEmpty }, "\(text(found))")
  }

  /// Times of epochs with the day of the month: over midnight, over a leap second, and ten in a second.
  static let times: [[(time: String, day: Int)]] = [
    [("235957", 9), ("235958", 9), ("235959", 9), ("000000", 10), ("000001", 10), ("000002", 10)],
    [("235958", 30), ("235959", 30), ("235960", 30), ("000000", 31), ("000001", 31), ("000002", 31)],
    (0..<10).map { ("101112.\($0)0", 9) },
  ]

  @Test("A time of output begins a burst at midnight, in a leap second and ten times a second", arguments: 0..<3)
  func otherTimes(index: Int) {
    let times = Self.times[index]
    for order in orders("ZDA VTG GGA") where order[0] != "VTG" {
      let frames = times.indices.flatMap { index in
        order.map { name in
          switch name {
          case "ZDA": zda(times[index].time, times[index].day)
          case "GGA": gga(times[index].time)
          default: "GPVTG,\(100 + index).0,T,,M,5.0,N,9.3,K,A"
          }
        }
      }.map { Wire.nmea($0) }
      for cut in [0, 5, frames[0].count + 5, frames[0].count + frames[1].count + 5] {
        var playback = Playback(reference: UTCTime(2025, 12, 9, 10, 11, 0), isLive: true)
        playback.receive(Array(frames.flatMap { $0 }[cut...]))
        playback.finish()
        var courses: [Double?] = []
        for report in playback.reports where report.fix.hasPosition {
          if report.isUpdate, !courses.isEmpty { courses.removeLast() }
          courses.append(report.fix.courseDegrees)
        }
        let expected = times.indices.dropFirst().map { Double(100 + $0) as Double? }
        #expect(courses.suffix(expected.count) == ArraySlice(expected), "\(order) from \(cut)")
        #expect(courses.count <= times.count, "\(order) from \(cut)")
      }
    }
  }

  /// Whether a burst of this order is recognised in a stream that begins within it: its first message has a time, or its last one ends it.
  private func isRecognised(_ order: [String]) -> Bool {
    !["GSA", "GSV", "VTG", "ZDA.15", "ZDA+2"].contains(order[0]) || order.last == "EOE"
  }

  @Test("A stream that begins at any byte of such a burst has the values of the whole one", arguments: receivers)
  func cut(receiver: String) {
    // Times of output that are not a position's show nothing.
    let hasOwnTimes = receiver.contains("ZDA.") || receiver.contains("ZDA+")
    for order in orders(receiver) where isRecognised(order) {
      let bursts = bursts(order)
      let starts = bursts[0].reduce(into: [0]) { $0.append($0.last! + $1.count) }
      for (start, frame) in zip(starts, bursts[0]) {
        // A stream that begins with a sentence without a time looks whole.
        let name = String(decoding: frame[3..<6], as: UTF8.self)
        let isUntimed = ["GSA", "GSV", "VTG"].contains(name) || name == "ZDA" && hasOwnTimes
        for cut in [start, start + 1, start + 12] where cut > start || !isUntimed {
          let found = differences(order, bursts, cut: cut)
          #expect(
            found.dropFirst(hasOwnTimes ? 2 : 1).allSatisfy { $0.isEmpty }, "\(order) from \(cut): \(text(found))")
          #expect(found[0].wrong.isEmpty, "\(order) from \(cut): \(text(found))")
        }
      }
    }
  }

  @Test(
    "A lost sentence, or a gap from one burst into the next, gives no epoch the values of another", arguments: receivers
  )
  func lossy(receiver: String) {
    for order in orders(receiver) {
      let whole = bursts(order)
      let count = whole[0].count
      for kept in 0...count {
        for lost in 0..<count {
          var bursts = whole
          bursts[Self.damaged] = Array(bursts[Self.damaged][..<kept])
          bursts[Self.damaged + 1] = Array(bursts[Self.damaged + 1][lost...])
          check(order, bursts, "\(kept) kept, \(lost) lost", isGap: true)
        }
        // Without a message with a time a burst is the rest of the one before.
        guard kept < count, order.count(where: { !["GSA", "GSV", "VTG", "HPR", "ZDA.15", "ZDA+2"].contains($0) }) > 1
        else { continue }
        var bursts = whole
        bursts[Self.damaged].remove(at: kept)
        check(order, bursts, "without \(kept)", isGap: false)
      }
    }
  }

  private func check(_ order: [String], _ bursts: [[[UInt8]]], _ comment: String, isGap: Bool) {
    let found = differences(order, bursts)
    // After a gap the rest of a burst may look like the rest of the one before.
    #expect(isGap || found.allSatisfy { $0.wrong.isEmpty }, "\(order), \(comment): \(text(found))")
    let others = found.indices.filter { !(Self.damaged - 1...Self.damaged + 2).contains($0) }
    #expect(others.allSatisfy { found[$0].isEmpty }, "\(order), \(comment): \(text(found))")
  }
}
