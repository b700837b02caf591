// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Testing

@Suite("Who may open a node")
struct NodeAccessTests {
  private let line = NodeAccess(owner: 0, group: 20, mode: 0o20660)

  @Test("Root may, whatever the bits are")
  func root() { #expect(NodeAccess(owner: 1000, group: 20, mode: 0).permits(user: 0, groups: [])) }

  @Test("The first class that fits decides: the owner, then the group, then the others")
  func classes() {
    #expect(line.permits(user: 1000, groups: [1000, 20]))
    #expect(!line.permits(user: 1000, groups: [1000]))
    let own = NodeAccess(owner: 1000, group: 20, mode: 0o066)
    #expect(!own.permits(user: 1000, groups: [20]))
    #expect(!NodeAccess(owner: 0, group: 20, mode: 0o606).permits(user: 1000, groups: [20]))
    #expect(NodeAccess(owner: 0, group: 20, mode: 0o606).permits(user: 1000, groups: [21]))
  }

  @Test("Reading alone does not suffice", arguments: [UInt32(0o640), 0o620])
  func half(mode: UInt32) {
    let node = NodeAccess(owner: 0, group: 20, mode: mode)
    #expect(!node.permits(user: 1000, groups: [20]))
    #expect(node.permittedGroup == nil)
  }

  @Test("The group that helps is named, and root's is not")
  func group() {
    #expect(line.permittedGroup == 20)
    #expect(NodeAccess(owner: 0, group: 0, mode: 0o660).permittedGroup == nil)
  }

  /// linux/posix_acl_xattr.h: version 2, then tag, permissions, id of each entry.
  private func list(_ entries: (tag: UInt8, permissions: UInt8, id: UInt8)...) -> [UInt8] {
    [2, 0, 0, 0] + entries.flatMap { [$0.tag, 0, $0.permissions, 0, $0.id, 0, 0, 0] }
  }

  @Test("An entry for the user decides, as the seat's has it, up to the mask")
  func userEntry() {
    let entries = list((1, 6, 0), (2, 6, 100), (2, 4, 101), (4, 6, 0), (16, 6, 0), (32, 0, 0))
    let node = NodeAccess(owner: 0, group: 20, mode: 0o660, list: entries)
    #expect(node.permits(user: 100, groups: []))
    #expect(!node.permits(user: 101, groups: [20]))
    #expect(node.permits(user: 102, groups: [20]))
    #expect(!node.permits(user: 102, groups: [21]))
    let masked = NodeAccess(
      owner: 0, group: 20, mode: 0o640, list: list((2, 6, 100), (4, 6, 0), (16, 4, 0), (32, 0, 0)))
    #expect(!masked.permits(user: 100, groups: []))
    #expect(!masked.permits(user: 102, groups: [20]))
  }

  @Test("An entry for a further group counts for its members")
  func groupEntry() {
    let node = NodeAccess(owner: 0, group: 20, mode: 0o666, list: list((4, 0, 0), (8, 6, 30), (16, 6, 0), (32, 6, 0)))
    #expect(node.permits(user: 100, groups: [30]))
    #expect(!node.permits(user: 100, groups: [20]))
    #expect(node.permits(user: 100, groups: [40]))
  }

  @Test(
    "A list of another version or length is none",
    arguments: [[UInt8]](arrayLiteral: [], [2], [3, 0, 0, 0, 2, 0, 6, 0, 100, 0, 0, 0]))
  func damaged(list: [UInt8]) {
    #expect(!NodeAccess(owner: 0, group: 20, mode: 0o660, list: list).permits(user: 100, groups: []))
  }
}
