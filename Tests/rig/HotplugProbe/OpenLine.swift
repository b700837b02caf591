// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort

/// An open port, and the events that were printed about it.
struct OpenLine: ~Copyable {
  let port: SerialPort
  private var listener: Listener
  private var nextRead: Instant
  private let interval: Milliseconds
  private var hasBytes = false
  private var isFixed = false
  private var errors: LineErrors?
  private var modemLines: ModemLines?

  init(_ port: consuming SerialPort, searches: Bool, countersEvery interval: Milliseconds, now: Instant) {
    let rate = searches && port.kind == .terminal ? port.baudRate : nil
    listener = Listener(searchingFrom: rate, reference: nil, now: now)
    errors = port.lineErrors()
    modemLines = port.modemLines
    nextRead = now + interval
    self.interval = interval
    self.port = port
  }

  var deadline: Instant? { Instant.earlier(listener.deadline, nextRead) }

  /// Reads the available bytes; false at the end of the port.
  mutating func read(_ buffer: inout [UInt8], at now: Instant) -> Bool {
    do {
      var span = buffer.mutableSpan
      // Safe: bytes have no invalid bit patterns.
      var bytes = unsafe span.mutableBytes
      guard case .bytes(let count) = try port.read(into: &bytes) else { return true }
      if !hasBytes { Console.write("bytes \(port.path)") }
      hasBytes = true
      let received = unsafe buffer.span.bytes.extracting(0..<count)
      var hasFix = false
      let action = listener.receive(received, at: now) { report, _ in
        if report.fix.latitudeDegrees != nil { hasFix = true }
      }
      printFix(hasFix)
      perform(action)
      return true
    } catch {
      return false
    }
  }

  mutating func wake(at now: Instant) {
    if let due = listener.deadline, now >= due {
      var hasFix = false
      let action = listener.wake(at: now) { report, _ in if report.fix.latitudeDegrees != nil { hasFix = true } }
      printFix(hasFix)
      perform(action)
    }
    if now >= nextRead {
      nextRead = now + interval
      printChanges()
    }
  }

  func apply(_ words: [Substring]) {
    do throws(SerialPortError) {
      switch words.first {
      case "rate":
        if let rate = words.last.flatMap({ UInt32($0) }) {
          try port.setBaudRate(rate)
          Console.write("rate \(port.path) \(port.baudRate ?? 0)")
        }
      case "break":
        try port.sendBreak()
        Console.write("break \(port.path)")
      case "write":
        let poll: [UInt8] = [0xb5, 0x62, 0x0a, 0x04, 0, 0, 0x0e, 0x34]  // UBX-MON-VER, the poll
        // Safe: bytes have no padding.
        let count = try unsafe port.write(poll.span.bytes)
        Console.write("wrote \(port.path) \(count)")
      default: break
      }
    } catch {
      Console.write("report \(error)")
    }
  }

  private mutating func printFix(_ hasFix: Bool) {
    if hasFix && !isFixed {
      isFixed = true
      Console.write("fix \(port.path)")
    }
  }

  private func perform(_ action: Listener.Action) {
    switch action {
    // A rate that the hardware does not support is skipped.
    case .setRate(let rate), .poll(let rate), .pollAtRate(let rate, _): try? port.setBaudRate(rate)
    case .found(let rate): Console.write("found \(port.path) \(rate)")
    case .none, .adviseOnSilence, .pollOther: break
    }
  }

  private mutating func printChanges() {
    if let counted = port.lineErrors(), counted != errors {
      errors = counted
      Console.write(
        "errors \(port.path) framing=\(counted.framing) parity=\(counted.parity) overrun=\(counted.overrun) "
          + "breaks=\(counted.breaks)")
    }
    if let lines = port.modemLines, lines != modemLines {
      modemLines = lines
      let names: [(ModemLines, String)] = [
        (.dataTerminalReady, "dtr"), (.requestToSend, "rts"), (.clearToSend, "cts"), (.carrierDetect, "dcd"),
        (.ring, "ri"), (.dataSetReady, "dsr"),
      ]
      let on = names.filter { lines.contains($0.0) }.map(\.1).joined(separator: " ")
      Console.write("lines \(port.path) \(on)")
    }
  }
}
