// SPDX-License-Identifier: Apache-2.0
import Foundation
import PackagePlugin

/// `swift package sextant-deploy PRODUCT`: a folder, or a Debian package, of a program that uses Core Location, for a board.
///
///     usr/bin/NAME                     the program, linked statically and stripped
///     usr/share/NAME/Info.plist        its usage texts
///     lib/systemd/system/NAME.service  a unit with access to receivers and a folder for its state
@main
struct DeployPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let options = try Options(&extractor)
    let folder = DeploymentFolder(
      options.output ?? context.package.directoryURL.path + "/deploy/\(options.name)", name: options.name)
    let root = folder.root
    try folder.clear()
    let executable = try options.executable ?? build(options, context)
    let files = Deployment(name: options.name, permission: options.permission)
    try copy(executable, to: root.appending(path: "usr/bin/\(options.name)"), try context.tool(named: "strip").url)
    try write(
      try propertyList(options.name, context) ?? files.propertyList, to: root, "usr/share/\(options.name)/Info.plist")
    try write(files.unit, to: root, "lib/systemd/system/\(options.name).service")
    print("\(root.path): \(try size(of: root)) KiB")
    print("On a board with the location service: echo '\(files.grant)' | sudo tee -a /etc/sextant/policy")
    guard options.isPackage else { return }
    let dpkg = try context.tool(named: "dpkg-deb").url
    guard
      let architecture = try options.architecture ?? debianArchitecture(ofProgram: Data(contentsOf: executable))
    else {
      throw Failure("\(executable.path): is not a program of a known architecture; name it with --architecture")
    }
    let control = files.control(version: options.version, architecture: architecture, kibibytes: try size(of: root))
    try write(control, to: root, "DEBIAN/control")
    try write(files.postinst, to: root, "DEBIAN/postinst", permissions: 0o755)
    try write(files.prerm, to: root, "DEBIAN/prerm", permissions: 0o755)
    let package = root.deletingLastPathComponent().appending(path: "\(options.name)_\(options.version).deb")
    _ = try run(dpkg, ["--build", "--root-owner-group", root.path, package.path])
    print(package.path)
  }

  /// Builds the program, for this machine's architecture or with a Swift SDK.
  private func build(_ options: Options, _ context: PluginContext) throws -> URL {
    let name = options.name
    if options.sdkArguments.isEmpty {
      var parameters = PackageManager.BuildParameters(configuration: .release, logging: .concise)
      parameters.otherSwiftcFlags = ["-static-stdlib"]
      parameters.otherLinkerFlags = Self.linkerFlags
      let result = try packageManager.build(.product(name), parameters: parameters)
      guard result.succeeded, let artifact = result.builtArtifacts.first(where: { $0.kind == .executable }) else {
        throw Failure("\(name) cannot be built:\n\(result.logText)")
      }
      return artifact.url
    }
    // The plugin interface does not support SDKs. The other build uses a separate folder, because this command locks
    // the package's build folder. Its linker strips the program, which this machine's `strip` cannot do.
    let folder = context.pluginWorkDirectoryURL.appending(path: "sdk").path
    let flags = (Self.linkerFlags + ["--strip-all"]).flatMap { ["-Xlinker", $0] }
    let arguments =
      [
        "build", "--package-path", context.package.directoryURL.path, "--scratch-path", folder, "-c", "release",
        "--static-swift-stdlib", "--product", name,
      ] + options.sdkArguments + flags
    let swift = try context.tool(named: "swift").url
    _ = try run(swift, arguments)
    return URL(fileURLWithPath: try run(swift, arguments + ["--show-bin-path"])).appending(path: name)
  }

  /// The toolchain exports every symbol of the Swift library, which no program needs (docs/reference/size.md).
  private static let linkerFlags = ["--no-export-dynamic"]

  private func copy(_ executable: URL, to place: URL, _ strip: URL) throws {
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    // A program for another architecture is copied unchanged: only that architecture's `strip` can strip it.
    if (try? run(strip, ["-o", place.path, executable.path])) == nil {
      try FileManager.default.copyItem(at: executable, to: place)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path)
  }

  /// The property list of the package, `NAME.plist` or `Info.plist` next to Package.swift or the program's sources.
  private func propertyList(_ name: String, _ context: PluginContext) throws -> String? {
    let targets = try context.package.targets(named: [name]).map(\.directoryURL)
    for folder in targets + [context.package.directoryURL] {
      for file in ["\(name).plist", "Info.plist"] {
        if let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8) { return text }
      }
    }
    return nil
  }

  private func write(_ text: String, to root: URL, _ path: String, permissions: Int = 0o644) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
  }

  private func size(of root: URL) throws -> Int {
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.fileSizeKey])
    var bytes = 0
    while let file = files?.nextObject() as? URL {
      bytes += try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }
    return bytes / 1024
  }

  private func run(_ tool: URL, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = tool
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("\(tool.lastPathComponent) has failed\n\(text)") }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// The arguments of the command.
private struct Options {
  var name: String
  var executable: URL?
  var output: String?
  var permission: String
  var isPackage: Bool
  var version: String
  var architecture: String?
  /// The arguments of `swift build` for another machine; empty for this one.
  var sdkArguments: [String]

  init(_ extractor: inout ArgumentExtractor) throws {
    executable = extractor.extractOption(named: "executable").last.map { URL(fileURLWithPath: $0) }
    output = extractor.extractOption(named: "output").last
    permission = extractor.extractOption(named: "permission").last ?? "whenInUse"
    version = extractor.extractOption(named: "version").last ?? "1.0"
    architecture = extractor.extractOption(named: "architecture").last
    sdkArguments = ["swift-sdk", "swift-sdks-path", "pkg-config-path"].flatMap { option in
      extractor.extractOption(named: option).flatMap { ["--\(option)", $0] }
    }
    isPackage = extractor.extractFlag(named: "deb") > 0
    guard extractor.remainingArguments.count == 1, extractor.unextractedOptionsOrFlags.isEmpty,
      ["always", "whenInUse"].contains(permission)
    else {
      throw Failure(
        "usage: swift package --allow-writing-to-package-directory sextant-deploy PRODUCT [--deb [--version V] "
          + "[--architecture A]] [--permission always|whenInUse] [--executable FILE | --swift-sdk NAME "
          + "[--swift-sdks-path FOLDER] [--pkg-config-path FOLDER]] [--output FOLDER]")
    }
    name = extractor.remainingArguments[0]
    let problem =
      DeploymentWord.problem(name: name) ?? DeploymentWord.problem(version: version)
      ?? architecture.flatMap(DeploymentWord.problem(architecture:))
    if let problem { throw Failure(problem) }
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
