// SPDX-License-Identifier: Apache-2.0
import CBus
import Glibc
import SystemPackage

/// The connection to the system bus or the user bus. It sends calls and receives messages; no function blocks. One
/// thread uses it and waits for its descriptor.
///
/// The protocol is sd-bus, whose library is loaded at run time (`CBus`). `unsafe` because its objects are pointers;
/// each belongs to a value in this file and is released with it.
@safe package struct SystemBus: ~Copyable {
  /// The reason why there is no connection, with the next step.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String

    init(_ description: String) { self.description = description }

    init(_ doing: String, _ code: Int32) {
      description =
        "\(doing): \(Errno(rawValue: -code)) (is dbus-daemon or dbus-broker running, and DBUS_SYSTEM_BUS_ADDRESS right?)"
    }
  }

  /// The bus.
  package enum Kind: Sendable { case system, user }

  private let bus: UnsafeMutableRawPointer
  /// The unanswered calls, keyed by the library's numbers.
  private var waiting: [UInt64: BusToken]

  /// Connects. The handshake continues while messages are processed.
  package init(_ kind: Kind = .system) throws(Failure) {
    guard cbus_load() == 0 else {
      throw Failure("there is no library for the system bus: install libsystemd0 (or libelogind0, or libbasu0)")
    }
    var bus: UnsafeMutableRawPointer?
    let code = unsafe kind == .system ? cbus_open_system(&bus) : cbus_open_user(&bus)
    guard code >= 0, let bus = unsafe bus else {
      if kind == .user { throw Failure("the bus of this user cannot be reached: \(Errno(rawValue: -code))") }
      throw Failure("the system bus cannot be reached", code)
    }
    unsafe self.bus = bus
    waiting = [:]
  }

  deinit { unsafe cbus_close(bus) }

  /// The descriptor to wait for; nil after the end of the connection.
  package var descriptor: Int32? {
    let descriptor = unsafe cbus_get_fd(bus)
    return descriptor < 0 ? nil : descriptor
  }

  /// Whether there is data that could not be written yet.
  package var wantsToWrite: Bool {
    let events = unsafe cbus_get_events(bus)
    return events >= 0 && events & Int32(POLLOUT) != 0
  }

  /// The time of the next `process` even without input, nanoseconds of the monotonic clock.
  package var deadlineNanoseconds: UInt64? {
    var microseconds: UInt64 = 0
    let code = unsafe cbus_get_timeout(bus, &microseconds)
    guard code >= 0, microseconds != .max else { return nil }
    return microseconds.multipliedReportingOverflow(by: 1000).overflow ? nil : microseconds * 1000
  }

  /// Sends a call.
  package mutating func send(_ call: BusCall) throws(Failure) {
    var message: UnsafeMutableRawPointer?
    try check(
      unsafe cbus_message_new_method_call(bus, &message, call.destination, call.path, call.interface, call.member))
    guard let message = unsafe message else { return }
    defer { unsafe cbus_message_unref(message) }
    for argument in call.arguments { try unsafe append(argument, to: message) }
    var cookie: UInt64 = 0
    try check(unsafe cbus_send(bus, message, &cookie))
    waiting[cookie] = call.token
  }

  /// Reads and writes pending data.
  ///
  /// - Returns: the next message, `.some(nil)` if there may be more, nil if no message is available.
  /// - Throws: ``Failure`` after the end of the connection.
  package mutating func process() throws(Failure) -> BusMessage?? {
    var pointer: UnsafeMutableRawPointer?
    let code = unsafe cbus_process(bus, &pointer)
    if code < 0 { throw Failure("the system bus has gone", code) }
    guard let pointer = unsafe pointer else { return code == 0 ? nil : .some(nil) }
    defer { unsafe cbus_message_unref(pointer) }
    return .some(unsafe message(pointer))
  }

  private func check(_ code: Int32) throws(Failure) {
    if code < 0 { throw Failure("the system bus does not take a call", code) }
  }

  // MARK: Writing

  private func append(_ argument: BusCall.Argument, to message: UnsafeMutableRawPointer) throws(Failure) {
    switch argument {
    case .text(let text): try unsafe append(text, to: message)
    case .flag(let flag): try unsafe append(flag, to: message)
    case .int32(let value): try unsafe append(value, "i", to: message)
    case .uint32(let value): try unsafe append(value, "u", to: message)
    case .uint16(let value): try unsafe append(value, "q", to: message)
    case .byteStrings(let texts):
      try check(unsafe cbus_message_open_container(message, Self.array, "ay"))
      for text in texts {
        try check(unsafe cbus_message_open_container(message, Self.array, "y"))
        for byte in text.utf8 { try unsafe append(byte, "y", to: message) }
        try check(unsafe cbus_message_close_container(message))
      }
      try check(unsafe cbus_message_close_container(message))
    case .settings(let settings):
      try check(unsafe cbus_message_open_container(message, Self.array, "{sv}"))
      for setting in settings {
        try check(unsafe cbus_message_open_container(message, Self.entry, "sv"))
        try unsafe append(setting.name, to: message)
        switch setting.value {
        case .text(let text):
          try check(unsafe cbus_message_open_container(message, Self.variant, "s"))
          try unsafe append(text, to: message)
        case .flag(let flag):
          try check(unsafe cbus_message_open_container(message, Self.variant, "b"))
          try unsafe append(flag, to: message)
        }
        try check(unsafe cbus_message_close_container(message))
        try check(unsafe cbus_message_close_container(message))
      }
      try check(unsafe cbus_message_close_container(message))
    }
  }

  private func append(_ flag: Bool, to message: UnsafeMutableRawPointer) throws(Failure) {
    var value: Int32 = flag ? 1 : 0
    try check(unsafe cbus_message_append_basic(message, Self.flag, &value))
  }

  private func append<Value: BitwiseCopyable>(
    _ value: Value, _ type: Unicode.Scalar, to message: UnsafeMutableRawPointer
  ) throws(Failure) {
    var value = value
    try check(unsafe cbus_message_append_basic(message, CChar(UInt8(ascii: type)), &value))
  }

  private func append(_ text: String, to message: UnsafeMutableRawPointer) throws(Failure) {
    let code = unsafe text.withCString { unsafe cbus_message_append_basic(message, Self.string, $0) }
    try check(code)
  }

  // MARK: Reading

  private static let array = CChar(UInt8(ascii: "a"))
  private static let entry = CChar(UInt8(ascii: "e"))
  private static let variant = CChar(UInt8(ascii: "v"))
  private static let structure = CChar(UInt8(ascii: "r"))
  private static let string = CChar(UInt8(ascii: "s"))
  private static let flag = CChar(UInt8(ascii: "b"))
  private static let byte = CChar(UInt8(ascii: "y"))

  private mutating func message(_ pointer: UnsafeMutableRawPointer) -> BusMessage? {
    var type: UInt8 = 0
    guard unsafe cbus_message_get_type(pointer, &type) >= 0 else { return nil }
    // sd-bus-protocol.h: 1 call, 2 reply, 3 error, 4 signal.
    switch type {
    case 2, 3:
      var cookie: UInt64 = 0
      guard unsafe cbus_message_get_reply_cookie(pointer, &cookie) >= 0, let token = waiting.removeValue(forKey: cookie)
      else { return nil }
      if type == 2 { return BusMessage(.reply(token), unsafe values(pointer)) }
      var name: UnsafePointer<CChar>?
      var text: UnsafePointer<CChar>?
      unsafe cbus_message_get_error(pointer, &name, &text)
      return BusMessage(.refusal(token, name: unsafe string(name), text: unsafe string(text)))
    case 4:
      let kind = BusMessage.Kind.signal(
        path: unsafe string(cbus_message_get_path(pointer)),
        interface: unsafe string(cbus_message_get_interface(pointer)),
        member: unsafe string(cbus_message_get_member(pointer)))
      return BusMessage(kind, unsafe values(pointer))
    default: return nil
    }
  }

  private func string(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = unsafe text else { return "" }
    return unsafe String(cString: text)
  }

  /// Returns the rest of the message, or of the container that was entered.
  private func values(_ pointer: UnsafeMutableRawPointer) -> [BusValue] {
    var values: [BusValue] = []
    while let value = unsafe value(pointer) { values.append(value) }
    return values
  }

  /// Returns the next value; nil at the end, and for an unreadable value. The bus has checked the message's form and
  /// its nesting.
  private func value(_ pointer: UnsafeMutableRawPointer) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard unsafe cbus_message_peek_type(pointer, &type, &contents) > 0 else { return nil }
    switch type {
    case Self.array where unsafe string(contents) == "y": return unsafe bytes(pointer)
    case Self.array, Self.variant, Self.structure, Self.entry:
      guard unsafe cbus_message_enter_container(pointer, type, contents) > 0 else { return nil }
      let isDictionary = unsafe type == Self.array && string(contents).hasPrefix("{")
      let inner = unsafe isDictionary ? [.dictionary(entries(pointer))] : values(pointer)
      guard unsafe cbus_message_exit_container(pointer) >= 0 else { return nil }
      return type == Self.variant || isDictionary ? inner.first ?? .list([]) : .list(inner)
    default: return unsafe basic(pointer, type)
    }
  }

  private func entries(_ pointer: UnsafeMutableRawPointer) -> [BusEntry] {
    var entries: [BusEntry] = []
    while case .list(let pair)? = unsafe value(pointer), pair.count == 2 { entries.append(BusEntry(pair[0], pair[1])) }
    return entries
  }

  private func bytes(_ pointer: UnsafeMutableRawPointer) -> BusValue? {
    var start: UnsafeRawPointer?
    var count = 0
    guard unsafe cbus_message_read_array(pointer, Self.byte, &start, &count) >= 0 else { return nil }
    return .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: count)))
  }

  private func basic(_ pointer: UnsafeMutableRawPointer, _ type: CChar) -> BusValue? {
    func read<Value: BitwiseCopyable>(_ start: Value, _ make: (Value) -> BusValue) -> BusValue? {
      var value = start
      return unsafe cbus_message_read_basic(pointer, type, &value) > 0 ? make(value) : nil
    }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "b"): return read(Int32(0)) { .flag($0 != 0) }
    case UInt8(ascii: "y"): return read(UInt8(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "n"): return read(Int16(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "q"): return read(UInt16(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "i"): return read(Int32(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "u"): return read(UInt32(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "x"): return read(Int64(0)) { .integer($0) }
    case UInt8(ascii: "t"): return read(UInt64(0)) { .integer(Int64(clamping: $0)) }
    case UInt8(ascii: "d"): return read(0.0) { .number($0) }
    case UInt8(ascii: "h"):
      // The message keeps its own descriptor.
      var number: Int32 = -1
      guard unsafe cbus_message_read_basic(pointer, type, &number) > 0 else { return nil }
      return BusFile(copyOf: number).map { .file($0) }
    default:
      var text: UnsafePointer<CChar>?
      guard unsafe cbus_message_read_basic(pointer, type, &text) > 0 else { return nil }
      return .text(unsafe string(text))
    }
  }
}

/// A descriptor that was received in a message. The last reference closes it.
package final class BusFile: Sendable, Hashable {
  private let number: Int32

  fileprivate init?(copyOf other: Int32) {
    number = fcntl(other, F_DUPFD_CLOEXEC, 3)
    if number < 0 { return nil }
  }

  /// Makes a file without a descriptor, for tests.
  init() { number = -1 }

  deinit { if number >= 0 { close(number) } }

  package static func == (a: BusFile, b: BusFile) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
