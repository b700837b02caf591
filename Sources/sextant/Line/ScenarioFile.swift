// SPDX-License-Identifier: Apache-2.0
import ReceiverSimulator

extension Scenario {
  /// Reads the built-in scenario with this name, or the scenario in this file.
  static func read(_ name: String) throws -> Scenario {
    if let scenario = Scenario.named(name) { return scenario }
    guard name.contains("/") || name.contains(".") else {
      throw CommandFailure(
        .noInput,
        "\(name): no such scenario; there are \(names.map { "sim:\($0)" }.joined(separator: ", ")), or name a file with a "
          + "/ or a . in its path")
    }
    let text = String(decoding: try readAll(name), as: UTF8.self)
    do {
      return try Scenario(parsing: text)
    } catch {
      throw CommandFailure(.badData, "\(name): \(error)")
    }
  }
}
