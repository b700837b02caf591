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
    let executable = try options.executable ?? build(options.name)
    let root = URL(fileURLWithPath: options.output ?? context.package.directoryURL.path + "/deploy/\(options.name)")
    try? FileManager.default.removeItem(at: root)
    let files = Deployment(name: options.name, permission: options.permission)
    try copy(executable, to: root.appending(path: "usr/bin/\(options.name)"), try context.tool(named: "strip").url)
    try write(
      try propertyList(options.name, context) ?? files.propertyList, to: root, "usr/share/\(options.name)/Info.plist")
    try write(files.unit, to: root, "lib/systemd/system/\(options.name).service")
    print("\(root.path): \(try size(of: root)) KiB")
    guard options.isPackage else { return }
    let dpkg = try context.tool(named: "dpkg-deb").url
    let architecture = try run(context.tool(named: "dpkg").url, ["--print-architecture"])
    let control = files.control(
      version: options.version, architecture: options.architecture ?? architecture, kibibytes: try size(of: root))
    try write(control, to: root, "DEBIAN/control")
    let package = root.deletingLastPathComponent().appending(path: "\(options.name)_\(options.version).deb")
    _ = try run(dpkg, ["--build", "--root-owner-group", root.path, package.path])
    print(package.path)
  }

  /// Builds the program for this machine's architecture.
  private func build(_ name: String) throws -> URL {
    var parameters = PackageManager.BuildParameters(configuration: .release, logging: .concise)
    parameters.otherSwiftcFlags = ["-static-stdlib"]
    let result = try packageManager.build(.product(name), parameters: parameters)
    guard result.succeeded, let artifact = result.builtArtifacts.first(where: { $0.kind == .executable }) else {
      throw Failure("\(name) cannot be built:\n\(result.logText)")
    }
    return artifact.url
  }

  private func copy(_ executable: URL, to place: URL, _ strip: URL) throws {
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    // A program for another architecture is not stripped: only its own strip can do that.
    if (try? run(strip, ["-o", place.path, executable.path])) == nil {
      try FileManager.default.copyItem(at: executable, to: place)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path)
  }

  /// The property list of the package, `NAME.plist` or `Info.plist` beside Package.swift or the program's sources.
  private func propertyList(_ name: String, _ context: PluginContext) throws -> String? {
    let targets = try context.package.targets(named: [name]).map(\.directoryURL)
    for folder in targets + [context.package.directoryURL] {
      for file in ["\(name).plist", "Info.plist"] {
        if let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8) { return text }
      }
    }
    return nil
  }

  private func write(_ text: String, to root: URL, _ path: String) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
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
    guard process.terminationStatus == 0 else { throw Failure("\(tool.lastPathComponent) has failed") }
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

  init(_ extractor: inout ArgumentExtractor) throws {
    executable = extractor.extractOption(named: "executable").last.map { URL(fileURLWithPath: $0) }
    output = extractor.extractOption(named: "output").last
    permission = extractor.extractOption(named: "permission").last ?? "whenInUse"
    version = extractor.extractOption(named: "version").last ?? "1.0"
    architecture = extractor.extractOption(named: "architecture").last
    isPackage = extractor.extractFlag(named: "deb") > 0
    guard extractor.remainingArguments.count == 1, extractor.unextractedOptionsOrFlags.isEmpty,
      ["always", "whenInUse"].contains(permission)
    else {
      throw Failure(
        "usage: swift package --allow-writing-to-package-directory sextant-deploy PRODUCT [--deb [--version V] "
          + "[--architecture A]] [--permission always|whenInUse] [--executable FILE] [--output FOLDER]")
    }
    name = extractor.remainingArguments[0]
    guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else {
      throw Failure("\(name): is no name of a product")
    }
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
