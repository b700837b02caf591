// SPDX-License-Identifier: Apache-2.0
import Messages

/// The body of a request to change settings: `{"set":{"CFG-RATE-MEAS":200}}`.
package struct ControlBody: Equatable, Sendable {
  /// The reason why a body is not understood, in one line.
  package struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
    package var description: String
  }

  /// The settings, each as NAME=VALUE.
  package var words: [String]

  /// Reads a body.
  package init(_ body: [UInt8]) throws(Problem) {
    let json: JSON
    do throws(JSONSyntaxError) { json = try JSON(parsing: body) } catch {
      throw Problem(description: "the body is not JSON; send {\"set\":{\"NAME\":VALUE}}")
    }
    guard case .object(let members)? = json["set"], !members.isEmpty else {
      throw Problem(description: "the body names no setting; send {\"set\":{\"NAME\":VALUE}}")
    }
    words = []
    for member in members {
      switch member.value {
      case .string(let text): words.append("\(member.name)=\(text)")
      case .integer(let value): words.append("\(member.name)=\(value)")
      case .double(let value): words.append("\(member.name)=\(value)")
      case .bool(let value): words.append("\(member.name)=\(value ? 1 : 0)")
      case .null, .array, .object:
        throw Problem(description: "\(member.name): the value must be a number, a truth value or text")
      }
    }
  }
}
