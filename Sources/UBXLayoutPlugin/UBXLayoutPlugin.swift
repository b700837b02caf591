// SPDX-License-Identifier: Apache-2.0
import PackagePlugin

/// Compiles the layout files (`*.ubx`) and the lists of configuration items (`*.keys`) of a target to Swift, before
/// the target itself is compiled. A message is declared once; decoding, encoding, names and documentation follow from
/// the declaration.
@main
struct UBXLayoutPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let layouts = target.sourceFiles.map(\.url).filter { $0.pathExtension == "ubx" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
    let keys = target.sourceFiles.map(\.url).filter { $0.pathExtension == "keys" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
    let folder = context.pluginWorkDirectoryURL
    let outputs =
      layouts.map { folder.appending(path: $0.deletingPathExtension().lastPathComponent + ".generated.swift") }
      + [
        folder.appending(path: "Registry.generated.swift"),
        folder.appending(path: "ConfigurationTable.generated.swift"),
      ]
    return [
      .buildCommand(
        displayName: "UBX layouts",
        executable: try context.tool(named: "UBXLayoutCompiler").url,
        arguments: ["swift", folder.path()] + (layouts + keys).map { $0.path() },
        inputFiles: layouts + keys,
        outputFiles: outputs)
    ]
  }
}
