import ReceiverSimulator

extension Scenario {
  /// The scenario that is built in under a name, or that a file has.
  static func read(_ name: String) throws -> Scenario {
    if let scenario = Scenario.named(name) { return scenario }
    guard name.contains("/") || name.contains(".") else {
      throw CommandFailure(
        exitCode: CommandFailure.noInput,
        description:
          "\(name): no such scenario; there are \(names.map { "sim:\($0)" }.joined(separator: ", ")), or name a "
          + "file with a / or a . in its path")
    }
    let text = String(decoding: try readAll(name), as: UTF8.self)
    do {
      return try Scenario(parsing: text)
    } catch {
      throw CommandFailure(exitCode: CommandFailure.badData, description: "\(name): \(error)")
    }
  }
}
