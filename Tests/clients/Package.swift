// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else, who uses the product CoreLocation by its path: programs of the usual forms, which compile
// unchanged in both language modes and without a warning.

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func program(_ name: String, _ mode: SwiftLanguageMode, path: String? = nil) -> Target {
  .executableTarget(
    name: name, dependencies: [.product(name: "CoreLocation", package: "sextant")], path: path,
    swiftSettings: strict + [.swiftLanguageMode(mode)])
}

let package = Package(
  name: "clients",
  dependencies: [.package(name: "sextant", path: "../..")],
  targets: [
    program("RunLoopMain", .v5), program("DispatchMain", .v5), program("TopLevelTask", .v6), program("AsyncMain", .v6),
    program("OldListings", .v5),
  ])
