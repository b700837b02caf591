// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import Receiver
import ReceiverRuntime
import SerialPort

/// `sextant bridge`: lends the line of a receiver to programs over TCP.
struct Bridge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bridge",
    abstract: "Lend the line of a receiver to another program, over TCP.",
    discussion: """
      One client at a time commands the receiver: bytes pass both ways, unchanged, and with RFC 2217 the client sets the rate \
      of the line. Further clients read only. When the client leaves, the receiver's rate is found again, and set back if \
      the client has changed it; other settings of the client stay.

      With the location service, its programs wait while a client has the line, and get the receiver back afterwards.

      By default only programs of this computer can connect, of users who may open the device. At another address every \
      program that connects gets the position and can command the receiver. Press ^C to end. docs/guides/bridge.md has the \
      addresses for u-center, PyGPSClient and pyserial.
      """)

  private static let usualPort = 2952

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "The address and port to listen at; * for all addresses of this computer.")
  var listen = "127.0.0.1:2952"

  mutating func validate() throws {
    if InternetAddress.parse(listen) == nil { listen += ":\(Self.usualPort)" }
    if InternetAddress.parse(listen) == nil {
      throw ValidationError("--listen must be an address and a port, such as 127.0.0.1:2952, [::1]:2952 or *:2952.")
    }
  }

  func run() throws {
    try Source.refuseReadOnly()
    let sockets = try BridgeSockets(at: InternetAddress.parse(listen) ?? [])
    let served = try ServiceReceiver.chosen(named: receiver.device, isDemo: receiver.demo, for: .listening)
    let choice = try served ?? receiver.choose(for: .sending)
    try Self.refuseNetwork(choice)
    sockets.node = Self.node(choice)
    sockets.announcements = ["\(choice.source.name): clients connect to \(listen)"]
    if !sockets.isLoopback {
      sockets.announcements.append(
        "warning: every program that reaches \(listen) commands the receiver, without a password")
    }
    if served != nil {
      try bridgeService(choice, sockets)
    } else {
      try CrashRecovery.restore(choice)
      _ = try Self.run(choice, .own, sockets)
    }
  }

  /// Passes the service's bytes on while no client commands the receiver, and borrows its line while one does.
  private func bridgeService(_ first: Source.Choice, _ sockets: BridgeSockets) throws {
    var named = receiver
    if case .device(let name) = first.source, !name.isEmpty { named.device = name }
    var next: Source.Choice? = first
    while true {
      if !sockets.hasWriter {
        let choice = try next ?? named.choose(for: .listening)
        next = nil
        if try Self.run(choice, choice.service == nil ? .own : .served, sockets) { return }
        continue
      }
      next = nil
      do {
        let choice = try named.choose(for: .sending)
        try CrashRecovery.restore(choice)
        if try Self.run(choice, .lent, sockets) { return }
      } catch let failure as CommandFailure {
        printNotice("\(failure.description); the client is disconnected")
        sockets.dropWriter()
      } catch let failure as SerialPortError {
        printNotice("\(failure.description); the client is disconnected")
        sockets.dropWriter()
      }
    }
  }

  /// Returns whether a signal ended it.
  private static func run(_ choice: Source.Choice, _ line: BridgeClient.Line, _ sockets: BridgeSockets) throws -> Bool {
    var settings = SessionSettings(intent: line == .served ? .readOnly : .identify, line: .serial)
    settings.desired = { _ in .nothing }
    // A tool meets the receiver as it was found.
    settings.maySwitchUBXOn = false
    var loop = try ReceiverLoop(choice, settings, seconds: nil, client: BridgeClient(choice, line, sockets))
    try loop.run()
    return loop.isInterrupted
  }

  private static func refuseNetwork(_ choice: Source.Choice) throws {
    guard case .device(let name) = choice.source, let source = try LineAddress(name).networkSource else { return }
    throw CommandFailure(.usage, "\(name): is on the network already; connect the other program to \(source)")
  }

  /// The node of the receiver; nil for a simulator.
  private static func node(_ choice: Source.Choice) -> String? {
    guard case .device(let name) = choice.source else { return nil }
    return switch try? LineAddress(name) {
    case .port(let path)?: path.isEmpty ? nil : path
    case .i2c(let bus, _)?: bus
    case .network?, .replay?, .simulator?, nil: nil
    }
  }
}
