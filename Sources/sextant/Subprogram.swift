// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A subcommand that is a program of its own and replaces this one.
struct Subprogram {
  let name: String
  /// The next step where the program is not found.
  let nextStep: String

  func run(_ arguments: [String]) throws {
    let here = try folderOfProgram()
    let path = environment("PATH")?.split(separator: ":").map(String.init) ?? []
    var problem: String?
    for folder in [here] + path {
      let reason = becomeProgram("\(folder)/\(name)", arguments)
      problem = problem ?? reason
    }
    throw CommandFailure(
      .unavailable, "\(problem ?? "\(name): found neither beside sextant nor on the PATH"); \(nextStep)")
  }
}

/// `sextant track`: the program `sextant-track`, the one client of module CoreLocation among the commands.
struct Track: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track",
    abstract: "Follow the location as a program with Core Location does.",
    discussion: "See `sextant track --help` for its options.")

  @Argument(parsing: .captureForPassthrough, help: "The options of sextant-track.")
  var arguments: [String] = []

  func run() throws {
    try Subprogram(name: "sextant-track", nextStep: "install it beside sextant").run(arguments)
  }
}

/// `sextant serve`: the program `sextantd`.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the receivers of this computer to all its programs, as sextantd does.",
    discussion: "See `sextant serve --help` for its options.")

  @Argument(parsing: .captureForPassthrough, help: "The options of sextantd.")
  var arguments: [String] = []

  func run() throws {
    try Subprogram(name: "sextantd", nextStep: "install it beside sextant").run(arguments)
  }
}

/// `sextant uplink`: the program `sextant-uplink`.
struct Uplink: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uplink",
    abstract: "Send the positions of this computer to a server, by MQTT or HTTPS.",
    discussion: "See `sextant uplink --help` for its options.")

  @Argument(parsing: .captureForPassthrough, help: "The options of sextant-uplink.")
  var arguments: [String] = []

  func run() throws {
    try Subprogram(name: "sextant-uplink", nextStep: "install it beside sextant").run(arguments)
  }
}

/// `sextant bench`: the program `sextant-bench`, which is built in a checkout and not installed.
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract:
      "Measure the decoder, the energy that receivers need, what a fix costs with many clients, or a day full of faults.",
    discussion: "See `sextant bench --help` for its options.",
    shouldDisplay: isInstalled)

  /// Whether the program lies beside this one.
  private static let isInstalled = (try? folderOfProgram()).map { exists("\($0)/sextant-bench") } ?? false

  @Argument(parsing: .captureForPassthrough, help: "The options of sextant-bench.")
  var arguments: [String] = []

  func run() throws {
    try Subprogram(name: "sextant-bench", nextStep: "`make bench` in a checkout of Sextant builds and runs it").run(
      arguments)
  }
}
