// SPDX-License-Identifier: Apache-2.0

// `unsafe` passes pointers to memory of the calls' frames to the C library: socket(7), and SocketCAN (linux/can.h, which Swift does not
// import).
import ArgumentParser
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Receiver
import SystemPackage

/// `sextant feed`: sends data of other sensors to a receiver of the location service.
struct Feed: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "Send data of other sensors to a receiver.",
    subcommands: [FeedOdometer.self])
}

/// `sextant feed odometer`: wheel ticks and speed for a dead reckoning receiver.
struct FeedOdometer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "odometer",
    abstract: "Send wheel ticks or the speed of a vehicle to a dead reckoning receiver.",
    discussion: """
      The location service sends them as UBX-ESF-MEAS to a receiver such as NEO-M8L, ZED-F9R or ZED-F9K. Without --can each line of \
      the input is a JSON object:

      {"speed":13.9}                                    metres a second, negative backwards
      {"ticks":81234,"backward":0}                      a count that increases in both directions
      {"rearLeft":81200,"rearRight":81268,"backward":1,"milliseconds":40210}

      Other names are frontLeft and frontRight. `milliseconds` is the time of the measurement at any clock; without it the time of the \
      line counts. Send 10 measurements a second; more than 25 are left out. With --can the frames of a SocketCAN interface are the \
      input, and --signal names the places of values, as in a DBC file: START|LENGTH@ORDER SIGN(FACTOR,OFFSET).

      sextant feed odometer --can can0 --can-id 0x1A0 --signal 'speed=24|16@1+(0.00277778,0)'

      `sextant status` shows the state of the sensor fusion. docs/guides/dead-reckoning.md has the settings of receivers.
      """)

  @Option(help: "The receiver, if the service has several: a path of its device.")
  var device: String?
  @Option(help: "The socket of the service. Default: SEXTANT_SERVICE, else /run/sextant/location.")
  var socket: String?
  @Option(help: "The lines: - for standard input, or unix:PATH for a socket to connect to.")
  var from = "-"
  @Option(help: "A SocketCAN interface, such as can0.")
  var can: String?
  @Option(help: "The id of the frames, such as 0x1A0. More than 0x7FF, or `x` at its end, is an extended id.")
  var canID: String?
  @Option(help: "A value of a frame, such as 'speed=24|16@1+(0.01,0)'; repeat it for further values.")
  var signal: [String] = []

  func validate() throws {
    if can == nil, canID != nil || !signal.isEmpty { throw ValidationError("--can-id and --signal need --can.") }
    if can != nil, canID == nil || signal.isEmpty { throw ValidationError("--can needs --can-id and --signal.") }
    if can != nil, from != "-" { throw ValidationError("--can and --from are both inputs; omit one.") }
    if from != "-", !from.hasPrefix("unix:") { throw ValidationError("--from is - or unix:PATH.") }
    _ = try canInput()
  }

  func run() throws {
    let input: OdometerInput
    if let frames = try canInput(), let can {
      input = OdometerInput(descriptor: try CANSocket.open(can), frames: frames)
    } else if from == "-" {
      input = OdometerInput(descriptor: OwnedDescriptor(dup(STDIN_FILENO)))
    } else {
      let path = String(from.dropFirst("unix:".count))
      let descriptor: OwnedDescriptor
      do throws(Errno) { descriptor = OwnedDescriptor(try UnixSocket(connectingTo: path).release()) } catch {
        throw CommandFailure(.noInput, "\(path): \(error); start the program that listens there")
      }
      input = OdometerInput(descriptor: descriptor)
    }
    var feeder = OdometerFeeder(try ServiceClient(path: socket ?? ServiceClient.socketPath), device, input)
    try feeder.run()
  }

  private func canInput() throws -> CANValues? {
    guard let text = canID?.lowercased() else { return nil }
    let isHexadecimal = text.hasPrefix("0x")
    let digits = text.dropFirst(isHexadecimal ? 2 : 0).prefix { $0 != "x" }
    let radix = isHexadecimal ? 16 : 10
    guard let id = UInt32(digits, radix: radix), id <= 0x1FFF_FFFF else {
      throw ValidationError("--can-id \(canID ?? "") is not an id such as 0x1A0.")
    }
    var signals: [(String, CANSignal)] = []
    for text in signal {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, OdometerMeasurement.names.contains(parts[0]), let signal = CANSignal(parts[1]) else {
        throw ValidationError(
          "--signal \(text) is not NAME=START|LENGTH@ORDER SIGN(FACTOR,OFFSET); names are "
            + OdometerMeasurement.names.joined(separator: ", ") + ".")
      }
      signals.append((parts[0], signal))
    }
    return CANValues(id: id, isExtended: id > 0x7FF || text.hasSuffix("x"), signals: signals)
  }
}

/// The values in the frames with an id.
struct CANValues {
  var id: UInt32
  var isExtended: Bool
  var signals: [(name: String, signal: CANSignal)]

  /// The values of a frame; nil for another frame.
  func values(_ frame: CANFrame) -> [String: Double]? {
    guard frame.id == id, frame.isExtended == isExtended else { return nil }
    return Dictionary(signals.compactMap { one in one.signal.value(in: frame.data).map { (one.name, $0) } }) { $1 }
  }
}

/// The source of measurements: lines, or frames of SocketCAN with the places of their values.
struct OdometerInput: ~Copyable {
  let descriptor: OwnedDescriptor
  var frames: CANValues?
}

enum CANSocket {
  /// AF_CAN and CAN_RAW of linux/can.h.
  private static let family: UInt16 = 29
  private static let raw: Int32 = 1

  static func open(_ name: String) throws -> OwnedDescriptor {
    let index = unsafe if_nametoindex(name)
    guard index != 0 else {
      throw CommandFailure(.noInput, "\(name): there is no such network interface; see `ip link`")
    }
    let number = Glibc.socket(Int32(family), Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), raw)
    guard number >= 0 else {
      throw CommandFailure(.unavailable, "\(name): the kernel has no SocketCAN; load it (sudo modprobe can-raw)")
    }
    let owned = OwnedDescriptor(number)
    // struct sockaddr_can: the family, and the index at byte 4.
    var address = [UInt8](repeating: 0, count: 24)
    address.set(u2: family, at: 0)
    address.set(u4: index, at: 4)
    let code = unsafe address.withUnsafeBytes { bytes in
      unsafe bind(number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    guard code == 0 else {
      throw CommandFailure(.noInput, "\(name): \(Errno(rawValue: errno)); name a CAN interface such as can0")
    }
    return owned
  }
}

/// Reads measurements, and passes them to the service.
struct OdometerFeeder: ~Copyable {
  private static let inputToken = Poller.Token(rawValue: 1)
  /// The longest line.
  private static let longestLine = 4096
  /// The time between two calls whose reply is awaited: the service may refuse the next measurements.
  private static let checkInterval = Milliseconds(5000)

  private var client: ServiceClient
  private let device: String?
  private let input: OdometerInput
  private var pending: [UInt8] = []
  private var pacing = OdometerPacing()
  private var checkAt = Instant.zero
  private var reported: String?
  private var sent = 0

  init(_ client: consuming ServiceClient, _ device: String?, _ input: consuming OdometerInput) {
    self.client = client
    self.device = device
    self.input = input
  }

  mutating func run() throws {
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let descriptor = input.descriptor.number
    let isRegular = (try? poller.add(descriptor, token: Self.inputToken)) == nil
    while true {
      // A regular file is always readable.
      if isRegular {
        if try !read(descriptor) { break }
        continue
      }
      let events = try poller.wait(deadline: nil)
      if events.contains(where: { if case .signal = $0 { true } else { false } }) { break }
      if events.contains(where: { $0.connection == Self.inputToken }), try !read(descriptor) { break }
    }
    if sent == 0 { throw CommandFailure(.noInput, reported ?? "the input has no measurement") }
  }

  /// Reads what is there. Returns false at the end.
  private mutating func read(_ descriptor: Int32) throws -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      let error = Errno(rawValue: errno)
      if error == .wouldBlock || error == .interrupted { return true }
      throw CommandFailure(.noInput, "the input has ended: \(error)")
    }
    if let values = input.frames {
      guard let frame = CANFrame(Array(bytes[..<count])), let found = values.values(frame) else { return count > 0 }
      try handle(found.mapValues(JSON.double))
      return true
    }
    pending += bytes[..<count]
    while let end = pending.firstIndex(of: 0x0A) {
      let line = Array(pending[..<end])
      pending.removeFirst(end + 1)
      try handle(line)
    }
    if count == 0 {
      // The last line may have no end.
      try handle(pending)
      return false
    }
    if pending.count > Self.longestLine {
      pending = []
      report("a line has more than \(Self.longestLine) bytes")
    }
    return true
  }

  private mutating func handle(_ line: [UInt8]) throws {
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
    guard case .object(let members)? = try? JSON(parsing: line) else {
      return report("a line is not an object of JSON")
    }
    try handle(Dictionary(members.map { ($0.name, $0.value) }) { $1 })
  }

  private mutating func handle(_ values: [String: JSON]) throws {
    do throws(OdometerMeasurement.Refusal) {
      _ = try OdometerMeasurement(values.keys) { values[$0]?.numberOrFlag }
    } catch {
      return report("a measurement \(error.text)")
    }
    let now = SystemClock.monotonic
    guard pacing.admits(at: now.milliseconds(since: .zero)) else { return }
    var members = values.map { JSON.Member($0.key, $0.value) }
    if values["milliseconds"] == nil {
      members.append(JSON.Member("milliseconds", .integer(Int64(clamping: now.milliseconds(since: .zero)))))
    }
    let parameters = JSON(omittingNil: ["odometer": JSON.object(members), "device": device])
    let method = "org.sextant.Receivers.Feed"
    if now < checkAt {
      guard client.sendOneway(method, parameters) else {
        throw CommandFailure(.unavailable, "the location service has closed the connection; try again")
      }
    } else {
      checkAt = now + Self.checkInterval
      _ = try client.call(method, parameters) { Self.failure($0, device ?? "the receiver") }
    }
    sent += 1
  }

  private static func failure(_ error: VarlinkError, _ device: String) -> CommandFailure? {
    switch error.name {
    case "org.sextant.Receivers.NotPermitted":
      CommandFailure(.noPermission, "\(device): you may not open it; join its group (sudo usermod -aG gnss $USER)")
    case "org.sextant.Receivers.ReadOnly":
      CommandFailure(.unavailable, "the location service sends nothing (--read-only)")
    case "org.sextant.Receivers.NoReceiver":
      CommandFailure(.noInput, "the location service has no receiver; see `sextant status`")
    case "org.sextant.Receivers.Unavailable":
      CommandFailure(.unavailable, "\(device): \(error.parameters["reason"]?.string ?? "takes no odometer data")")
    case "org.varlink.service.MethodNotFound":
      CommandFailure(.unavailable, "the location service does not take odometer data; update sextantd")
    default: nil
    }
  }

  /// Prints a problem once.
  private mutating func report(_ text: String) {
    if text != reported { printNotice("\(text); it is not sent") }
    reported = text
  }
}
