// SPDX-License-Identifier: Apache-2.0

/// A value in a message. A variant is represented by its content.
package enum BusValue: Hashable, Sendable {
  case flag(Bool)
  /// An integer of any length, clamped to Int64.
  case integer(Int64)
  case number(Double)
  /// A string, an object path or a signature.
  case text(String)
  /// An array of bytes.
  case bytes([UInt8])
  /// An array or a structure.
  case list([BusValue])
  case dictionary([BusEntry])
  case file(BusFile)

  /// The value of a key that is a string; nil if this is not a dictionary.
  package subscript(_ key: String) -> BusValue? {
    guard case .dictionary(let entries) = self else { return nil }
    return entries.first { $0.key == .text(key) }?.value
  }

  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  package var entries: [BusEntry] { if case .dictionary(let entries) = self { entries } else { [] } }
}

/// An entry of a dictionary.
package struct BusEntry: Hashable, Sendable {
  package var key: BusValue
  package var value: BusValue

  package init(_ key: BusValue, _ value: BusValue) {
    self.key = key
    self.value = value
  }
}

/// A message from the bus.
package struct BusMessage: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The answer to the call with this token.
    case reply(BusToken)
    /// The refusal of the call, with the error's name, such as `org.bluez.Error.NotReady`, and its text.
    case refusal(BusToken, name: String, text: String)
    case signal(path: String, interface: String, member: String)
  }

  package var kind: Kind
  package var body: [BusValue]

  package init(_ kind: Kind, _ body: [BusValue] = []) {
    self.kind = kind
    self.body = body
  }
}

/// The identity of a call for its answer: the caller and the caller's number.
package struct BusToken: Hashable, Sendable {
  package var owner: Owner
  package var number: Int

  /// The caller.
  package enum Owner: Hashable, Sendable { case suspend, beacons, units, announcements, modems }

  package init(_ owner: Owner, _ number: Int) {
    self.owner = owner
    self.number = number
  }
}

/// A call to send.
package struct BusCall: Hashable, Sendable {
  package enum Argument: Hashable, Sendable {
    case text(String)
    case flag(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint16(UInt16)
    /// aay, each the bytes of a text.
    case byteStrings([String])
    /// a{sv}, each value a string or a flag.
    case settings([Setting])
  }

  package struct Setting: Hashable, Sendable {
    package enum Value: Hashable, Sendable { case text(String), flag(Bool) }
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  package var token: BusToken
  package var destination: String
  package var path: String
  package var interface: String
  package var member: String
  package var arguments: [Argument]

  package init(
    _ token: BusToken, _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [Argument] = []
  ) {
    self.token = token
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }

  /// Returns a call that subscribes to signals. Signals without a rule are not sent, and cause no wake-up.
  static func match(_ token: BusToken, _ rule: String, isWanted: Bool = true) -> BusCall {
    BusCall(
      token, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      isWanted ? "AddMatch" : "RemoveMatch", [.text(rule)])
  }
}
