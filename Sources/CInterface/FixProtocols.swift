// SPDX-License-Identifier: Apache-2.0

/// The protocols from which a decoder makes fixes, as a type: the linker drops the messages of protocols that no type
/// in the program names.
protocol FixProtocols {
  static var hasNMEA: Bool { get }
  static var hasUBX: Bool { get }
}

enum NMEAAndUBX: FixProtocols {
  static var hasNMEA: Bool { true }
  static var hasUBX: Bool { true }
}

enum NMEAAlone: FixProtocols {
  static var hasNMEA: Bool { true }
  static var hasUBX: Bool { false }
}

enum UBXAlone: FixProtocols {
  static var hasNMEA: Bool { false }
  static var hasUBX: Bool { true }
}
