// SPDX-License-Identifier: Apache-2.0

// The UBX layout compiler: `swift FOLDER FILE…` writes Swift, `markdown FILE FILE…` the message reference, and
// `examples FILE FILE…` the examples of the messages as Swift, which a test compiles. The files are layouts (*.ubx) and
// lists of configuration items (*.keys). It runs on the build machine, before module UBX is compiled.
func parse(_ path: String) -> [Message] {
  var parser = Parser(file: path)
  do { return try parser.parse(readFile(path)) } catch {
    fail("\(error.file):\(error.line): error: \(error.reason)", 65)
  }
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
  fail("usage: UBXLayoutCompiler swift FOLDER FILE… | markdown FILE FILE… | examples FILE FILE…", 64)
}
let files = arguments[3...].filter { !$0.hasSuffix(".keys") }.map { (path: $0, messages: parse($0)) }
let keys = arguments[3...].filter { $0.hasSuffix(".keys") }.flatMap(parseKeys)

switch arguments[1] {
case "swift":
  for file in files {
    var emitter = SwiftEmitter()
    for message in file.messages {
      emitter.emit(message)
      emitter.table(message)
    }
    let name = file.path.split(separator: "/").last!.split(separator: ".").first!
    writeFile(emitter.text, to: "\(arguments[2])/\(name).generated.swift")
  }
  var registry = SwiftEmitter()
  registry.registry(files.flatMap(\.messages))
  writeFile(registry.text, to: "\(arguments[2])/Registry.generated.swift")
  var table = SwiftEmitter()
  table.configurationTable(keys)
  writeFile(table.text, to: "\(arguments[2])/ConfigurationTable.generated.swift")
case "markdown":
  writeFile(markdown(files.flatMap(\.messages)) + markdown(keys), to: arguments[2])
case "examples": writeFile(exampleFile(files.flatMap(\.messages)), to: arguments[2])
default: fail("unknown form \(arguments[1])", 64)
}
