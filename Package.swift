// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package that uses the decoders alone names no traits, and then resolves no other package (docs/reference/libraries.md).
let forPrograms = TargetDependencyCondition.when(traits: ["Programs"])
/// `Errno` and `FilePath`.
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system", condition: forPrograms)
/// The command lines.
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: forPrograms)

// Every module is compiled with strict memory safety: each unsafe expression is marked, and is in a small file with its
// reason. `Lifetimes` allows a function to return a view of bytes that it has borrowed.
let settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "sextant",
  products: [
    // A product also lists the modules whose types its API uses.
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "NMEA", targets: ["NMEA"]),
    .library(name: "UBX", targets: ["UBX"]),
    .library(name: "RTCM3", targets: ["RTCM3"]),
    .library(name: "ReceiverStream", targets: ["ReceiverStream", "Recording", "MonotonicTime"]),
    .library(name: "SerialPort", targets: ["SerialPort", "EventLoop"]),
    .library(name: "Hotplug", targets: ["Hotplug", "MonotonicTime"]),
    .library(name: "Receiver", targets: ["Receiver", "MonotonicTime"]),
    .library(name: "ReceiverSimulator", targets: ["ReceiverSimulator", "MonotonicTime"]),
    .library(name: "Positioning", targets: ["Positioning", "MonotonicTime"]),
    .library(name: "PowerControl", targets: ["PowerControl", "ReceiverPower", "MonotonicTime"]),
    // For the benchmarks: a session at a simulated receiver in virtual time, and simulated days.
    .library(name: "HostSimulator", targets: ["HostSimulator"]),
    .library(name: "EnergyBench", targets: ["EnergyBench", "PowerControl", "ReceiverSimulator"]),
    // For the packages of clients: `swift package sextant-deploy`.
    .plugin(name: "SextantDeploy", targets: ["DeployPlugin"]),
    .executable(name: "sextant", targets: ["sextant"]),
    .executable(name: "sextant-track", targets: ["sextant-track"]),
    .executable(name: "sextantd", targets: ["sextantd"]),
    .executable(name: "sextant-uplink", targets: ["sextant-uplink"]),
  ],
  traits: [
    .trait(name: "Programs", description: "The command line, the service and Core Location."),
    .default(enabledTraits: ["Programs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    // Time, and wire formats.
    .target(name: "CLinux", path: "CSupport/CLinux"),
    .target(name: "MonotonicTime", dependencies: ["CLinux"], swiftSettings: settings),
    .systemLibrary(name: "CByteMask", path: "CSupport/CByteMask"),
    .target(name: "WireBytes", dependencies: ["CByteMask"], swiftSettings: settings),
    // `rounded` calls the library of mathematics, and no import of these two modules links it.
    .target(
      name: "NMEA", dependencies: ["WireBytes", "CByteMask"], swiftSettings: settings,
      linkerSettings: [.linkedLibrary("m")]),
    .target(
      name: "UBX", dependencies: ["WireBytes"], swiftSettings: settings, linkerSettings: [.linkedLibrary("m")],
      plugins: ["UBXLayoutPlugin"]),
    .target(name: "RTCM3", dependencies: ["WireBytes", "CByteMask"], swiftSettings: settings),
    .target(name: "SPARTN", dependencies: ["WireBytes"], swiftSettings: settings),
    .executableTarget(name: "UBXLayoutCompiler", swiftSettings: settings),
    .plugin(
      name: "UBXLayoutPlugin", capability: .buildTool(), dependencies: ["UBXLayoutCompiler"],
      path: "Sources/UBXLayoutPlugin"),

    // Bytes to frames, frames to epochs, epochs to a fix.
    .target(
      name: "ReceiverStream", dependencies: ["WireBytes", "CByteMask", "NMEA", "UBX", "RTCM3", "SPARTN"],
      swiftSettings: settings),

    // The decoder for C. `make clib` compiles it as Embedded Swift, so that the library contains no Swift runtime.
    .systemLibrary(name: "CSextant", path: "CSupport/CSextant"),
    .target(
      name: "CInterface",
      dependencies: ["CSextant", "NMEA", "RTCM3", "ReceiverStream", "UBX", "WireBytes"],
      swiftSettings: settings),

    // The client of the location service for C, in the same library.
    .target(name: "CClientSocket", path: "CSupport/CClientSocket", cSettings: [.headerSearchPath("../CSextant")]),
    .target(name: "CServiceClient", dependencies: ["CSextant", "CClientSocket"], swiftSettings: settings),

    // Recordings of the stream, and their replay.
    .target(
      name: "Recording", dependencies: ["ReceiverStream", "RTCM3", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),

    // The operating system.
    .target(
      name: "FileSystem", dependencies: ["CLinux", systemPackage],
      swiftSettings: settings),
    .systemLibrary(
      name: "CUdev", path: "CSupport/CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    .target(
      name: "EventLoop", dependencies: ["CLinux", "FileSystem", "MonotonicTime", systemPackage],
      swiftSettings: settings),
    .target(
      name: "SerialPort", dependencies: ["CLinux", "EventLoop", "FileSystem", "MonotonicTime", systemPackage],
      swiftSettings: settings),
    .target(
      name: "Hotplug", dependencies: ["CUdev", "FileSystem", "MonotonicTime", "WireBytes"], swiftSettings: settings),
    .target(name: "CBus", path: "CSupport/CBus", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "SystemBus", dependencies: ["CBus", "MonotonicTime", systemPackage], swiftSettings: settings),
    .target(
      name: "HostSensors", dependencies: ["CLinux", "FileSystem", "MonotonicTime", "WireBytes", systemPackage],
      swiftSettings: settings),
    // OpenSSL is loaded when a caster needs it.
    .target(name: "CTLS", path: "CSupport/CTLS", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "TLS", dependencies: ["CTLS"], swiftSettings: settings),
    .target(name: "Varlink", swiftSettings: settings),
    // Receivers on the network: names, attempts to connect, gpsd's requests.
    .target(name: "NetworkSources", dependencies: ["MonotonicTime", "Varlink"], swiftSettings: settings),
    .target(
      name: "GPSDJSON", dependencies: ["ReceiverStream", "WireBytes", "UBX", "NMEA", "RTCM3", "SPARTN"],
      swiftSettings: settings),

    .target(
      name: "GPSDProtocol",
      dependencies: [
        "GPSDJSON", "MonotonicTime", "NMEA", "RTCM3", "ReceiverStream", "Timekeeping", "UBX", "Varlink", "WireBytes",
      ],
      swiftSettings: settings),

    // Fixes in the formats of other programs.
    .target(
      name: "TrackFormats",
      dependencies: ["GPSDJSON", "GPSDProtocol", "NMEA", "RTCM3", "Receiver", "ReceiverStream", "UBX", "WireBytes"],
      swiftSettings: settings),

    // Statistics of a recording, and their page.
    .target(
      name: "RecordingReport", dependencies: ["NMEA", "Receiver", "ReceiverStream", "UBX", "WireBytes"],
      swiftSettings: settings),

    // The live page: its server, and what it shows of a stream.
    .target(
      name: "LivePage",
      dependencies: [
        "GPSDJSON", "MonotonicTime", "Receiver", "RecordingReport", "ReceiverStream", "UBX", "Varlink", "WireBytes",
      ],
      resources: [
        .embedInCode("Page/page.html"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
      ],
      swiftSettings: settings),

    // One receiver, and the simulator of one.
    .target(
      name: "Receiver", dependencies: ["ReceiverStream", "UBX", "NMEA", "RTCM3", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),
    .target(
      name: "ConfigurationEditing",
      dependencies: ["Receiver", "ReceiverStream", "NMEA", "RTCM3", "UBX", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),
    .target(
      name: "Corrections",
      dependencies: ["NetworkSources", "NMEA", "RTCM3", "ReceiverStream", "UBX", "WireBytes", "MonotonicTime"],
      swiftSettings: settings),
    .target(
      name: "ReceiverRuntime",
      dependencies: [
        "CLinux", "Receiver", "Corrections", "NetworkSources", "RTCM3", "ReceiverStream", "Recording", "SerialPort",
        "EventLoop", "Hotplug", "FileSystem", "TLS", "WireBytes", "MonotonicTime", systemPackage,
      ],
      swiftSettings: settings),
    .target(
      name: "ReceiverSimulator",
      dependencies: ["NMEA", "UBX", "RTCM3", "WireBytes", "SerialPort", "EventLoop", "MonotonicTime"],
      swiftSettings: settings),

    .target(
      name: "Timekeeping", dependencies: ["MonotonicTime", "NMEA", "ReceiverStream", "UBX", "WireBytes"],
      swiftSettings: settings),

    // The rules of clients, and the power policy of the receiver; both are independent of receivers' protocols.
    .target(
      name: "Positioning", dependencies: ["ReceiverStream", "MonotonicTime", "WireBytes"], swiftSettings: settings),
    .target(name: "PowerControl", dependencies: ["MonotonicTime"], swiftSettings: settings),

    // The location service as a program sees it, the messages between both, and the program's side.
    .target(
      name: "ServiceProtocol",
      dependencies: [
        "EventLoop", "Positioning", "ReceiverStream", "Varlink", "MonotonicTime", "WireBytes", systemPackage,
      ],
      swiftSettings: settings),

    // The coordinator of the policy and one receiver's session.
    .target(
      name: "ReceiverPower",
      dependencies: ["PowerControl", "Receiver", "ReceiverStream", "MonotonicTime", "WireBytes"],
      swiftSettings: settings),

    // Addresses of places, and places of addresses.
    .target(
      name: "Geocoding", dependencies: ["Positioning", "MonotonicTime", "Varlink", "WireBytes"], swiftSettings: settings
    ),

    // Receivers and clients of one program, on a separate thread.
    .target(
      name: "LocationService",
      dependencies: [
        "CLinux", "Corrections", "Positioning", "PowerControl", "ReceiverPower", "ReceiverRuntime", "Receiver",
        "RTCM3", "ReceiverStream",
        "SerialPort", "ServiceProtocol", "EventLoop", "Hotplug", "HostSensors", "SystemBus", "FileSystem",
        "MonotonicTime", "Timekeeping", "WireBytes", systemPackage,
      ],
      swiftSettings: settings),

    // The daemon, which serves other programs.
    .target(
      name: "LocationDaemon",
      dependencies: [
        "CLinux", "ConfigurationEditing", "Corrections", "EventLoop", "FileSystem", "GPSDProtocol", "LocationService",
        "MonotonicTime",
        "Positioning", "PowerControl", "Receiver", "ReceiverPower", "ReceiverRuntime", "ReceiverStream", "SerialPort",
        "ServiceProtocol", "SystemBus", "Timekeeping", "Varlink", "WireBytes", systemPackage,
      ],
      swiftSettings: settings),

    // Apple's API, the command line, and the daemon.
    .executableTarget(
      name: "sextantd", dependencies: ["EventLoop", "LocationDaemon", "ReceiverRuntime"], path: "Sources/sextantd",
      swiftSettings: settings),
    // Positions to a server. libmosquitto and libcurl are loaded when a server needs them.
    .target(name: "CUplink", path: "CSupport/CUplink", linkerSettings: [.linkedLibrary("dl")]),
    .executableTarget(
      name: "sextant-uplink",
      dependencies: [
        "CUplink", "EventLoop", "FileSystem", "MonotonicTime", "Positioning", "ReceiverStream", "ServiceProtocol",
        "Varlink", systemPackage,
      ],
      swiftSettings: settings),
    .systemLibrary(name: "CoreLocationHeaders", path: "CSupport/CoreLocationHeaders"),
    .systemLibrary(name: "CRunLoop", path: "CSupport/CRunLoop"),
    .target(
      name: "CoreLocation",
      dependencies: [
        "CoreLocationHeaders", "CRunLoop", "EventLoop", "Geocoding", "LocationService", "MonotonicTime", "Positioning",
        "ReceiverStream", "ServiceProtocol",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "sextant-track",
      dependencies: [
        "CoreLocation", "EventLoop", "GPSDJSON", "Hotplug", "ReceiverRuntime", "ReceiverStream", "SerialPort",
        "WireBytes",
        systemPackage,
        argumentParser,
      ],
      path: "Sources/sextant-track", swiftSettings: settings),
    .executableTarget(
      name: "sextant",
      dependencies: [
        "GPSDJSON", "ReceiverStream", "NMEA", "UBX", "WireBytes", "SerialPort", "EventLoop", "Hotplug",
        "Receiver", "ConfigurationEditing", "Corrections", "ReceiverRuntime", "ReceiverSimulator",
        "Recording", "MonotonicTime", "NetworkSources", "FileSystem", systemPackage, "LocationService", "Positioning",
        "ServiceProtocol", "Varlink", "TrackFormats", "RecordingReport", "LivePage", "PowerControl", "ReceiverPower",
        argumentParser,
      ],
      swiftSettings: settings),

    .plugin(
      name: "DeployPlugin",
      capability: .command(
        intent: .custom(verb: "sextant-deploy", description: "Makes a folder or a Debian package of a program"),
        permissions: [.writeToPackageDirectory(reason: "The folder of the program is written to `deploy`.")]),
      path: "Sources/DeployPlugin"),

    // Programs for the rigs: the driver's lower layers, with a line for each event.
    .executableTarget(
      name: "HotplugProbe",
      dependencies: ["Hotplug", "SerialPort", "EventLoop", "Receiver", "ReceiverStream", "MonotonicTime"],
      path: "Tests/rig/HotplugProbe", swiftSettings: settings),

    .executableTarget(
      name: "ManyReceivers", dependencies: ["Receiver", "ReceiverRuntime", "SerialPort", "EventLoop", "MonotonicTime"],
      path: "Tests/rig/ManyReceivers", swiftSettings: settings),
    .executableTarget(
      name: "StateStoreWriter", dependencies: ["LocationService", "Positioning", "ReceiverStream", "ServiceProtocol"],
      path: "Tests/rig/StateStoreWriter", swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["ReceiverStream", "ReceiverSimulator", "FileSystem"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    // The host of a simulated line in virtual time, for tests and benchmarks.
    .target(
      name: "HostSimulator",
      dependencies: [
        "PowerControl", "RTCM3", "Receiver", "ReceiverPower", "ReceiverSimulator", "ReceiverStream", "MonotonicTime",
      ],
      path: "Tests/HostSimulator", swiftSettings: settings),
    // Simulated days of programs with their location service and a simulated receiver, for the benchmarks.
    .target(
      name: "EnergyBench",
      dependencies: [
        "HostSimulator", "LocationService", "MonotonicTime", "Positioning", "PowerControl", "Receiver",
        "ReceiverPower", "ReceiverSimulator", "ReceiverStream",
      ],
      path: "Benchmarks/Sources/EnergyBench", swiftSettings: settings),
    .testTarget(name: "NMEATests", dependencies: ["NMEA", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "UBXTests", dependencies: ["UBX", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "UBXLayoutCompilerTests", dependencies: ["UBXLayoutCompiler"], swiftSettings: settings),
    .testTarget(name: "RTCM3Tests", dependencies: ["RTCM3", "WireBytes", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "SPARTNTests", dependencies: ["SPARTN", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "NetworkSourcesTests", dependencies: ["NetworkSources", "MonotonicTime"], swiftSettings: settings),
    .testTarget(name: "TLSTests", dependencies: ["ReceiverSimulator", "TLS"], swiftSettings: settings),
    .testTarget(name: "VarlinkTests", dependencies: ["Varlink", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ReceiverStreamTests",
      dependencies: ["ReceiverStream", "UBX", "NMEA", "SPARTN", "GPSDJSON", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CInterfaceTests",
      dependencies: ["CInterface", "CSextant", "NMEA", "ReceiverStream", "UBX", "WireBytes", "TestSupport"],
      // Not strictly memory-safe: the tests are a program in C, whose pointers they use.
      swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
    .testTarget(
      name: "CServiceClientTests", dependencies: ["CServiceClient", "CSextant", "TestSupport", "Varlink"],
      // Not strictly memory-safe, as the test before.
      swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
    .testTarget(
      name: "GPSDJSONTests", dependencies: ["GPSDJSON", "ReceiverStream", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "GPSDProtocolTests",
      dependencies: [
        "GPSDProtocol", "MonotonicTime", "NMEA", "ReceiverStream", "TestSupport", "Timekeeping", "Varlink",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TrackFormatsTests",
      dependencies: ["TrackFormats", "GPSDJSON", "ReceiverStream", "TestSupport", "Varlink"],
      swiftSettings: settings),
    .testTarget(
      name: "RecordingReportTests", dependencies: ["RecordingReport", "ReceiverStream", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CorpusTests",
      dependencies: [
        "GPSDJSON", "GPSDProtocol", "HostSimulator", "MonotonicTime", "Receiver", "ReceiverSimulator", "ReceiverStream",
        "RecordingReport", "TrackFormats", "UBX", "Varlink", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "ConfigurationEditing", "Corrections", "GPSDJSON", "GPSDProtocol", "Geocoding", "LivePage", "MonotonicTime",
        "NMEA", "NetworkSources", "Positioning", "RTCM3", "Receiver", "ReceiverSimulator", "ReceiverStream",
        "Recording", "SPARTN", "ServiceProtocol", "UBX", "Varlink", "sextant-uplink",
      ],
      path: "Tests/fuzz", exclude: ["Fuzzer.swift", "corpus.sh", "corpus.txt", "run.sh", "seeds.swift"],
      swiftSettings: settings),
    .testTarget(
      name: "LivePageTests",
      dependencies: [
        "LivePage", "MonotonicTime", "ReceiverStream", "RecordingReport", "TestSupport", "UBX", "Varlink",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MessageTests", dependencies: ["GPSDJSON", "ReceiverStream", "NMEA", "UBX", "RTCM3", "WireBytes"],
      swiftSettings: settings),
    .testTarget(
      name: "ReceiverTests",
      dependencies: [
        "Receiver", "ConfigurationEditing", "HostSimulator", "ReceiverStream", "ReceiverSimulator", "UBX", "NMEA",
        "RTCM3", "MonotonicTime", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ConfigurationEditingTests",
      dependencies: [
        "ConfigurationEditing", "GPSDJSON", "Receiver", "ReceiverSimulator", "ReceiverStream", "UBX", "MonotonicTime",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CorrectionsTests",
      dependencies: ["Corrections", "ReceiverStream", "RTCM3", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ReceiverRuntimeTests",
      dependencies: [
        "ReceiverRuntime", "Receiver", "Corrections", "NetworkSources", "ReceiverStream", "ReceiverSimulator",
        "Recording", "SerialPort", "EventLoop", "FileSystem", "MonotonicTime", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ReceiverSimulatorTests",
      dependencies: ["ReceiverSimulator", "ReceiverStream", "UBX", "NMEA", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "TimekeepingTests", dependencies: ["MonotonicTime", "ReceiverStream", "TestSupport", "Timekeeping", "UBX"],
      swiftSettings: settings),
    .testTarget(name: "PowerControlTests", dependencies: ["PowerControl", "MonotonicTime"], swiftSettings: settings),
    .testTarget(
      name: "ReceiverPowerTests",
      dependencies: [
        "ReceiverPower", "PowerControl", "HostSimulator", "Receiver", "ReceiverSimulator", "ReceiverStream",
        "MonotonicTime",
      ], swiftSettings: settings),
    .testTarget(
      name: "PositioningTests", dependencies: ["Positioning", "ReceiverStream", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "GeocodingTests", dependencies: ["Geocoding", "MonotonicTime", "Positioning", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ServiceProtocolTests",
      dependencies: ["ServiceProtocol", "Varlink", "Positioning", "ReceiverStream", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "LocationServiceTests",
      dependencies: [
        "LocationService", "LocationDaemon", "GPSDProtocol", "HostSensors", "HostSimulator", "ServiceProtocol",
        "SystemBus", "Positioning",
        "PowerControl", "ReceiverPower", "Receiver", "ReceiverRuntime", "ReceiverSimulator", "ReceiverStream",
        "Hotplug", "FileSystem", "MonotonicTime", "TestSupport", "sextant-uplink",
      ], swiftSettings: settings),
    .testTarget(
      name: "LocationDaemonTests",
      dependencies: [
        "LocationDaemon", "GPSDProtocol", "ServiceProtocol", "LocationService", "EventLoop", "FileSystem",
        "MonotonicTime", "Positioning", "Receiver", "ReceiverRuntime", "ReceiverStream", "Varlink",
        "TestSupport", "Timekeeping", systemPackage,
      ], swiftSettings: settings),
    .testTarget(
      name: "UplinkTests",
      dependencies: [
        "sextant-uplink", "EventLoop", "FileSystem", "MonotonicTime", "Positioning", "ReceiverStream", "TestSupport",
        "Varlink",
        systemPackage,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CoreLocationTests",
      dependencies: ["CoreLocation", "LocationService", "Positioning", "ServiceProtocol"],
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "sextant", "GPSDJSON", "Hotplug", "Receiver", "ReceiverRuntime", "ReceiverSimulator", "ReceiverStream",
        "Recording", "SerialPort", "MonotonicTime", "TestSupport", "UBX", "FileSystem", "EventLoop", "Corrections",
        argumentParser,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "RecordingTests",
      dependencies: ["Recording", "ReceiverStream", "ReceiverSimulator", "MonotonicTime", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "FileSystemTests", dependencies: ["FileSystem", "TestSupport", systemPackage], swiftSettings: settings),
    .testTarget(
      name: "SerialPortTests",
      dependencies: ["SerialPort", "EventLoop", "FileSystem", "MonotonicTime", "TestSupport", systemPackage],
      swiftSettings: settings),
    .testTarget(
      name: "SystemBusTests", dependencies: ["SystemBus", "MonotonicTime", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "HostSensorsTests", dependencies: ["HostSensors", "MonotonicTime"], swiftSettings: settings),
    .testTarget(
      name: "HotplugTests", dependencies: ["Hotplug", "MonotonicTime", "WireBytes", "TestSupport"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// The tests themselves are not optimised in a release build, because that takes longer than they run.
for test in package.targets where test.type == .test {
  test.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}

// `make check MODULES=Receiver` (SEXTANT_TESTS=Receiver) leaves only the tests of these modules and the targets that they are built
// from, so that a change is compiled and tested without the rest of the package.
if let modules = Context.environment["SEXTANT_TESTS"] {
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set<String> = []
  var pending = modules.split(separator: ",").map { "\($0)Tests" }
  for name in pending where targets[name] == nil { fatalError("no tests named \(name): see the folders of Tests") }
  while let name = pending.popLast() {
    guard let target = targets[name], kept.insert(name).inserted else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): pending.append(name)
      default: break
      }
    }
    for case .plugin(let name, _) in target.plugins ?? [] { pending.append(name) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
}
