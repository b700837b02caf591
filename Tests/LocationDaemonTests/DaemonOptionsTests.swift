// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Testing
import sextantd

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

  @Test("Addresses for clients of gpsd and of NMEA may be given more than once; NMEA has paths too")
  func addresses() throws {
    let options = try DaemonOptions(
      ["--gpsd", "127.0.0.1:2947", "--gpsd=[::1]:2947", "--nmea", "*:10110", "--nmea=/run/nmea"])
    #expect(options.gpsd == ["127.0.0.1:2947", "[::1]:2947"])
    #expect(options.nmea == ["*:10110", "/run/nmea"])
    #expect(!options.gpsdIsOff)
    #expect(try DaemonOptions(["--gpsd", "off"]).gpsdIsOff)
    #expect(try DaemonOptions(["--assistance", "broadcast"]).assistance == .broadcast)
    #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(["--assistance=all"]) }
    #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(["--gpsd", "off", "--gpsd", "localhost:1"]) }
  }

  @Test("Sources of corrections keep their order, and a mistake in one does not repeat its password")
  func corrections() throws {
    let options = try DaemonOptions(["--corrections", "ntrip://me@a/M", "--corrections=tcp:b:5"])
    #expect(options.corrections.map(\.address) == ["ntrip://a:2101/M", "tcp://b:5"])
    #expect {
      try DaemonOptions(["--corrections", "ntrip://me:secret@a"])
    } throws: { error in
      let text = (error as? DaemonOptions.Mistake)?.text ?? ""
      return text.contains("ntrip://USER@HOST") && !text.contains("secret")
    }
  }

  @Test("The control socket of gpsdctl is made where its path is given, and nowhere else")
  func control() throws {
    #expect(try DaemonOptions([]).gpsdControl == nil)
    #expect(try DaemonOptions(["--gpsd-control", "/run/gpsd.sock"]).gpsdControl == "/run/gpsd.sock")
    #expect(try DaemonOptions(["--gpsd-control=/run/a"]).gpsdControl == "/run/a")
    #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(["--gpsd-control"]) }
  }

  @Test(
    "An address is a number and a port, localhost or *",
    arguments: [
      ("127.0.0.1:2947", 1), ("[::1]:2947", 1), ("localhost:2947", 2), ("*:1", 2), ("[fe80::1]:65535", 1), ("2947", 0),
      (":2947", 0), ("127.0.0.1", 0), ("127.0.0.1:0", 0), ("127.0.0.1:65536", 0), ("::1:2947", 0), ("[127.0.0.1]:1", 0),
      ("example.org:2947", 0), ("127.1:2947", 0), ("", 0),
    ])
  func address(text: String, count: Int) {
    #expect((InternetAddress.parse(text)?.count ?? 0) == count)
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
      (["--gpsd", "2947"], "--gpsd"), (["--nmea", "nmea.sock"], "--nmea"),
      // A flag does not accept a value.
      (["--read-only=no"], "--read-only"), (["--help=x"], "--help"), (["--version=1"], "--version"),
    ])
  func mistakes(arguments: [String], named: String) {
    let mistake = #expect(throws: DaemonOptions.Mistake.self) { try DaemonOptions(arguments) }
    #expect(mistake?.text.contains(named) == true)
    #expect(mistake?.text.contains("sextantd --help") == true || mistake?.text.contains("such as") == true)
  }
}
