// SPDX-License-Identifier: Apache-2.0

// RTCM 3 messages as JSON. The input is the payload; it becomes a frame with a correct CRC.

func fuzzRTCM3(_ input: [UInt8]) {
  guard input.count <= 1023 else { return }
  printMessage(framed(input))
}
