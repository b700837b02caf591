// SPDX-License-Identifier: Apache-2.0

/// The state in which the GNSS engine of a modem was found, to be restored at the end, or by the next program if this one
/// is killed.
public struct ModemState: Sendable, Equatable {
  /// Whether the engine was on.
  public var isOn: Bool
  /// The output port of NMEA, where it was changed: Quectel's `AT+QGPSCFG="outport"`, which the modem keeps in flash.
  public var outputPort: String?

  public init(isOn: Bool, outputPort: String? = nil) {
    self.isOn = isOn
    self.outputPort = outputPort.flatMap { Self.isName($0) ? $0 : nil }
  }

  /// Whether a text is the name of an output port: up to 16 letters and digits, which can be sent in quotation marks.
  static func isName(_ text: String) -> Bool {
    (1...16).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: false
        }
      }
  }
}

/// The crash-recovery record of a modem: the port of its receiver, and the state in which it was found.
public struct ModemRecord: Sendable, Equatable {
  /// The identity of the port, which stays the same if its node gets another name; without white space.
  public var identity: String
  public var found: ModemState

  public init(identity: String, found: ModemState) {
    self.identity = identity
    self.found = found
  }

  /// The record as a line of text, such as `modem usb:2c7c:0125:0001:1 engine off outport none`.
  public var text: String {
    "modem \(identity) engine \(found.isOn ? "on" : "off")" + (found.outputPort.map { " outport \($0)" } ?? "")
  }

  /// Reads `text`; nil for anything else.
  public init?(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 4 || words.count == 6, words[0] == "modem", words[2] == "engine",
      words[3] == "on" || words[3] == "off"
    else { return nil }
    found = ModemState(isOn: words[3] == "on")
    if words.count == 6 {
      guard words[4] == "outport", ModemState.isName(words[5]) else { return nil }
      found.outputPort = words[5]
    }
    identity = words[1]
  }
}
