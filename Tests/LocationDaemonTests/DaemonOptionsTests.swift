// SPDX-License-Identifier: Apache-2.0
import LocationDaemon
import Testing

@Suite("The command line of sextantd")
struct DaemonOptionsTests {
  @Test("Without options the receivers and the socket are the standard ones")
  func standard() throws {
    let options = try DaemonOptions([])
    #expect(options.devices.isEmpty)
    #expect(options.socket == nil)
    #expect(!options.isReadOnly && !options.showsHelp && !options.showsVersion)
  }

  @Test("A value follows its option, or an equals sign; --device may be given more than once")
  func values() throws {
    let options = try DaemonOptions(
      ["--device", "/dev/ttyACM0", "--device=sim:walk", "--socket=/run/a=b", "--read-only"])
    #expect(options.devices == ["/dev/ttyACM0", "sim:walk"])
    #expect(options.socket == "/run/a=b")
    #expect(options.isReadOnly)
  }

  @Test("Help and the version are asked for by their options")
  func information() throws {
    #expect(try DaemonOptions(["--help"]).showsHelp)
    #expect(try DaemonOptions(["-h"]).showsHelp)
    #expect(try DaemonOptions(["--version"]).showsVersion)
  }

  @Test(
    "A mistake names the argument and the next step",
    arguments: [
      (["--device"], "--device"), (["--socket", ""], "--socket"), (["--socket="], "--socket"),
      (["--sokcet=/x"], "--sokcet"),
      (["/dev/ttyACM0"], "/dev/ttyACM0"), (["-x"], "-x"), ([""], "unknown option"),
      // An option without a value takes none.
      (["--read-only=no"], "--read-only"), (["--help=x"], "--help"), (["--version=1"], "--version"),
    ])
  func mistakes(arguments: [String], named: String) {
    let mistake = #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(arguments) }
    #expect(mistake?.text.contains(named) == true)
    #expect(mistake?.text.contains("sextantd --help") == true)
  }
}
