import ArgumentParser

/// `sextant track`: the program `sextant-track` beside this one, in its place.
struct Track: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track",
    abstract: "Follow the location as a program with Core Location does.",
    discussion: "See `sextant track --help` for its options.")

  @Argument(parsing: .captureForPassthrough, help: "The options of sextant-track.")
  var arguments: [String] = []

  func run() throws {
    let program = try folderOfProgram() + "/sextant-track"
    try becomeProgram(program, [program] + arguments)
  }
}
