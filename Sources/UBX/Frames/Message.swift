// SPDX-License-Identifier: Apache-2.0

/// A typed view of a UBX payload. The views are generated from `Layouts/*.ubx`.
public protocol Message: ~Escapable {
  /// Class and id.
  static var identity: MessageIdentity { get }
  /// The shortest payload of the layout, in bytes.
  static var minimumLength: Int { get }
  /// The layout as data.
  static var layout: MessageLayout { get }
  /// A view of `payload`; nil when the layout does not fit.
  @_lifetime(copy payload)
  init?(payload: RawSpan)
}

extension UBXFrame {
  /// The frame's payload as message `M`; nil for another message and when the layout does not fit.
  ///
  ///     if let solution = frame.message(NavPVT.self) { print(solution.lat) }
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func message<M: Message & ~Escapable>(_: M.Type) -> M? {
    guard identity == M.identity else { return nil }
    return M(payload: payload)
  }
}
