// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The measurements of Sextant, apart from the product: `sextant-bench` replaces malloc to count allocations, and the
// installed programs contain nothing of it.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
]

/// A library product of Sextant.
func sextant(_ product: String) -> Target.Dependency { .product(name: product, package: "sextant") }

let package = Package(
  name: "sextant-benchmarks",
  products: [
    .executable(name: "sextant-bench", targets: ["sextant-bench"])
  ],
  dependencies: [
    .package(name: "sextant", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(name: "CAllocationCount", path: "CSupport/CAllocationCount"),
    .executableTarget(
      name: "sextant-bench",
      dependencies: [
        sextant("EnergyBench"), "CAllocationCount", sextant("HostSimulator"), sextant("NMEA"), sextant("UBX"),
        sextant("ReceiverStream"),
        sextant("SerialPort"), sextant("Receiver"), sextant("ReceiverSimulator"), sextant("Power"),
        sextant("Positioning"), .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    .testTarget(
      name: "EnergyBenchTests", dependencies: [sextant("EnergyBench"), sextant("Power")],
      swiftSettings: settings),
    .testTarget(
      name: "BenchCommandTests",
      dependencies: [
        "sextant-bench", sextant("EnergyBench"), sextant("Power"), sextant("ReceiverSimulator"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
