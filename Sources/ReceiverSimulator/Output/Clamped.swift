extension FixedWidthInteger {
  /// The whole number nearest to a value, as a field of a message has it: what is too much for the field is its largest number,
  /// and what is no number is 0.
  init(nearest value: Double) {
    let whole = value.rounded()
    if whole.isNaN {
      self = 0
    } else if let exact = Self(exactly: whole) {
      self = exact
    } else {
      self = whole < 0 ? .min : .max
    }
  }
}
