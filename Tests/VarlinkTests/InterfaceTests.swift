// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("Interface descriptions")
struct InterfaceTests {
  @Test(
    "The service sends the text of the file that ships",
    arguments: [VarlinkService.Interface.location, .coreLocation, .receivers, .authorization, .launch])
  func text(interface: VarlinkService.Interface) {
    #expect(Page("docs/reference/\(interface.name).varlink").read() == interface.description)
  }
}
