// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import WireBytes

/// `sextant base`: makes a receiver a base station, and sends its corrections to rovers.
struct Base: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "base",
    abstract: "Make a receiver a base station, and send its corrections.",
    discussion: """
      The receiver sends RTCM 3: 1005, MSM of each constellation, and 1230 or 1033 where it has them. Its position is the mean of a survey, or given. Rovers \
      get the corrections from a caster of this program (NTRIP 1 and 2), or from another server. Lines on standard error report \
      the survey, the clients and the bytes.

      Receivers: u-blox F9 and X20 with RTK, Quectel LG290P, Unicore UM980. A receiver that returns after an unplug becomes the base \
      again. At the end, and after a kill at the next start, its settings are as they were found; an LG290P restarts for that. Press ^C to end. docs/guides/base-station.md has a unit \
      for systemd.
      """)

  private static let usualPort: UInt16 = 2101

  @OptionGroup var receiver: ReceiverOptions

  @Option(
    help: """
      Survey the position: the mean of at least SECONDS, until its standard deviation is at most METRES, as in \
      --survey 300,2.
      """)
  var survey: String?

  @Option(
    help: """
      The position of the antenna, WGS 84: degrees, and the height above the ellipsoid in metres, as in \
      --position=48.1642,11.6056,557.6.
      """)
  var position: String?

  @Option(
    help: """
      Serve the corrections at ADDRESS:PORT/MOUNT, as in --caster '*:2101/BASE'. Without an address only programs of this computer \
      can connect. SEXTANT_CASTER_PASSWORD or the file SEXTANT_CASTER_PASSWORD_FILE sets a password.
      """)
  var caster: String?

  @Option(
    help: """
      Send the corrections to another caster, ntrip+post://USER@HOST:PORT/MOUNT, or to tcp://HOST:PORT. Repeat it for further \
      servers. The password is read from SEXTANT_NTRIP_PASSWORD or from the file SEXTANT_NTRIP_PASSWORD_FILE.
      """)
  var push: [String] = []

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  func validate() throws {
    try ReceiverOptions.check(seconds: seconds)
    guard (survey == nil) != (position == nil) else {
      throw ValidationError("Give --survey SECONDS,METRES or --position LAT,LON,HEIGHT.")
    }
    if survey != nil, station == nil {
      throw ValidationError(
        "--survey must be SECONDS,METRES such as 300,2: 1 s to a week, and 1 mm to 100 km.")
    }
    if position != nil, station == nil {
      throw ValidationError(
        "--position must be LAT,LON,HEIGHT such as 48.1642,11.6056,557.6: degrees, and metres above the ellipsoid.")
    }
    if let caster, Self.caster(caster) == nil {
      throw ValidationError(
        "--caster must be ADDRESS:PORT/MOUNT, such as 127.0.0.1:2101/BASE or '*:2101/BASE'; letters, digits, -, _ and . "
          + "make a mount point.")
    }
    if push.contains(where: { PushTarget($0) == nil }) { throw ValidationError("--push must be \(PushTarget.forms).") }
  }

  func run() throws {
    try Source.refuseReadOnly()
    guard let station else { return }
    let targets = try push.compactMap { PushTarget($0) }.map(Self.withPassword)
    var sockets: CasterSockets?
    if let (addresses, mount) = caster.flatMap(Self.caster) {
      let password = try Self.password()
      let own = CasterConnection.Caster(mount: mount, password: password, version: SextantVersion.text)
      let opened = try CasterSockets(own, at: addresses)
      printNotice("caster: rovers connect to ntrip://\(addresses.first?.description ?? "")/\(mount)")
      if !opened.isLoopback, password == nil {
        printNotice(
          "warning: every program that reaches \(addresses.first?.description ?? "") gets the corrections and the position of "
            + "the base, without a password")
      }
      sockets = opened
    }
    if sockets == nil, targets.isEmpty {
      printNotice("without --caster and --push the corrections are not sent to anyone; the survey is reported")
    }
    let choice = try receiver.choose(for: .sending)
    var settings = SessionSettings(intent: .identify, line: .serial)
    // A given position is compared with the receiver's own one first: in time mode it has none.
    let isCompared = position != nil
    settings.desired = { receiver in
      guard receiver.canBeBase, receiver.refusal(ofBase: station) == nil else { return .nothing }
      return isCompared ? .rover(for: receiver) : .base(station, for: receiver)
    }
    let client = BaseClient(choice, station, sockets, targets)
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    try loop.run()
  }

  // MARK: Options

  /// The position of the base; nil if the option is malformed.
  private var station: BaseStation? {
    let numbers = (survey ?? position ?? "").split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard !numbers.contains(where: { $0?.isFinite != true }) else { return nil }
    let values = numbers.compactMap(\.self)
    if survey != nil {
      guard values.count == 2, let seconds = UInt32(exactly: values[0]), BaseStation.seconds ~= seconds,
        BaseStation.metres ~= values[1]
      else { return nil }
      return .survey(seconds: seconds, metres: values[1])
    }
    guard values.count == 3, -90...90 ~= values[0], -180...180 ~= values[1], BaseStation.heights ~= values[2] else {
      return nil
    }
    return .position(latitude: values[0], longitude: values[1], height: values[2])
  }

  /// The addresses and the mount point of `ADDRESS:PORT/MOUNT`; nil for another form.
  private static func caster(_ text: String) -> ([InternetAddress], String)? {
    guard let slash = text.firstIndex(of: "/") else { return nil }
    let (place, mount) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
    let isName =
      !mount.isEmpty && mount.utf8.count <= 100
      && mount.utf8.allSatisfy { byte in
        0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "-_.".utf8.contains(byte)
      }
    guard isName else { return nil }
    if place.isEmpty { return (InternetAddress.loopback(port: usualPort), mount) }
    let digits = place.first == ":" ? place.dropFirst() : place[...]
    if let port = UInt16(digits), port > 0 { return (InternetAddress.loopback(port: port), mount) }
    return (InternetAddress.parse(place) ?? InternetAddress.parse("\(place):\(usualPort)")).map { ($0, mount) }
  }

  private static func password() throws -> String? {
    do throws(FileError) { return try CasterPassword.ofOwnCaster(environment) } catch {
      throw CommandFailure(reading: error)
    }
  }

  private static func withPassword(_ target: PushTarget) throws -> PushTarget {
    if target.asSource.namesPassword { printNotice(CasterPassword.notice) }
    do throws(FileError) {
      return target.completed(by: try CasterPassword.complete(target.asSource, environment))
    } catch {
      throw CommandFailure(reading: error)
    }
  }
}
