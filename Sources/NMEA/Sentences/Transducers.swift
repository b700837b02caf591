// SPDX-License-Identifier: Apache-2.0

/// XDR: measurements of transducers, any number in a sentence.
public struct XDR: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x584452) }

  /// A measurement of an XDR sentence.
  public struct Measurement: Equatable, Sendable {
    /// A angular displacement, C temperature, D linear displacement, F frequency, G generic, H humidity, I current,
    /// L salinity, N force, P pressure, R flow, S switch, T tachometer, U voltage, V volume.
    public var kind: UInt8?
    public var value: FixedPoint?
    /// The unit depends on the kind: D degrees, C degrees Celsius, B bars, P pascals or per cent, V volts and others.
    public var unit: UInt8?
    /// The name of the transducer.
    public var name: TextRange?

    @inlinable public init() {}
  }

  public var measurements = InlineArray<24, Measurement>(repeating: Measurement())
  /// The number of present `measurements`.
  public var measurementCount = 0

  @inlinable public init() {}

  @inlinable
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    measurementCount = v.blocks(of: 4, have: measurementCount, most: 24)
    for index in 0..<measurementCount {
      v.character("tdrtype", &measurements[index].kind)
      v.decimal("data", &measurements[index].value)
      v.character("dataunit", &measurements[index].unit)
      v.text("tdrid", &measurements[index].name)
    }
  }

  public static func == (a: XDR, b: XDR) -> Bool {
    guard a.measurementCount == b.measurementCount else { return false }
    for index in 0..<a.measurementCount where a.measurements[index] != b.measurements[index] { return false }
    return true
  }
}
