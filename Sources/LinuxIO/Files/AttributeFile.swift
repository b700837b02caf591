// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// An attribute of the kernel (/sys, /proc) that is read repeatedly: the kernel regenerates its content for each read
/// from the start. It is at most one page.
package final class AttributeFile: Sendable {
  private static let page = 4096
  package let path: String
  private let descriptor: OwnedDescriptor

  package init(_ path: String) throws(FileError) {
    let descriptor = try naming(path) { () throws(Errno) in try Syscalls.open(path, OpenFlags.read) }
    try requireRegular(try naming(path) { () throws(Errno) in try Syscalls.status(of: descriptor.number) }, path)
    self.path = path
    self.descriptor = descriptor
  }

  /// Returns the current text of the attribute.
  package func read() throws(FileError) -> String {
    text(try naming(path) { () throws(Errno) in try Syscalls.read(descriptor.number, count: Self.page, at: 0) })
  }

  /// Returns the text of an attribute; nil if it cannot be read.
  package static func read(_ path: String) -> String? { try? AttributeFile(path).read() }

  /// Writes a text to an attribute in one call, as the kernel requires.
  package static func write(_ text: String, to path: String) throws(FileError) {
    try naming(path) { () throws(Errno) in
      let descriptor = try Syscalls.open(path, OpenFlags.attribute)
      if try Syscalls.writeOnce(descriptor.number, text) != text.utf8.count { throw Errno.ioError }
    }
  }
}
