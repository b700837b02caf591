// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let decoders = ["NMEA", "UBX", "RTCM3", "ReceiverStream"]
let package = Package(
  name: "decoder", dependencies: [.package(name: "sextant", path: "../../../..")],
  targets: [
    .executableTarget(
      name: "decoder", dependencies: decoders.map { .product(name: $0, package: "sextant") }, path: "Sources",
      swiftSettings: [.enableExperimentalFeature("Lifetimes")])
  ])
