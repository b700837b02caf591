// SPDX-License-Identifier: Apache-2.0
import CTLS

/// The client's end of an encrypted connection: converts records to bytes and bytes to records. It does not use a
/// socket.
///
///     handshaking ── complete ──▶ open ── the server's end ──▶ closed
///          │ refused, no TLS       │ damaged record
///          └──────▶ failed ◀───────┘
///
/// Bytes that are sent before the handshake is complete are queued. The server's certificate is checked against the
/// authorities that the system trusts, and against the host's name.
///
/// `unsafe` because OpenSSL takes pointers: to the connection, which this value owns, and to bytes that are valid
/// during the call.
@safe package struct TLSClient: ~Copyable {
  package enum State: Equatable, Sendable {
    case handshaking
    case open
    /// The server has ended the connection normally.
    case closed
    case failed(TLSFailure)
  }

  package private(set) var state: State
  /// A variable, because Swift 6.2 treats the call of `shakeHands` in `init` as a change of a constant.
  private var connection: OpaquePointer
  /// Bytes that are queued until the handshake is complete.
  private var waiting: [UInt8]

  /// Whether OpenSSL is installed.
  package static var isAvailable: Bool { ctls_load() == 0 }

  /// Starts the handshake.
  ///
  /// - Parameter host: the name or address of the server, which its certificate must contain.
  /// - Throws: `noLibrary` or `noMemory`.
  package init(to host: String) throws(TLSFailure) {
    guard Self.isAvailable else { throw .noLibrary }
    guard let made = unsafe ctls_open(host) else { throw .noMemory }
    state = .handshaking
    waiting = []
    unsafe connection = made
    shakeHands()
  }

  deinit { unsafe ctls_close(connection) }

  /// Handles records of the server, and returns the bytes in them.
  package mutating func receive(_ cipher: RawSpan) -> [UInt8] {
    let isTaken = unsafe cipher.withUnsafeBytes { bytes in
      unsafe ctls_put(connection, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 0
    }
    guard isTaken else {
      state = .failed(.noMemory)
      return []
    }
    if state == .handshaking { shakeHands() }
    return state == .open ? readBytes() : []
  }

  /// Encrypts bytes for the server.
  package mutating func send(_ bytes: [UInt8]) {
    waiting += bytes
    if state == .open { writeWaiting() }
  }

  /// Handles the end of the server's socket.
  package mutating func endOfInput() {
    switch state {
    case .handshaking: state = .failed(.handshake(words: nil))
    case .open: state = .failed(.truncated)
    case .closed, .failed: break
    }
  }

  /// Returns the records for the server since the last call.
  package mutating func takeRecords() -> [UInt8] {
    var records: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe piece.withUnsafeMutableBufferPointer { unsafe ctls_take(connection, $0.baseAddress, $0.count) }
      if count == 0 { return records }
      records += piece[..<count]
    }
  }

  private mutating func shakeHands() {
    switch unsafe ctls_handshake(connection) {
    case CTLS_NEEDS_RECORDS: break
    case 1...:
      state = .open
      writeWaiting()
    default: state = .failed(handshakeFailure())
    }
  }

  private func handshakeFailure() -> TLSFailure {
    let code = unsafe ctls_verification(connection)
    // OpenSSL's error text belongs to the last call, so it is read in any case.
    let words = Self.reason()
    guard code != 0 else { return .handshake(words: words) }
    return unsafe .certificate(code: code, words: String(cString: ctls_verification_text(code)))
  }

  private mutating func readBytes() -> [UInt8] {
    var result: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while state == .open {
      let count = unsafe piece.withUnsafeMutableBufferPointer { unsafe ctls_read(connection, $0.baseAddress, $0.count) }
      switch count {
      case 1...: result += piece[..<Int(count)]
      case CTLS_NEEDS_RECORDS: return result
      case CTLS_CLOSED: state = .closed
      default: state = .failed(.record(words: Self.reason()))
      }
    }
    return result
  }

  private mutating func writeWaiting() {
    guard !waiting.isEmpty else { return }
    let count = unsafe waiting.withUnsafeBufferPointer { unsafe ctls_write(connection, $0.baseAddress, $0.count) }
    waiting = []
    if count <= 0 { state = .failed(.record(words: Self.reason())) }
  }

  private static func reason() -> String? {
    guard let words = unsafe ctls_reason() else { return nil }
    return unsafe String(cString: words)
  }
}
