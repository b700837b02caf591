// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

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
  ///   - received: the time at which its last byte was read.
  package mutating func receive(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, of number: Int, wanted: Wanted,
    details: FrameDetails = FrameDetails(), received: UTCTime
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
    if !isUpdate {
      let start = line.bytes.byteCount
      if line.gst(fix, details.noise(of: fix), device: path) { gst = line.lastObject(from: start) }
      _ = line.att(fix, details.attitude(of: fix), device: path)
    }
    reports.json = line.served
    if let tpv { newest[index].tpv = reports.json[tpv] }
    if let skyObject { newest[index].sky = reports.json[skyObject] }
    if let gst { newest[index].gst = reports.json[gst] }
    line.removeAll()
    if !isUpdate, wanted.timeOffset, line.timeOffset(fix, received: received, device: path) {
      reports.timeOffset = line.served
    }
    if wanted.nmea, devices[index].isBinary, !isUpdate || skyChanged {
      reports.nmea = FixSentences.text(of: fix, sky, geometry, isUpdate: isUpdate)
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

  /// Returns the newest reports of a class. Clients rely on one report of each active receiver, which is empty before
  /// the first epoch.
  private func reports(_ report: KeyPath<Newest, ArraySlice<UInt8>>, _ name: StaticString) -> [ArraySlice<UInt8>] {
    devices.indices.map { index in
      let text = newest[index][keyPath: report]
      guard text.isEmpty, devices[index].isActive else { return text }
      var line = JSONLine.forClients
      line.beginObject()
      line.field("class", name)
      line.field("device", text: devices[index].path)
      if report == \Newest.tpv { line.field("mode", 0) }
      line.endObject()
      return line.served[...]
    }
  }

  /// The newest reports of all receivers.
  package func poll(at now: UTCTime) -> [UInt8] {
    var line = JSONLine.forClients
    line.beginObject()
    line.field("class", "POLL")
    line.name("time")
    line.put(raw: UInt8(ascii: "\""))
    line.timestamp(now)
    line.put(raw: UInt8(ascii: "\""))
    line.field("active", devices.count(where: \.isActive))
    line.objects("tpv", reports(\.tpv, "TPV"))
    line.objects("gst", reports(\.gst, "GST"))
    line.objects("sky", reports(\.sky, "SKY"))
    line.endObject()
    line.endLine()
    return line.served
  }
}
