// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import SerialPort
import WireBytes

/// An open network source as the line of a receiver.
final class NetworkLine: ReceiverLine {
  let isWritable: Bool
  /// The reason why the line was lost.
  private(set) var lossReason: SerialPortError?

  private let source: NetworkSource
  private let path: String
  private let socket: HostConnection.Socket
  /// Bytes that the reader has not read.
  private var remainder: ArraySlice<UInt8>
  /// The first bytes: a server that refuses a client may send the reason as text.
  private var beginning: [UInt8] = []
  private static let longestReason = 120
  /// Room for the longest datagram; empty for a stream.
  private var buffer: [UInt8] = []

  /// - Parameter received: bytes of the receiver that have already arrived.
  init(_ source: NetworkSource, _ path: String, _ socket: HostConnection.Socket, received: [UInt8]) {
    (self.source, self.path, self.socket) = (source, path, socket)
    isWritable = source.capabilities.isWritable
    remainder = received[...]
    switch socket {
    case .stream(let stream): stream.value.keepAlive()
    case .datagrams: buffer = [UInt8](repeating: 0, count: 65_536)
    }
  }

  /// The restriction of the source, for the user; nil if it accepts bytes.
  var notice: String? { source.notice }

  var fileDescriptor: Int32? { socket.fileDescriptor }
  var deadline: Instant? { remainder.isEmpty ? nil : .zero }

  @_lifetime(span: copy span)
  func read(into span: inout MutableRawSpan, at now: Instant) throws(SerialPortError) -> SerialPort.ReadResult {
    if remainder.isEmpty, case .stream(let stream) = socket { return try read(stream, into: &span) }
    if remainder.isEmpty, case .datagrams(let socket) = socket {
      guard let count = try receive(socket), count > 0 else { return .wouldBlock }
      remainder = buffer[..<count]
    }
    let count = min(remainder.count, span.byteCount)
    for index in 0..<count {
      span.storeBytes(of: remainder[remainder.startIndex + index], toByteOffset: index, as: UInt8.self)
    }
    remainder = remainder.dropFirst(count)
    return .bytes(count)
  }

  func write(_ bytes: RawSpan, at now: Instant) throws(SerialPortError) -> Int {
    guard isWritable, case .stream(let stream) = socket else { return bytes.byteCount }
    do {
      return try stream.value.write(bytes)
    } catch {
      throw lost("the connection is lost (\(error.reason))")
    }
  }

  @_lifetime(span: copy span)
  private func read(
    _ stream: Owned<TCPStream>, into span: inout MutableRawSpan
  ) throws(SerialPortError) -> SerialPort.ReadResult {
    let result: SerialPort.ReadResult
    do { result = try stream.value.read(into: &span) } catch { throw lost("the connection is lost (\(error.reason))") }
    switch result {
    case .endOfInput: throw closed()
    case .wouldBlock: break
    case .bytes(let count):
      for index in 0..<min(count, Self.longestReason - beginning.count) {
        beginning.append(span.bytes.u1(index))
      }
    }
    return result
  }

  private func receive(_ socket: Owned<DatagramSocket>) throws(SerialPortError) -> Int? {
    // The buffer is moved out while it is read, to avoid a copy.
    var buffer: [UInt8] = []
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    var elements = buffer.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var room = unsafe elements.mutableBytes
    do { return try socket.value.read(into: &room) } catch { throw lost("receiving fails (\(error.reason))") }
  }

  private func lost(_ text: String, isHeld: Bool = false) -> SerialPortError {
    let error = SerialPortError(unreachable: text, isHeld: isHeld, path: path)
    lossReason = error
    return error
  }

  /// A serial port server that already serves another client closes with a line such as "Port already in use".
  private func closed() -> SerialPortError {
    let text = String(decoding: beginning.filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    let isHeld = ["in use", "busy"].contains { text.lowercased().includes($0) }
    return lost(
      isHeld ? "the server is in use by another client (\(text)); end that one" : "the server closed the connection",
      isHeld: isHeld)
  }
}
