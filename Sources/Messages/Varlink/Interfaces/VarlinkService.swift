// SPDX-License-Identifier: Apache-2.0

/// A service's description of itself, and its answers to calls for it (varlink.org, "Service").
package struct VarlinkService: Sendable {
  /// An interface and its description in the language of varlink.org, "Interface Definition".
  package struct Interface: Equatable, Sendable {
    package var name: String
    package var description: String

    package init(name: String, description: String) {
      self.name = name
      self.description = description
    }
  }

  package var vendor: String
  package var product: String
  package var version: String
  package var url: String
  /// The interfaces, the first of which is `org.varlink.service`.
  package let interfaces: [Interface]

  /// A service with the interfaces and `org.varlink.service`.
  package init(vendor: String, product: String, version: String, url: String, interfaces: [Interface]) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
    self.interfaces = [.service] + interfaces
  }

  /// The reply to a call that the owner does not answer: a call of `org.varlink.service`, or of an unknown interface.
  func reply(to call: VarlinkCall) -> VarlinkReply? {
    let interface = call.interface
    guard interfaces.contains(where: { $0.name == interface }) else { return .failure(.interfaceNotFound(interface)) }
    guard interface == Interface.service.name else { return nil }
    // Otherwise the client would treat the connection as upgraded.
    if call.kind == .upgrade { return .failure(.methodNotImplemented(call.method)) }
    switch call.method {
    case "org.varlink.service.GetInfo": return .success(information)
    case "org.varlink.service.GetInterfaceDescription":
      guard let name = call.parameters["interface"]?.string else { return .failure(.invalidParameter("interface")) }
      guard let interface = interfaces.first(where: { $0.name == name }) else {
        return .failure(.interfaceNotFound(name))
      }
      return .success(["description": .string(interface.description)])
    default: return .failure(.methodNotFound(call.method))
    }
  }

  private var information: JSON {
    [
      "vendor": .string(vendor), "product": .string(product), "version": .string(version), "url": .string(url),
      "interfaces": .array(interfaces.map { .string($0.name) }),
    ]
  }
}

extension VarlinkService.Interface {
  /// The interface of every service. Names and types follow varlink.org, "Service".
  package static let service = VarlinkService.Interface(
    name: "org.varlink.service",
    description: """
      # Information about a service and its interfaces.
      interface org.varlink.service

      # Returns the implementation of the service, and the names of its interfaces.
      method GetInfo() -> (
        vendor: string,
        product: string,
        version: string,
        url: string,
        interfaces: []string
      )

      # Returns the description of an interface.
      method GetInterfaceDescription(interface: string) -> (description: string)

      # The service has no such interface.
      error InterfaceNotFound (interface: string)

      # The interface has no such method.
      error MethodNotFound (method: string)

      # The interface has the method, and the service does not implement it.
      error MethodNotImplemented (method: string)

      # A parameter is missing, or its value is not allowed.
      error InvalidParameter (parameter: string)

      # The client may not call the method.
      error PermissionDenied ()

      # The method must be called with `more`.
      error ExpectedMore ()

      """)
}
