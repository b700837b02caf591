// SPDX-License-Identifier: Apache-2.0

// Each `unsafe` passes a pointer to memory that the call's frame owns, and no pointer escapes a call.
import Glibc
import LinuxIO

/// The ranges of user ids that a user may have in their own user namespaces: subuid(5). They use the share of that
/// user, who would otherwise have one share for each of them.
struct SubordinateUsers: Sendable {
  private struct Range {
    var users: ClosedRange<UInt32>
    var owner: UInt32
  }

  /// The ranges of the machine at the start of the service.
  static let installed = SubordinateUsers(
    (try? UserFile.read("/etc/subuid")) ?? "", number: { UInt32($0) ?? user(named: $0) })

  private let ranges: [Range]

  /// - Parameters:
  ///   - text: lines OWNER:FIRST:COUNT. Other lines have no effect.
  ///   - number: returns the user id of an owner; nil if no user has the name.
  init(_ text: String, number: (String) -> UInt32?) {
    ranges = text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 3, let first = UInt32(fields[1]), let count = UInt32(fields[2]), count > 0 else {
        return nil
      }
      let (last, isTooLarge) = first.addingReportingOverflow(count - 1)
      guard let owner = number(String(fields[0])), first > 0, !isTooLarge else { return nil }
      // Containers started by root do not use the administrator's reserve: each range has one share.
      return Range(users: first...last, owner: owner == 0 ? first : owner)
    }
  }

  /// Returns the user whose share a user draws on: the owner of its range, or itself.
  func sharer(of user: UInt32) -> UInt32 { ranges.first { $0.users.contains(user) }?.owner ?? user }

  /// Returns the user id for a name; nil if there is no such user. getpwnam_r(3).
  private static func user(named name: String) -> UInt32? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var strings = [CChar](repeating: 0, count: 16_384)
    let code = unsafe getpwnam_r(name, &entry, &strings, strings.count, &found)
    return unsafe code == 0 && found != nil ? entry.pw_uid : nil
  }
}
