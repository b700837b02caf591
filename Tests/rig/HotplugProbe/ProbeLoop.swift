// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

/// The event loop: it performs the actions of the reconnect policy (`ReconnectPolicy`) and the listener.
struct ProbeLoop: ~Copyable {
  private let options: Options
  private var poller: Poller
  private var monitor: DeviceMonitor
  private var reconnectPolicy: ReconnectPolicy
  private var line: OpenLine?
  private var input: SerialPort
  private var commands = ""
  private var isEnding = false
  private var buffer = [UInt8](repeating: 0, count: 4096)

  private static let deviceEvents = Poller.Token(rawValue: 1)
  private static let receiverBytes = Poller.Token(rawValue: 2)
  private static let command = Poller.Token(rawValue: 3)
  /// The interval at which the error counters and modem lines of an open port are read: drivers do not announce changes.
  private static let counterInterval = Milliseconds(100)

  init(_ options: Options) throws {
    let now = SystemClock.monotonic
    var poller = try Poller(catching: [.terminate])
    var monitor = DeviceMonitor(source: options.source)
    let events = monitor.drain(at: now)
    if let descriptor = monitor.fileDescriptor { try poller.add(descriptor, token: Self.deviceEvents) }
    let input = try SerialPort(opening: "/proc/self/fd/0", access: .readOnly, baud: nil)
    try poller.add(input.fileDescriptor, token: Self.command)
    let reconnectPolicy = ReconnectPolicy(
      wanted: options.wanted, present: events.map(\.port), monitor: monitor.source, at: now)
    for event in events { Console.write("\(event.change) \(event.port.node) \(event.port.identity)") }
    Console.write("ready \(monitor.source)")
    self.init(options, poller, monitor, reconnectPolicy, input)
  }

  private init(
    _ options: Options, _ poller: consuming Poller, _ monitor: consuming DeviceMonitor,
    _ reconnectPolicy: ReconnectPolicy,
    _ input: consuming SerialPort
  ) {
    self.options = options
    self.poller = poller
    self.monitor = monitor
    self.reconnectPolicy = reconnectPolicy
    self.input = input
  }

  mutating func run() throws {
    while !isEnding {
      try performActions()
      let events = try poller.wait(deadline: deadline?.nanoseconds)
      for event in events {
        switch event {
        case .readable(Self.receiverBytes), .hangUp(Self.receiverBytes): try readReceiver()
        case .readable(Self.command), .hangUp(Self.command): try readCommands()
        case .signal: isEnding = true
        default: break
        }
      }
      let now = self.now
      for event in monitor.drain(at: now) {
        Console.write("\(event.change) \(event.port.node) \(event.port.identity)")
        reconnectPolicy.receive(event, at: now)
      }
      reconnectPolicy.wake(at: now)
      line?.wake(at: now)
    }
  }

  private var now: Instant { SystemClock.monotonic }

  private var deadline: Instant? {
    let ofLine: Instant? =
      switch line {
      case .some(let line): line.deadline
      case nil: nil
      }
    return Instant.earlier(Instant.earlier(reconnectPolicy.deadline, monitor.deadline), ofLine)
  }

  private mutating func performActions() throws {
    while let action = reconnectPolicy.takeAction() {
      switch action {
      case .open(let path): try open(path)
      case .close: close()
      case .report(let text): Console.write("report \(text)")
      }
    }
  }

  private mutating func open(_ path: String) throws {
    let descriptor: Int32
    do throws(SerialPortError) {
      let port = try SerialPort(opening: path, access: .readWrite, baud: options.baud)
      if options.lowLatency { Console.write("low-latency \(path) \(try port.setLowLatency(true))") }
      descriptor = port.fileDescriptor
      line = OpenLine(port, searches: options.baud == nil, countersEvery: Self.counterInterval, now: now)
    } catch {
      return reconnectPolicy.failed(path, errno: error.errno, because: error.description, at: now)
    }
    try poller.add(descriptor, token: Self.receiverBytes)
    reconnectPolicy.opened(path, at: now)
    Console.write("open \(path) descriptors=\(Console.openDescriptors())")
  }

  private mutating func close() {
    guard let open = line.take() else { return }
    poller.remove(open.port.fileDescriptor)
    Console.write("close \(open.port.path)")
  }

  private mutating func readReceiver() throws {
    let now = self.now
    guard let isAlive = line?.read(&buffer, at: now), !isAlive else { return }
    close()
    reconnectPolicy.lost(at: now)
  }

  private mutating func readCommands() throws {
    var bytes = [UInt8](repeating: 0, count: 256)
    var elements = bytes.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var span = unsafe elements.mutableBytes
    let result = try input.read(into: &span)
    switch result {
    case .endOfInput: poller.remove(input.fileDescriptor)
    case .wouldBlock: break
    case .bytes(let count): commands += String(decoding: bytes[..<count], as: UTF8.self)
    }
    while let end = commands.firstIndex(of: "\n") {
      apply(commands[..<end].split(separator: " "))
      commands.removeSubrange(...end)
    }
  }

  private mutating func apply(_ words: [Substring]) {
    if words.first == "quit" {
      isEnding = true
    } else {
      line?.apply(words)
    }
  }
}
