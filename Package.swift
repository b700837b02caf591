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

/// A module, or a program if it has an entry point.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource]? = nil,
  libraries: [String] = [], plugins: [Target.PluginUsage]? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings,
    linkerSettings: libraries.map { .linkedLibrary($0) }, plugins: plugins)
}

func program(
  _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource]? = nil
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings)
}

/// The tests of a module or of a folder of one: `Tests/NAMETests`.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = [],
  settings: [SwiftSetting] = settings
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: dependencies, path: path, exclude: exclude, swiftSettings: settings)
}

/// C that Swift cannot import, or that Embedded Swift lacks.
func support(_ name: String, loadsLibraries: Bool = false, headers: String? = nil) -> Target {
  .target(
    name: name, path: "CSupport/\(name)", cSettings: headers.map { [.headerSearchPath($0)] },
    linkerSettings: loadsLibraries ? [.linkedLibrary("dl")] : nil)
}

let package = Package(
  name: "sextant",
  products: [
    // A product also lists the modules whose types its API uses.
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "NMEA", targets: ["NMEA"]),
    .library(name: "UBX", targets: ["UBX"]),
    .library(name: "RTCM3", targets: ["RTCM3"]),
    .library(name: "ReceiverStream", targets: ["ReceiverStream"]),
    .library(name: "SerialPort", targets: ["SerialPort", "LinuxIO", "MonotonicTime"]),
    .library(name: "Receiver", targets: ["Receiver", "MonotonicTime"]),
    .library(name: "ReceiverSimulator", targets: ["ReceiverSimulator", "MonotonicTime"]),
    .library(name: "Positioning", targets: ["Positioning", "MonotonicTime"]),
    .library(name: "Power", targets: ["Power", "MonotonicTime"]),
    // For the benchmarks: a session at a simulated receiver in virtual time, and simulated days.
    .library(name: "HostSimulator", targets: ["HostSimulator"]),
    .library(name: "EnergyBench", targets: ["EnergyBench", "Power", "ReceiverSimulator"]),
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
    // In the order of the layers of docs/ARCHITECTURE.md, which describes each module.
    support("CLinux"),
    .systemLibrary(name: "CByteMask", path: "CSupport/CByteMask"),
    module("MonotonicTime", ["CLinux"]),
    module("WireBytes", ["CByteMask"]),

    // `rounded` calls the library of mathematics, and no import of these two modules links it.
    module("NMEA", ["WireBytes", "CByteMask"], libraries: ["m"]),
    module("UBX", ["WireBytes"], libraries: ["m"], plugins: ["UBXLayoutPlugin"]),
    module("RTCM3", ["WireBytes", "CByteMask"]),
    program("UBXLayoutCompiler"),
    .plugin(
      name: "UBXLayoutPlugin", capability: .buildTool(), dependencies: ["UBXLayoutCompiler"],
      path: "Sources/UBXLayoutPlugin"),

    module("ReceiverStream", ["WireBytes", "CByteMask", "NMEA", "UBX", "RTCM3"]),
    module("LinuxIO", ["CLinux", "MonotonicTime", systemPackage]),

    .systemLibrary(
      name: "CUdev", path: "CSupport/CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    module("SerialPort", ["CLinux", "CUdev", "LinuxIO", "MonotonicTime", "WireBytes", systemPackage]),
    module("Receiver", ["ReceiverStream", "UBX", "NMEA", "RTCM3", "WireBytes", "MonotonicTime"]),
    module("Positioning", ["ReceiverStream", "MonotonicTime", "WireBytes"]),
    // `CSupport/CSextant/build.sh` compiles it as Embedded Swift, so that the library for C contains no Swift runtime.
    .systemLibrary(name: "CSextant", path: "CSupport/CSextant"),
    support("CClientSocket", headers: "../CSextant"),
    module("CInterface", ["CSextant", "CClientSocket", "NMEA", "RTCM3", "ReceiverStream", "UBX", "WireBytes"]),

    module("Power", ["Receiver", "Positioning", "ReceiverStream", "MonotonicTime", "WireBytes"]),
    module(
      "Messages", ["LinuxIO", "Positioning", "ReceiverStream", "MonotonicTime", "WireBytes", systemPackage],
      resources: [
        "varlink.service", "sextant.Location", "sextant.CoreLocation", "sextant.Receivers", "sextant.Authorization",
        "sextant.Time", "sextant.Launch",
      ].map { .embedInCode("Varlink/Interfaces/org.\($0).varlink") }),
    module("ReceiverSimulator", ["NMEA", "UBX", "RTCM3", "WireBytes", "MonotonicTime"]),

    module(
      "GPSD", ["Messages", "Receiver", "ReceiverStream", "UBX", "NMEA", "RTCM3", "MonotonicTime", "WireBytes"]),
    // OpenSSL is loaded when a caster needs it.
    support("CTLS", loadsLibraries: true),
    module(
      "ReceiverRuntime",
      [
        "UBX",
        "CLinux", "CTLS", "LinuxIO", "Messages", "MonotonicTime", "NMEA", "RTCM3", "Receiver", "ReceiverStream",
        "SerialPort",
        "WireBytes", systemPackage,
      ]),

    // libsystemd is loaded when the bus is needed.
    support("CBus", loadsLibraries: true),
    module(
      "LocationService",
      [
        "RTCM3",
        "CBus", "CLinux", "LinuxIO", "Messages", "MonotonicTime", "Positioning", "Power", "Receiver", "ReceiverRuntime",
        "ReceiverStream", "SerialPort", "WireBytes", systemPackage,
      ]),

    .systemLibrary(name: "CoreLocationHeaders", path: "CSupport/CoreLocationHeaders"),
    .systemLibrary(name: "CRunLoop", path: "CSupport/CRunLoop"),
    module(
      "CoreLocation",
      [
        "CoreLocationHeaders", "CRunLoop", "LinuxIO", "LocationService", "Messages", "MonotonicTime", "Positioning",
        "ReceiverStream", "WireBytes",
      ]),
    program(
      "sextantd",
      [
        "CLinux", "GPSD", "LinuxIO", "LocationService", "Messages", "MonotonicTime", "Positioning", "Power",
        "Receiver", "ReceiverRuntime", "ReceiverStream", "SerialPort", "WireBytes", systemPackage,
      ]),
    // libmosquitto and libcurl are loaded when a server needs them.
    support("CUplink", loadsLibraries: true),
    program(
      "sextant-uplink",
      [
        "CUplink", "LinuxIO", "Messages", "MonotonicTime", "Positioning", "ReceiverStream", "WireBytes", systemPackage,
      ]),
    program(
      "sextant-track",
      [
        "CoreLocation", "GPSD", "LinuxIO", "ReceiverRuntime", "ReceiverStream", "SerialPort", "WireBytes",
        systemPackage, argumentParser,
      ]),
    program(
      "sextant",
      [
        "RTCM3",
        "GPSD", "LinuxIO", "LocationService", "Messages", "MonotonicTime", "NMEA", "Positioning", "Power",
        "Receiver", "ReceiverRuntime", "ReceiverSimulator", "ReceiverStream", "SerialPort", "UBX", "WireBytes",
        systemPackage, argumentParser,
      ],
      resources: [
        .embedInCode("LivePage/Page/page.html"), .embedInCode("LivePage/Page/page.css"),
        .embedInCode("LivePage/Page/page.js"),
      ]),

    .plugin(
      name: "DeployPlugin",
      capability: .command(
        intent: .custom(verb: "sextant-deploy", description: "Makes a folder or a Debian package of a program"),
        permissions: [.writeToPackageDirectory(reason: "The folder of the program is written to `deploy`.")]),
      path: "packaging/DeployPlugin"),

    // Programs for the rigs: the driver's lower layers, with a line for each event.
    program(
      "HotplugProbe", ["SerialPort", "LinuxIO", "Receiver", "ReceiverStream", "MonotonicTime"],
      path: "Tests/rig/HotplugProbe"),
    program(
      "ManyReceivers", ["Receiver", "ReceiverRuntime", "SerialPort", "LinuxIO", "MonotonicTime"],
      path: "Tests/rig/ManyReceivers"),
    program(
      "StateStoreWriter", ["LocationService", "LinuxIO", "Messages", "Positioning", "ReceiverStream"],
      path: "Tests/rig/StateStoreWriter"),
    module("TestSupport", ["ReceiverStream", "ReceiverSimulator"], path: "Tests/TestSupport"),
    // The host of a simulated line in virtual time, for tests and benchmarks.
    module(
      "HostSimulator", ["RTCM3", "Receiver", "ReceiverSimulator", "ReceiverStream", "MonotonicTime"],
      path: "Tests/HostSimulator"),
    // Simulated days of programs with their location service and a simulated receiver, for the benchmarks.
    module(
      "EnergyBench",
      [
        "HostSimulator", "LocationService", "Messages", "MonotonicTime", "Positioning", "Power", "Receiver",
        "ReceiverSimulator", "ReceiverStream",
      ],
      path: "Benchmarks/Sources/EnergyBench"),

    tests("NMEA", ["NMEA", "TestSupport", "WireBytes"]),
    tests("UBX", ["UBX", "TestSupport", "WireBytes"]),
    tests("UBXLayoutCompiler", ["UBXLayoutCompiler"]),
    tests("RTCM3", ["RTCM3", "TestSupport", "WireBytes"]),
    tests("SPARTN", ["RTCM3", "TestSupport"]),
    tests("NetworkSources", ["MonotonicTime", "ReceiverRuntime"]),
    tests("TLS", ["ReceiverRuntime", "ReceiverSimulator"]),
    tests("Varlink", ["Messages", "TestSupport"]),
    tests("ReceiverStream", ["ReceiverStream", "GPSD", "NMEA", "RTCM3", "TestSupport", "UBX"]),
    // Not strictly memory-safe: the tests are a program in C, whose pointers they use.
    tests(
      "CInterface", ["CInterface", "CSextant", "NMEA", "ReceiverStream", "TestSupport", "UBX", "WireBytes"],
      settings: [.enableExperimentalFeature("Lifetimes")]),
    tests(
      "CServiceClient", ["CInterface", "CSextant", "Messages", "TestSupport"],
      settings: [.enableExperimentalFeature("Lifetimes")]),
    tests("GPSDJSON", ["GPSD", "ReceiverStream", "TestSupport"]),
    tests(
      "GPSDProtocol",
      [
        "GPSD", "Messages", "MonotonicTime", "NMEA", "Receiver", "ReceiverStream", "TestSupport",
      ]),
    tests("TrackFormats", ["sextant", "GPSD", "Messages", "ReceiverStream", "TestSupport"]),
    tests("RecordingReport", ["sextant", "ReceiverStream", "TestSupport"]),
    tests(
      "Corpus",
      [
        "sextant",
        "GPSD", "HostSimulator", "Messages", "MonotonicTime", "Receiver", "ReceiverSimulator", "ReceiverStream",
        "TestSupport", "UBX",
      ]),
    tests(
      "Fuzz",
      [
        "CoreLocation", "GPSD", "Messages", "MonotonicTime", "NMEA", "Positioning", "Receiver", "ReceiverRuntime",
        "ReceiverSimulator", "ReceiverStream", "RTCM3", "sextant", "sextant-uplink", "UBX",
      ],
      path: "Tests/fuzz", exclude: ["Fuzzer.swift", "corpus.sh", "corpus.txt", "run.sh", "seeds.swift"]),
    tests("LivePage", ["Messages", "MonotonicTime", "ReceiverStream", "sextant", "TestSupport", "UBX"]),
    tests("Message", ["GPSD", "NMEA", "ReceiverStream", "RTCM3", "UBX", "WireBytes"]),
    tests(
      "Receiver",
      [
        "Receiver", "HostSimulator", "MonotonicTime", "NMEA", "ReceiverSimulator", "ReceiverStream", "RTCM3",
        "TestSupport", "UBX",
      ]),
    tests(
      "ConfigurationEditing",
      [
        "GPSD", "MonotonicTime", "Receiver", "ReceiverSimulator", "ReceiverStream", "UBX",
      ]),
    tests(
      "Corrections",
      [
        "MonotonicTime", "ReceiverRuntime", "ReceiverSimulator", "ReceiverStream", "RTCM3", "TestSupport", "UBX",
        "WireBytes",
      ]),
    tests(
      "ReceiverRuntime",
      [
        "WireBytes",
        "ReceiverRuntime", "LinuxIO", "MonotonicTime", "Receiver", "ReceiverSimulator", "ReceiverStream", "SerialPort",
        "TestSupport",
      ]),
    tests("ReceiverSimulator", ["ReceiverSimulator", "MonotonicTime", "NMEA", "ReceiverStream", "TestSupport", "UBX"]),
    tests("Timekeeping", ["MonotonicTime", "Receiver", "ReceiverStream", "TestSupport", "UBX"]),
    tests("PowerControl", ["MonotonicTime", "Positioning", "Power"]),
    tests(
      "ReceiverPower",
      [
        "HostSimulator", "MonotonicTime", "Positioning", "Power", "Receiver", "ReceiverSimulator", "ReceiverStream",
      ]),
    tests("Positioning", ["Positioning", "MonotonicTime", "ReceiverStream", "TestSupport"]),
    tests("Geocoding", ["CoreLocation", "MonotonicTime", "Positioning", "TestSupport"]),
    tests("ServiceProtocol", ["Messages", "MonotonicTime", "Positioning", "ReceiverStream", "TestSupport"]),
    tests(
      "LocationService",
      [
        "LocationService", "GPSD", "HostSimulator", "LinuxIO", "Messages", "MonotonicTime", "Positioning", "Power",
        "Receiver", "ReceiverRuntime", "ReceiverSimulator", "ReceiverStream", "SerialPort", "sextant-uplink",
        "sextantd",
        "TestSupport", "WireBytes",
      ]),
    tests(
      "LocationDaemon",
      [
        "GPSD", "LinuxIO", "LocationService", "Messages", "MonotonicTime", "Positioning", "Receiver",
        "ReceiverRuntime", "ReceiverStream", "sextantd", "TestSupport", "WireBytes", systemPackage,
      ]),
    tests(
      "Uplink",
      [
        "LinuxIO", "Messages", "MonotonicTime", "Positioning", "ReceiverStream", "sextant-uplink", "TestSupport",
        systemPackage,
      ]),
    tests("CoreLocation", ["ReceiverStream", "CoreLocation", "LocationService", "Messages", "Positioning"]),
    tests(
      "Command",
      [
        "GPSD", "HostSimulator", "LinuxIO", "Messages", "MonotonicTime", "Receiver", "ReceiverRuntime",
        "ReceiverSimulator", "ReceiverStream", "SerialPort", "sextant", "sextant-track", "TestSupport", "UBX",
        "WireBytes", argumentParser,
      ]),
    tests("Recording", ["MonotonicTime", "Receiver", "ReceiverSimulator", "ReceiverStream", "TestSupport"]),
    tests("FileSystem", ["LinuxIO", "MonotonicTime", "TestSupport", systemPackage]),
    tests("SerialPort", ["SerialPort", "LinuxIO", "MonotonicTime", "TestSupport", systemPackage]),
    tests("SystemBus", ["LinuxIO", "LocationService", "MonotonicTime", "TestSupport"]),
    tests("HostSensors", ["LocationService", "MonotonicTime"]),
    tests("Hotplug", ["MonotonicTime", "SerialPort", "TestSupport", "WireBytes"]),
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
  // SwiftPM uses the file of an entry point that it finds beside a test.
  package.targets.append(.testTarget(name: "EntryPointTests", path: "Tests/EntryPoint/EntryPointTests"))
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set = ["EntryPointTests"]
  var usesPackages = false
  var pending = modules.split(separator: ",").map { "\($0)Tests" }
  for name in pending where targets[name] == nil { fatalError("no tests named \(name): see the folders of Tests") }
  while let name = pending.popLast() {
    guard let target = targets[name], kept.insert(name).inserted else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): pending.append(name)
      default: usesPackages = true
      }
    }
    for case .plugin(let name, _) in target.plugins ?? [] { pending.append(name) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
  // Each package takes seconds to fetch.
  if !usesPackages { package.dependencies = [] }
  // Sessions at simulated receivers take three times as long as their compilation if the simulator is not optimised. For all tests,
  // because the compiler does not notice that a module was compiled in another way.
  let simulated: Set = ["WireBytes", "MonotonicTime", "NMEA", "ReceiverStream", "ReceiverSimulator", "HostSimulator"]
  for target in package.targets where target.type != .system && target.type != .plugin {
    switch target.name {
    // As a whole module, because its files are compiled in half of the time together.
    case let name where simulated.contains(name):
      target.swiftSettings?.append(.unsafeFlags(["-Osize", "-whole-module-optimization", "-num-threads", "2"]))
    // These change rarely; the interface of UBX takes as long as its code if it is compiled separately.
    case "UBX", "RTCM3":
      target.swiftSettings?.append(
        .unsafeFlags(["-whole-module-optimization", "-no-emit-module-separately-wmo", "-num-threads", "2"]))
    // Two compilers for a module, not one for each 25 files.
    default: target.swiftSettings?.append(.unsafeFlags(["-driver-batch-size-limit", "200"]))
    }
  }
}
