/// A value in a message. A variant is its content.
public enum BusValue: Hashable, Sendable {
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

  /// The value of a key that is a string; nil if this is no dictionary.
  public subscript(_ key: String) -> BusValue? {
    guard case .dictionary(let entries) = self else { return nil }
    return entries.first { $0.key == .text(key) }?.value
  }

  public var text: String? { if case .text(let text) = self { text } else { nil } }
  public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  public var entries: [BusEntry] { if case .dictionary(let entries) = self { entries } else { [] } }
}

/// An entry of a dictionary.
public struct BusEntry: Hashable, Sendable {
  public var key: BusValue
  public var value: BusValue

  public init(_ key: BusValue, _ value: BusValue) {
    self.key = key
    self.value = value
  }
}

/// A message from the bus.
public struct BusMessage: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The answer to the call of this token.
    case reply(BusToken)
    /// The refusal of the call, with the error's name, such as `org.bluez.Error.NotReady`, and its text.
    case refusal(BusToken, name: String, text: String)
    case signal(path: String, interface: String, member: String)
  }

  public var kind: Kind
  public var body: [BusValue]

  public init(_ kind: Kind, _ body: [BusValue] = []) {
    self.kind = kind
    self.body = body
  }
}

/// The identity of a call for its answer: the caller and its own number.
public struct BusToken: Hashable, Sendable {
  public var owner: Owner
  public var number: Int

  /// The caller.
  public enum Owner: Hashable, Sendable { case suspend, beacons }

  public init(_ owner: Owner, _ number: Int) {
    self.owner = owner
    self.number = number
  }
}

/// A call to send.
public struct BusCall: Hashable, Sendable {
  public enum Argument: Hashable, Sendable {
    case text(String)
    /// a{sv}, each value a string or a flag.
    case settings([Setting])
  }

  public struct Setting: Hashable, Sendable {
    public enum Value: Hashable, Sendable { case text(String), flag(Bool) }
    public var name: String
    public var value: Value

    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  public var token: BusToken
  public var destination: String
  public var path: String
  public var interface: String
  public var member: String
  public var arguments: [Argument]

  public init(
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
