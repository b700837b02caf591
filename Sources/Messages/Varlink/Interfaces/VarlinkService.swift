// SPDX-License-Identifier: Apache-2.0

/// A service's description of itself, and its answers to calls for it (varlink.org, "Service").
package struct VarlinkService: Sendable {
  /// An interface and its description in the language of varlink.org, "Interface Definition".
  package struct Interface: Sendable {
    package let name: String
    /// UTF-8. A function, so that a program loads the text only when a client asks for it.
    private let text: @Sendable () -> [UInt8]

    package init(_ name: String, _ text: @autoclosure @escaping @Sendable () -> [UInt8]) {
      self.name = name
      self.text = text
    }

    package var description: String { String(decoding: text(), as: UTF8.self) }
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

// The texts are files of this folder, which are embedded in the program.
extension VarlinkService.Interface {
  /// The interface of every service. Names and types follow varlink.org, "Service".
  package static let service = VarlinkService.Interface(
    "org.varlink.service", PackageResources.org_varlink_service_varlink)
  /// The interface for every program.
  package static let location = VarlinkService.Interface(
    "org.sextant.Location", PackageResources.org_sextant_Location_varlink)
  /// The interface of module CoreLocation.
  package static let coreLocation = VarlinkService.Interface(
    "org.sextant.CoreLocation", PackageResources.org_sextant_CoreLocation_varlink)
  /// The interface for programs that use a receiver themselves.
  package static let receivers = VarlinkService.Interface(
    "org.sextant.Receivers", PackageResources.org_sextant_Receivers_varlink)
  /// The interface of agents, which prompt users for permission.
  package static let authorization = VarlinkService.Interface(
    "org.sextant.Authorization", PackageResources.org_sextant_Authorization_varlink)
  /// The interface of the time service.
  package static let time = VarlinkService.Interface(
    "org.sextant.Time", PackageResources.org_sextant_Time_varlink)
  /// The interface of users' launchers.
  package static let launch = VarlinkService.Interface(
    "org.sextant.Launch", PackageResources.org_sextant_Launch_varlink)
}
