// SPDX-License-Identifier: Apache-2.0

// UBX messages as JSON. The input is class, id and payload; it becomes a frame with a correct checksum.
import UBX

func fuzzMessages(_ input: [UInt8]) {
  guard input.count >= 2, input.count <= UBXFrame.longestPayload else { return }
  printMessage(ubx(input[0], input[1], Array(input[2...])))
}
