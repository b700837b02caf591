// SPDX-License-Identifier: Apache-2.0

import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// The state shared by all clients: the receivers, and their newest reports.
package struct GPSDState: Sendable {
  /// The optional reports that clients requested in a round; other ones are not made.
  package struct Wanted: Equatable, Sendable {
    package var nmea = false
    package var timeOffset = false

    package init(nmea: Bool = false, timeOffset: Bool = false) {
      self.nmea = nmea
      self.timeOffset = timeOffset
    }
  }

  /// The newest reports of a receiver, each an object without a line end.
  struct Newest: Equatable, Sendable {
    var tpv: ArraySlice<UInt8> = []
    var sky: ArraySlice<UInt8> = []
    var gst: ArraySlice<UInt8> = []
    var att: ArraySlice<UInt8> = []
  }

  package private(set) var devices: [GPSDDevice] = []
  private(set) var newest: [Newest] = []
  /// The VERSION line.
  package let version: [UInt8]

  /// - Parameter release: the version of this program.
  package init(release: String) {
    var line = JSONLine.forClients
    line.version(release: release)
    version = line.served
  }

  package func device(at path: String) -> GPSDDevice? { devices.first { $0.path == path } }
  package func device(number: Int) -> GPSDDevice? { devices.first { $0.number == number } }

  // MARK: Receivers

  /// Updates the receivers, in the order of their numbers. Returns the reports of the changed and the removed ones.
  ///
  /// - Parameter keepsReports: whether POLL returns the reports of a sleeping receiver, because a client has requested
  ///   that.
  package mutating func update(_ present: [GPSDDevice], keepsReports: Bool = false, at now: UTCTime) -> [DeviceReport] {
    var reports: [DeviceReport] = []
    for gone in devices where !present.contains(where: { $0.number == gone.number }) {
      let index = devices.firstIndex { $0.number == gone.number }!
      devices.remove(at: index)
      newest.remove(at: index)
      guard gone.activated != nil else { continue }
      reports.append(DeviceReport(device: gone.path, json: text(of: gone.inactive, isEvent: true)))
    }
    for (index, found) in present.enumerated() {
      var device = found
      let isKnown = index < devices.count && devices[index].number == found.number
      let known = isKnown && devices[index].path == found.path ? devices[index] : nil
      // The protocol also follows from the fixes.
      if found.driver == .unknown { device.driver = known?.driver ?? .unknown }
      device.isBinary = known?.isBinary ?? false
      device.hasSentCorrections = known?.hasSentCorrections ?? false
      // While the rate is searched again, the line has the last one.
      device.bitsPerSecond = found.bitsPerSecond ?? known?.bitsPerSecond
      if !found.version.isEmpty { device.driver = .uBlox } else { device.version = known?.version ?? [] }
      device.activated = found.isActive ? known?.activated ?? now : nil
      if device == known { continue }
      if isKnown {
        devices[index] = device
        if known == nil || !device.isActive && !keepsReports { newest[index] = Newest() }
      } else {
        devices.insert(device, at: index)
        newest.insert(Newest(), at: index)
      }
      if known != nil || device.isActive {
        reports.append(DeviceReport(device: device.path, json: text(of: device, isEvent: true)))
      }
    }
    return reports
  }

  /// Discards the reports, so that POLL has none.
  package mutating func forget() { for index in newest.indices { newest[index] = Newest() } }

  // MARK: Epochs

  /// Handles an epoch of a receiver.
  ///
  /// - Parameters:
  ///   - number: the receiver, which was passed to `update`.
  ///   - details: the values of GST, ATT and TPV that are not in the fix.
  ///   - received: the time at which its first byte arrived; nil if it is not known, or not wanted.
  package mutating func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of number: Int, wanted: Wanted,
    details: FrameDetails = FrameDetails(), received: UTCTime?
  ) -> EpochReports? {
    guard let index = devices.firstIndex(where: { $0.number == number }) else { return nil }
    let (fix, isUpdate, skyChanged) = (report.fix, report.isUpdate, report.skyChanged)
    let path = devices[index].path
    if fix.source != .none {
      devices[index].isBinary = fix.source >= .ubx
      if devices[index].driver == .unknown { devices[index].driver = devices[index].isBinary ? .uBlox : .nmea }
    }
    var reports = EpochReports(device: path)
    let geometry = fix.hasAllDilutions ? nil : Dilutions(of: sky.satellites)
    // One buffer has the lines for all clients, and the newest objects.
    var line = JSONLine.forClients
    var tpv: Range<Int>?
    var skyObject: Range<Int>?
    var gst: Range<Int>?
    var att: Range<Int>?
    if report.fixChanged {
      line.tpv(
        fix, geometry: geometry, device: path, isForOldClients: true, jamming: details.jammingIndicator.map(Int.init))
      tpv = line.lastObject(from: 0)
    }
    let skyStart = line.bytes.byteCount
    if skyChanged {
      line.sky(sky, fix, geometry: geometry, device: path)
      skyObject = line.lastObject(from: skyStart)
    } else if report.hasDilutionsAlone {
      line.dilutions(fix, device: path)
      skyObject = line.lastObject(from: skyStart)
    }
    // Their messages may come after the first report of the epoch. An update has what is new.
    let gstStart = line.bytes.byteCount
    let hasErrors = line.gst(fix, details.noise(of: fix), device: path)
    if hasErrors { gst = line.newObject(from: gstStart, after: isUpdate ? newest[index].gst : []) }
    let attStart = line.bytes.byteCount
    if line.att(fix, details.attitude(of: fix), device: path) {
      att = line.newObject(from: attStart, after: isUpdate ? newest[index].att : [])
    }
    reports.json = line.served
    if let tpv { newest[index].tpv = reports.json[tpv] }
    if let skyObject { newest[index].sky = reports.json[skyObject] }
    if let gst { newest[index].gst = reports.json[gst] }
    if let att { newest[index].att = reports.json[att] }
    line.removeAll()
    if !isUpdate, wanted.timeOffset, let received, line.timeOffset(fix, received: received, device: path) {
      reports.timeOffset = line.served
    }
    if wanted.nmea, devices[index].isBinary {
      let part: FixSentences.Part = isUpdate ? .update(satellites: skyChanged, errors: gst != nil) : .epoch
      reports.nmea = FixSentences.text(of: fix, sky, geometry, part)
    }
    return reports
  }

  // MARK: Replies

  package var deviceList: [UInt8] {
    var line = JSONLine.forClients
    line.beginObject()
    line.field("class", "DEVICES")
    line.beginArray("devices")
    for device in devices { line.device(device) }
    line.endArray()
    line.endObject()
    line.endLine()
    return line.served
  }

  /// - Parameter isEvent: whether it reports a change: for a receiver that has become inactive, the time of activation
  ///   is 0.
  package func text(of device: GPSDDevice, isEvent: Bool = false) -> [UInt8] {
    var line = JSONLine.forClients
    line.device(device, isEvent: isEvent)
    line.endLine()
    return line.served
  }

  package func text(of watch: WatchPolicy) -> [UInt8] {
    var line = JSONLine.forClients
    line.watch(watch)
    return line.served
  }

  package func error(_ message: String) -> [UInt8] {
    var line = JSONLine.forClients
    line.beginObject()
    line.field("class", "ERROR")
    line.field("message", text: message)
    line.endObject()
    line.endLine()
    return line.served
  }

  /// Whether a receiver counts as active for a client: for one that only polls also while it rests until the next search,
  /// with its last report. Such clients, as gpsd-py3, use no reply without an active receiver.
  private func serves(_ watch: WatchPolicy, isAwaited: Bool, _ index: Int) -> Bool {
    guard watch.covers(devices[index].path) else { return false }
    return devices[index].isActive || watch.onlyPolls && (isAwaited || !newest[index].tpv.isEmpty)
  }

  /// Returns the newest reports of a class. Clients rely on one report of each active receiver, which is empty before
  /// the first epoch, and for a client that does not watch.
  private func reports(
    _ report: KeyPath<Newest, ArraySlice<UInt8>>, _ name: StaticString, _ watch: WatchPolicy, isAwaited: Bool
  ) -> [ArraySlice<UInt8>] {
    devices.indices.map { index in
      let serves = serves(watch, isAwaited: isAwaited, index)
      let text = watch.covers(devices[index].path) ? newest[index][keyPath: report] : []
      guard text.isEmpty, serves || !watch.isEnabled && devices[index].isActive else { return text }
      var line = JSONLine.forClients
      line.beginObject()
      line.field("class", name)
      line.field("device", text: devices[index].path)
      if report == \Newest.tpv { line.field("mode", 0) }
      line.endObject()
      return line.served[...]
    }
  }

  /// The newest reports of the receivers that a client watches. As in gpsd, a client that does not watch gets none:
  /// nothing keeps them new.
  ///
  /// - Parameter isAwaited: whether a location was requested for the client, which is not yet known.
  package func poll(_ watch: WatchPolicy, isAwaited: Bool = false, at now: UTCTime) -> [UInt8] {
    var line = JSONLine.forClients
    line.beginObject()
    line.field("class", "POLL")
    line.name("time")
    line.put(raw: UInt8(ascii: "\""))
    line.timestamp(now)
    line.put(raw: UInt8(ascii: "\""))
    line.field("active", devices.indices.count { serves(watch, isAwaited: isAwaited, $0) })
    line.objects("tpv", reports(\.tpv, "TPV", watch, isAwaited: isAwaited))
    line.objects("gst", reports(\.gst, "GST", watch, isAwaited: isAwaited))
    line.objects("sky", reports(\.sky, "SKY", watch, isAwaited: isAwaited))
    line.endObject()
    line.endLine()
    return line.served
  }
}

/// Values of single messages for GST, ATT and TPV that a fix does not contain.
package struct FrameDetails: Equatable, Sendable {
  /// Roll and pitch of the vehicle with the heading of the same message, degrees (UBX-NAV-ATT).
  struct Attitude: Equatable, Sendable {
    var headingDegrees: Double
    var rollDegrees: Double?
    var pitchDegrees: Double?
  }

  private(set) var noise: GST?
  private(set) var attitude: Attitude?
  /// The indicator of continuous-wave jamming, 0 to 255, of the worst input (MON-RF, MON-HW).
  private(set) var jammingIndicator: UInt8?

  package init() {}

  /// Handles a frame of the receiver.
  package mutating func receive(_ frame: borrowing Frame) {
    if let sentence = frame.nmea, sentence.formatter == GST.formatter {
      var rejected = 0
      noise = sentence.decode(GST.self, rejected: &rejected)
    } else if let ubx = frame.ubx, ubx.identity == NavATT.identity, let message = NavATT(payload: ubx.payload) {
      attitude = Attitude(
        headingDegrees: Double(message.heading) / 1e5,
        // An accuracy of 0 marks an absent angle (interface descriptions, NAV-ATT).
        rollDegrees: message.accRoll > 0 ? Double(message.roll) / 1e5 : nil,
        pitchDegrees: message.accPitch > 0 ? Double(message.pitch) / 1e5 : nil)
    } else if let ubx = frame.ubx {
      receive(ubx)
    }
  }

  private mutating func receive(_ frame: borrowing UBXFrame) {
    if let message = frame.message(MonRF.self) {
      for index in 0..<message.rFBlockCount { note(message.rFBlock(index).jamInd) }
    } else if let message = frame.message(MonHW.self) {
      note(message.jamInd)
    } else if let message = frame.message(MonHW_M6.self) {
      note(message.jamInd)
    }
  }

  private mutating func note(_ indicator: UInt8) { jammingIndicator = max(jammingIndicator ?? 0, indicator) }

  /// The epoch is reported: the indicator belongs to it alone, as in gpsd.
  package mutating func endEpoch() { jammingIndicator = nil }

  /// The GST sentence of the epoch of a fix. Its time is rounded, the time of a UBX fix is not.
  func noise(of fix: Fix) -> GST? {
    guard let noise, let time = noise.time, let fixTime = fix.time else { return nil }
    let (own, epoch) = (EpochTag.timeOfDay(time.nanosecondsOfDay), EpochTag.timeOfDay(fixTime.nanosecondsOfDay))
    return own.isSame(as: epoch, leapSeconds: 0) ? noise : nil
  }

  /// The attitude from the message that has the heading of a fix.
  func attitude(of fix: Fix) -> Attitude? {
    guard let attitude, fix.headingSource == .ubx, fix.headingDegrees == attitude.headingDegrees else { return nil }
    return attitude
  }
}

extension GPSDState {
  /// Returns a sentence as a line, regardless of its line end on the wire; any other frame as a line of hexadecimal
  /// digits.
  package static func text(of frame: borrowing Frame) -> [UInt8] {
    // A sentence may end with only LF.
    if frame.kind == .nmea { return [UInt8](copying: frame.bytes).prefix { $0 != 13 && $0 != 10 } + [13, 10] }
    var line = JSONLine.forClients
    for index in 0..<frame.bytes.byteCount { line.hexadecimal(frame.bytes.u1(index)) }
    line.endLine()
    return line.served
  }

  /// Records that a receiver has sent RTCM 3.
  package mutating func noteCorrections(of number: Int) {
    if let index = devices.firstIndex(where: { $0.number == number }) { devices[index].hasSentCorrections = true }
  }

  /// Returns an RTCM 3 message as RTCM3; nil for another frame. The fields of station messages have gpsd's names, other messages
  /// have their payload as `data` (as `gpsdecode -j` of gpsd 3.22 writes both; gpsd_json(5), section "RTCM3 DUMP FORMAT", refers
  /// to the source code).
  package static func correctionReport(_ frame: borrowing Frame, device: String) -> [UInt8]? {
    guard let message = frame.rtcm3 else { return nil }
    var line = JSONLine.forClients
    line.correction(message, device: device)
    return line.served
  }
}

extension JSONLine {
  fileprivate mutating func correction(_ frame: RTCM3Frame, device: String) {
    beginObject()
    field("class", "RTCM3")
    field("device", text: device)
    field("type", frame.messageNumber)
    field("length", frame.payload.byteCount)
    if let position = StationPosition(frame) {
      station(position)
    } else if let equipment = StationEquipment(frame) {
      station(equipment, isWhole: frame.messageNumber == 1033)
    } else if let biases = GLONASSBiases(frame) {
      station(biases)
    } else {
      payload(frame.payload)
    }
    endObject()
    endLine()
  }

  private mutating func station(_ position: StationPosition) {
    field("station_id", position.stationID)
    beginArray("system")
    if position.servesGPS { element("GPS") }
    if position.servesGLONASS { element("GLONASS") }
    if position.servesGalileo { element("GALILEO") }
    endArray()
    field("refstation", position.isVirtual)
    field("sro", position.hasSingleOscillator)
    // The unit on the wire is 0.1 mm.
    field("x", Double(position.x) / 1e4, digits: 4)
    field("y", Double(position.y) / 1e4, digits: 4)
    field("z", Double(position.z) / 1e4, digits: 4)
    field("h", position.antennaHeight.map { Double($0) / 1e4 }, digits: 4)
  }

  private mutating func station(_ equipment: StationEquipment, isWhole: Bool) {
    field("station_id", equipment.stationID)
    text("desc", equipment.antenna)
    field("setup_id", equipment.antennaSetup)
    guard isWhole else { return }
    text("serial", equipment.antennaSerial)
    text("receiver", equipment.receiver)
    text("firmware", equipment.firmware)
  }

  private mutating func station(_ biases: GLONASSBiases) {
    field("station_id", biases.stationID)
    field("ind", biases.isAligned ? "1" : "0")
    // In units of 0.02 m.
    let names: [StaticString] = ["l1_ca", "l1_p", "l2_ca", "l2_p"]
    for (index, name) in names.enumerated() where biases.has(index) { field(name, biases.biases[index]) }
  }

  private mutating func payload(_ bytes: RawSpan) {
    beginArray("data")
    for index in 0..<bytes.byteCount {
      nextElement()
      put("\"0x")
      hexadecimal(bytes.u1(index))
      put(raw: UInt8(ascii: "\""))
    }
    endArray()
  }

  private mutating func element(_ text: StaticString) {
    nextElement()
    put(raw: UInt8(ascii: "\""))
    put(text)
    put(raw: UInt8(ascii: "\""))
  }

  private mutating func text(_ key: StaticString, _ characters: RawSpan) {
    field(key, text: String(decoding: [UInt8](copying: characters), as: UTF8.self))
  }
}

extension TimeOfDay {
  fileprivate var nanosecondsOfDay: Int64 {
    (Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)) * 1_000_000_000 + Int64(nanosecond)
  }
}
