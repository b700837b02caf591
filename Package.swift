// swift-tools-version: 6.2
import PackageDescription

// Every module is compiled with strict memory safety: each unsafe expression is marked, and stands in a small
// file that gives its reason. `Lifetimes` lets a function return a view of the bytes that it was lent.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "sextant",
  products: [
    .library(name: "NMEA", targets: ["NMEA"]),
    .library(name: "UBX", targets: ["UBX"]),
    .library(name: "RTCM3", targets: ["RTCM3"]),
    .library(name: "SPARTN", targets: ["SPARTN"]),
    .library(name: "ReceiverStream", targets: ["ReceiverStream"]),
    .library(name: "SerialPort", targets: ["SerialPort"]),
    .library(name: "Hotplug", targets: ["Hotplug"]),
    .executable(name: "sextant", targets: ["sextant"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // Floor 0: time, and wire formats.
    .target(name: "MonotonicTime", swiftSettings: settings),
    .target(name: "WireBytes", swiftSettings: settings),
    .target(name: "NMEA", dependencies: ["WireBytes"], swiftSettings: settings),
    .target(
      name: "UBX", dependencies: ["WireBytes"], swiftSettings: settings, plugins: ["UBXLayoutPlugin"]),
    .target(name: "RTCM3", dependencies: ["WireBytes"], swiftSettings: settings),
    .target(name: "SPARTN", dependencies: ["WireBytes"], swiftSettings: settings),
    .executableTarget(name: "UBXLayoutCompiler", swiftSettings: settings),
    .plugin(
      name: "UBXLayoutPlugin", capability: .buildTool(), dependencies: ["UBXLayoutCompiler"],
      path: "Sources/UBXLayoutPlugin"),

    // Floor 1: bytes to frames, frames to epochs, epochs to a fix.
    .target(
      name: "ReceiverStream", dependencies: ["WireBytes", "NMEA", "UBX", "RTCM3", "SPARTN"],
      swiftSettings: settings),

    // Floor 2: the operating system.
    .target(name: "CAllocationCount", path: "CSupport/CAllocationCount"),
    .target(name: "CSerial", path: "CSupport/CSerial"),
    .systemLibrary(
      name: "CUdev", path: "CSupport/CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    .target(name: "SerialPort", dependencies: ["CSerial"], swiftSettings: settings),
    .target(name: "Hotplug", dependencies: ["CUdev"], swiftSettings: settings),
    .target(
      name: "GPSDJSON", dependencies: ["ReceiverStream", "WireBytes", "UBX", "NMEA", "RTCM3", "SPARTN"],
      swiftSettings: settings),

    // Floor 3: one receiver, and the other side of the wire.
    .target(
      name: "Receiver", dependencies: ["ReceiverStream", "UBX", "NMEA", "RTCM3", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),
    .target(
      name: "ReceiverShell",
      dependencies: ["Receiver", "ReceiverStream", "SerialPort", "Hotplug", "MonotonicTime"], swiftSettings: settings),
    .target(
      name: "ReceiverSimulator", dependencies: ["NMEA", "UBX", "RTCM3", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),

    // Floor 4: what clients are owed.
    .target(name: "Positioning", dependencies: ["ReceiverStream", "MonotonicTime"], swiftSettings: settings),

    // Floor 6: the command line.
    .executableTarget(
      name: "sextant",
      dependencies: [
        "GPSDJSON", "ReceiverStream", "NMEA", "UBX", "WireBytes", "SerialPort", "Hotplug",
        "Receiver", "ReceiverShell", "ReceiverSimulator", "MonotonicTime",
        "CAllocationCount",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    .target(name: "TestSupport", dependencies: ["ReceiverStream"], path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(name: "NMEATests", dependencies: ["NMEA", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "UBXTests", dependencies: ["UBX", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "UBXLayoutCompilerTests", dependencies: ["UBXLayoutCompiler"], swiftSettings: settings),
    .testTarget(name: "RTCM3Tests", dependencies: ["RTCM3", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "SPARTNTests", dependencies: ["SPARTN", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ReceiverStreamTests",
      dependencies: ["ReceiverStream", "UBX", "NMEA", "SPARTN", "GPSDJSON", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "GPSDJSONTests", dependencies: ["GPSDJSON", "ReceiverStream", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "CorpusTests", dependencies: ["GPSDJSON", "ReceiverStream", "UBX", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "MessageTests", dependencies: ["GPSDJSON", "ReceiverStream", "NMEA", "UBX", "RTCM3", "WireBytes"],
      swiftSettings: settings),
    .testTarget(
      name: "ReceiverTests",
      dependencies: ["Receiver", "ReceiverStream", "ReceiverSimulator", "UBX", "NMEA", "MonotonicTime"],
      swiftSettings: settings),
    .testTarget(
      name: "ReceiverSimulatorTests",
      dependencies: ["ReceiverSimulator", "ReceiverStream", "UBX", "NMEA", "MonotonicTime"], swiftSettings: settings),
    .testTarget(
      name: "PositioningTests", dependencies: ["Positioning", "ReceiverStream", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: ["sextant", "Hotplug", "Receiver", "ReceiverSimulator", "ReceiverStream", "MonotonicTime"],
      swiftSettings: settings),
    .testTarget(name: "SerialPortTests", dependencies: ["SerialPort"], swiftSettings: settings),
    .testTarget(name: "HotplugTests", dependencies: ["Hotplug"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
