// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("Interface descriptions")
struct InterfaceTests {
  @Test(
    "The service sends the text of the file that ships",
    arguments: [VarlinkService.Interface.service, .location, .coreLocation, .receivers, .authorization, .launch, .time])
  func text(interface: VarlinkService.Interface) {
    #expect(Page("Sources/Messages/Varlink/Interfaces/\(interface.name).varlink").read() == interface.description)
    #expect(interface.description.split(separator: "\n").contains("interface \(interface.name)"))
  }
}
