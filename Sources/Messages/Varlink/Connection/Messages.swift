// SPDX-License-Identifier: Apache-2.0

/// A method call (varlink.org, "Method Call").
package struct VarlinkCall: Equatable, Sendable {
  /// The replies that the caller expects.
  package enum Kind: String, CaseIterable, Sendable {
    /// One reply.
    case single
    /// No reply, not even an error.
    case oneway
    /// Any number of replies, of which all but the last have `continues`.
    case more
    /// One reply, after which the connection carries messages of another protocol.
    case upgrade
  }

  /// Interface and method: `org.varlink.service.GetInfo`.
  package var method: String
  /// An object.
  package var parameters: JSON
  package var kind: Kind

  package init(_ method: String, _ parameters: JSON = .empty, _ kind: Kind = .single) {
    self.method = method
    self.parameters = parameters
    self.kind = kind
  }

  /// The part of the method before the last dot, or all of it.
  package var interface: String { method.lastIndex(of: ".").map { String(method[..<$0]) } ?? method }

  /// Nil if a message is not a call. Unknown members are ignored: vendors may add members.
  init?(_ message: JSON) {
    guard message.isObject, case .string(let method)? = message["method"],
      let parameters = Self.parameters(of: message)
    else { return nil }
    var kind: Kind?
    for flag in [Kind.oneway, .more, .upgrade] {
      switch message[flag.rawValue] {
      case nil, .null?, .bool(false)?: continue
      // The specification does not define a combination of two flags.
      case .bool(true)? where kind == nil: kind = flag
      default: return nil
      }
    }
    self.init(method, parameters, kind ?? .single)
  }

  func write(to text: inout [UInt8]) throws(JSONWriteError) {
    var members = [JSON.Member("method", .string(method))]
    if kind != .single { members.append(JSON.Member(kind.rawValue, .bool(true))) }
    if parameters != .empty { members.append(JSON.Member("parameters", parameters)) }
    try JSON.object(members).write(to: &text)
  }

  /// The parameters of a call or reply: an object, which may be absent or null. Nil if it is something else.
  static func parameters(of message: JSON) -> JSON? {
    switch message["parameters"] {
    case nil, .null?: .empty
    case let parameters? where parameters.isObject: parameters
    default: nil
    }
  }
}

/// A reply to a call.
package enum VarlinkReply: Equatable, Sendable {
  /// `continues`: another reply to the same call follows.
  case success(JSON, continues: Bool = false)
  case failure(VarlinkError)

  /// Nil if a message is not a reply.
  init?(_ message: JSON) {
    guard message.isObject, let parameters = VarlinkCall.parameters(of: message) else { return nil }
    switch (message["error"], message["continues"]) {
    case (nil, nil), (.null?, nil), (nil, .null?), (.null?, .null?): self = .success(parameters)
    case (nil, .bool(let continues)?), (.null?, .bool(let continues)?):
      self = .success(parameters, continues: continues)
    case (.string(let name)?, _): self = .failure(VarlinkError(name, parameters))
    default: return nil
    }
  }

  /// The text of the message.
  package func text() throws(JSONWriteError) -> [UInt8] {
    var text: [UInt8] = []
    try write(to: &text)
    return text
  }

  func write(to text: inout [UInt8]) throws(JSONWriteError) {
    switch self {
    case .success(let parameters, let continues):
      var members = [JSON.Member("parameters", parameters)]
      if continues { members.append(JSON.Member("continues", true)) }
      try JSON.object(members).write(to: &text)
    case .failure(let error):
      try JSON.object([JSON.Member("error", .string(error.name)), JSON.Member("parameters", error.parameters)])
        .write(to: &text)
    }
  }
}

/// An error reply.
package struct VarlinkError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Interface and error: `org.sextant.Location.Denied`.
  package var name: String
  /// An object.
  package var parameters: JSON

  package init(_ name: String, _ parameters: JSON = .empty) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String { name }

  // The errors of every service (varlink.org, "Service").
  package static func interfaceNotFound(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": .string(name)])
  }
  package static func methodNotFound(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": .string(name)])
  }
  package static func methodNotImplemented(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": .string(name)])
  }
  package static func invalidParameter(_ name: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": .string(name)])
  }
  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")
  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}

/// The reason why a connection cannot continue. It is closed after the pending output is written.
package enum VarlinkProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
  case messageTooLong(maximumBytes: Int)
  case invalidJSON(JSONSyntaxError)
  /// A message that is not a call.
  case invalidCall
  /// A message that is not a reply.
  case invalidReply
  /// A reply without a call, or a continuing reply to a call without `more`.
  case unexpectedReply
  /// More bytes were received while `wantsInput` was false.
  case tooMuchInput

  package var description: String {
    switch self {
    case .messageTooLong(let maximum): "a message is longer than \(maximum) bytes"
    case .invalidJSON(let error): "a message is no JSON: \(error)"
    case .invalidCall: "a message is no Varlink call"
    case .invalidReply: "a message is no Varlink reply"
    case .unexpectedReply: "a reply without a call"
    case .tooMuchInput: "too many calls wait for their replies"
    }
  }
}
