// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A client package that uses products by the project's path. Its programs have the usual forms, and compile unchanged in both
// language modes and without a warning.

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

func program(
  _ name: String, _ mode: SwiftLanguageMode, _ settings: [SwiftSetting] = [], product: String = "CoreLocation"
) -> Target {
  .executableTarget(
    name: name, dependencies: [.product(name: product, package: "sextant")],
    swiftSettings: strict + [.swiftLanguageMode(mode)] + settings)
}

/// As in new projects: unmarked declarations belong to the main actor.
let mainActor: [SwiftSetting] = [
  .defaultIsolation(MainActor.self), .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "clients",
  dependencies: [.package(name: "sextant", path: "../..")],
  targets: [
    program("RunLoopMain", .v5), program("DispatchMain", .v5), program("TopLevelTask", .v6), program("AsyncMain", .v6),
    program("OldListings", .v5), program("Logger", .v5), program("RegionWatcher", .v5),
    program("BackgroundThread", .v6),
    program("ContinuationFetcher", .v6), program("DeferredRunner", .v6), program("ErrorCodes", .v6),
    program("DelegateProxy", .v6), program("HeaderImports", .v5), program("LoopOfC", .v5),
    program("LiveFilter", .v6), program("MainActorDefault", .v6, mainActor), program("MockedManager", .v6),
    program("MonitorActor", .v6), program("ObservableModel", .v6), program("SignificantVisits", .v6),
    program("SentencesAlone", .v6, product: "NMEA"), program("MessagesAlone", .v6, product: "UBX"),
    program("StreamWrapper", .v6), program("TurnedLoop", .v5), program("Values", .v6),
  ])
