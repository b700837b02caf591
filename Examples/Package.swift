// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The programs of Core Location's documents, as clients of the module, in the language of their time.

let package = Package(
  name: "sextant-examples",
  dependencies: [.package(name: "sextant", path: "..")],
  targets: [
    "WhereYouAt", "MyCLQuery", "LocationGuide", "Hike", "CurrentLocation", "LocateMe", "WhereAmI", "Geofence",
    "ConditionMonitor", "LiveUpdates", "OneLocation",
  ].map { name in
    .executableTarget(
      name: name, dependencies: [.product(name: "CoreLocation", package: "sextant")],
      swiftSettings: [.swiftLanguageMode(.v5)])
  }
)
