import ReceiverSimulator

extension Scenario {
  /// The scenario that is built in under a name, or that a file has.
  static func read(_ name: String) throws -> Scenario {
    if let scenario = Scenario.named(name) { return scenario }
    guard name.contains("/") || name.contains(".") else {
      throw CommandFailure(
        exitCode: CommandFailure.noInput,
        description: "\(name): no such scenario; there are \(names.map { "sim:\($0)" }.joined(separator: ", ")), or name a "
          + "file with a / or a . in its path")
    }
    var text: [UInt8] = []
    var file = try InputFile(opening: name)
    while let piece = try file.next() {
      for index in piece.byteOffsets { text.append(unsafe piece.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    }
    do {
      return try Scenario(parsing: String(decoding: text, as: UTF8.self))
    } catch {
      throw CommandFailure(exitCode: CommandFailure.badData, description: "\(name): \(error)")
    }
  }
}
