// SPDX-License-Identifier: Apache-2.0

/// The protocols to find in a stream, as a type: the compiler knows them, and a program that names one protocol contains no code
/// of the others.
public protocol FrameProtocols {
  static var hasNMEA: Bool { get }
  static var hasUBX: Bool { get }
  static var hasRTCM3: Bool { get }
  static var hasSPARTN: Bool { get }
}

/// All protocols; SPARTN if the stream was made for it.
public enum EveryProtocol: FrameProtocols {
  @inlinable public static var hasNMEA: Bool { true }
  @inlinable public static var hasUBX: Bool { true }
  @inlinable public static var hasRTCM3: Bool { true }
  @inlinable public static var hasSPARTN: Bool { true }
}

/// The output of receivers: all but SPARTN.
public enum ReceiverProtocols: FrameProtocols {
  @inlinable public static var hasNMEA: Bool { true }
  @inlinable public static var hasUBX: Bool { true }
  @inlinable public static var hasRTCM3: Bool { true }
  @inlinable public static var hasSPARTN: Bool { false }
}

/// NMEA alone.
public enum NMEAProtocol: FrameProtocols {
  @inlinable public static var hasNMEA: Bool { true }
  @inlinable public static var hasUBX: Bool { false }
  @inlinable public static var hasRTCM3: Bool { false }
  @inlinable public static var hasSPARTN: Bool { false }
}

/// UBX alone.
public enum UBXProtocol: FrameProtocols {
  @inlinable public static var hasNMEA: Bool { false }
  @inlinable public static var hasUBX: Bool { true }
  @inlinable public static var hasRTCM3: Bool { false }
  @inlinable public static var hasSPARTN: Bool { false }
}
