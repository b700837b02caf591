// SPDX-License-Identifier: Apache-2.0

/// A key of the terminal.
enum ScreenKey: Equatable {
  case character(Character)
  case tab, escape, up, down, pageUp, pageDown, home, end
}

/// Finds keys in the bytes of a terminal, which arrive in pieces of any size.
struct KeyDecoder {
  private enum State {
    case none
    /// After ESC.
    case escape
    /// In a control sequence (ECMA-48, 5.4), with the number that it has so far.
    case sequence(Int)
    /// After ESC O, which precedes one character (xterm's application keys).
    case application
  }
  private var state = State.none

  /// Returns the keys that are complete with these bytes. Unknown sequences and bytes beyond ASCII are not keys.
  mutating func receive(_ bytes: some Sequence<UInt8>) -> [ScreenKey] { bytes.compactMap { receive($0) } }

  private mutating func receive(_ byte: UInt8) -> ScreenKey? {
    switch state {
    case .none:
      return first(byte)
    case .escape:
      switch byte {
      case UInt8(ascii: "["): state = .sequence(0)
      case UInt8(ascii: "O"): state = .application
      case 0x1B: return .escape
      default:
        // The key Escape, and another one.
        state = .none
        return first(byte)
      }
      return nil
    case .application:
      state = .none
      return Self.named(byte)
    case .sequence(let number):
      switch byte {
      case 0x30...0x39: state = .sequence(min(number * 10 + Int(byte - 0x30), 1000))
      case 0x20...0x3F: state = .sequence(number)
      default:
        state = .none
        return byte == UInt8(ascii: "~") ? Self.numbered(number) : Self.named(byte)
      }
      return nil
    }
  }

  private mutating func first(_ byte: UInt8) -> ScreenKey? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case 0x09: return .tab
    case 0x20...0x7E: return .character(Character(Unicode.Scalar(byte)))
    default: return nil
    }
  }

  private static func named(_ byte: UInt8) -> ScreenKey? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    default: nil
    }
  }

  private static func numbered(_ number: Int) -> ScreenKey? {
    switch number {
    case 1, 7: .home
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    default: nil
    }
  }
}
