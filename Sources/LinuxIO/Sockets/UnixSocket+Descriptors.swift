// SPDX-License-Identifier: Apache-2.0

// Descriptors that pass through a socket (SCM_RIGHTS in unix(7)), and the groups of the peer. Each `unsafe` passes a pointer
// to memory that the call's frame owns or borrows, and no pointer escapes a call.
import CLinux
import SystemPackage

extension UnixSocket {
  /// The supplementary groups of the process at the other end when it connected; nil if the kernel does not report them.
  package var peerGroups: [UInt32]? {
    var groups = [UInt32](repeating: 0, count: 64)
    while true {
      let descriptor = descriptor
      let count = unsafe groups.withUnsafeMutableBufferPointer { buffer in
        unsafe clinux_get_peer_groups(descriptor, buffer.baseAddress, Int32(buffer.count))
      }
      if count >= 0 { return Array(groups[..<Int(count)]) }
      // Linux permits 65,536 groups (NGROUPS_MAX).
      guard Errno(rawValue: -count) == .outOfRange, groups.count < 65_536 else { return nil }
      groups = [UInt32](repeating: 0, count: groups.count * 4)
    }
  }

  /// Writes as many bytes as there is space for; a copy of a descriptor is attached to the first.
  package func write(_ bytes: Span<UInt8>, passing passed: borrowing OwnedDescriptor) -> Transfer {
    let (descriptor, number) = (descriptor, passed.number)
    let count = unsafe bytes.withUnsafeBytes { bytes in
      repeatedOnInterrupt { unsafe clinux_send_descriptor(descriptor, bytes.baseAddress, bytes.count, number) }
    }
    if count >= 0 { return .bytes(count) }
    return Errno(rawValue: Int32(-count)) == .wouldBlock ? .wouldWait : .ended
  }

  /// Reads the available bytes, at most the size of the buffer, and a descriptor if one came with them. A previous
  /// descriptor is then closed.
  package func read(into buffer: inout [UInt8], descriptor passed: inout OwnedDescriptor?) -> Transfer {
    let descriptor = descriptor
    var number: Int32 = -1
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      repeatedOnInterrupt { unsafe clinux_receive_descriptor(descriptor, bytes.baseAddress, bytes.count, &number) }
    }
    if number >= 0 { passed = OwnedDescriptor(number) }
    if count > 0 { return .bytes(count) }
    return count < 0 && Errno(rawValue: Int32(-count)) == .wouldBlock ? .wouldWait : .ended
  }
}

/// Makes a call that returns the negative errno on failure, and repeats it while a signal interrupts it.
private func repeatedOnInterrupt(_ call: () -> Int32) -> Int {
  while true {
    let result = call()
    if result >= 0 || Errno(rawValue: -result) != .interrupted { return Int(result) }
  }
}
