/// A whole number of up to three digits, or none, in two bytes: sentences that list satellites have dozens of them.
@usableFromInline
struct SmallInteger: Equatable, Sendable {
  @usableFromInline var bits: Int16

  @inlinable static var none: SmallInteger { SmallInteger(nil) }

  @inlinable init(_ value: Int32?) { bits = value.map { Int16(truncatingIfNeeded: $0) } ?? .min }

  @inlinable var value: Int32? { bits == .min ? nil : Int32(bits) }
}
