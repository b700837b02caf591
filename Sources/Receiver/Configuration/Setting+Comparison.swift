// SPDX-License-Identifier: Apache-2.0
import UBX

extension Setting {
  /// Whether both have the same key, whatever the value.
  package func isOfSame(_ other: Setting) -> Bool {
    switch (self, other) {
    case (.message(let a, let first, _), .message(let b, let second, _)): a == b && first == second
    case (.item(let a), .item(let b)): a.id == b.id
    default: false
    }
  }

  /// Whether it is the rate of this message.
  package func isRate(of wanted: MessageIdentity) -> Bool {
    switch self {
    case .message(.cfgMSG, let selector, _): selector == [wanted.messageClass, wanted.messageID]
    case .message: false
    case .item(let pair): MessageOutput.key(of: wanted, on: .i2c).map { pair.id >= $0 && pair.id < $0 + 5 } ?? false
    }
  }
}
