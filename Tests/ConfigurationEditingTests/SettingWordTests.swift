// SPDX-License-Identifier: Apache-2.0
import Receiver
import Testing

@Suite("Settings as NAME=VALUE")
struct SettingWordTests {
  private func problem(_ text: String) -> String? {
    do throws(SettingProblem) {
      _ = try SettingWord(text)
      return nil
    } catch { return error.description }
  }

  @Test(
    "Valid settings",
    arguments: [
      "rate=5Hz", "rate=0.5hz", "rate=40ms", "model=bike", "constellations=gps+galileo,SBAS",
      "messages=NAV-PVT,nav-sat@5,GGA@0,PUBX-00,0x01-0x07", "nmea=off", "baud=921600", "CFG-RATE-MEAS=0.2",
      "rate-meas=200ms", "0x30210001=0.2", "CFG-NAVSPG-INFIL_MINELEV=-5", "CFG-NAVSPG-INIFIX3D=on",
      "CFG-SBAS-PRNSCANMASK=0x3ab", "CFG-NAV5.dynModel=4", "cfg-nav5.FIXEDALT=-12.34", "CFG-PRT[1].baudRate=9600",
      "CFG-MSG[NMEA-GGA].rate=[0,1,0,1,0,0]", "CFG-GNSS.groups[2].flags=0x10001", "CFG-USB.serialNumber=\"a b\"",
      "CFG-TP-ANT_CABLEDELAY=50ns", "CFG-TP-DUTY_TP1=12.5",
    ])
  func understood(_ text: String) { #expect(problem(text) == nil) }

  @Test(
    "Invalid settings, and the next step",
    arguments: [
      ("rate", "NAME=VALUE"), ("=4", "NAME=VALUE"), ("rate=fast", "5Hz"), ("rate=0Hz", "5Hz"), ("rate=100Hz", "5Hz"),
      ("model=car", "automotive"), ("constellations=SBAS", "GPS"), ("constellations=", "GPS"),
      ("messages=NAV-PTV", "did you mean NAV-PVT"), ("messages=NAV-PVT@300", "0 to 255"), ("messages=", "NAV-PVT"),
      ("nmea=maybe", "on or off"), ("baud=0", "115200"), ("baud=99999999999", "115200"),
      ("rat=5Hz", "did you mean rate"), ("constelations=GPS", "did you mean constellations"),
      ("CFG-RATE-MEES=1", "did you mean CFG-RATE-MEAS"), ("CFG-NAVSPG-DYNMODL=1", "CFG-NAVSPG-DYNMODEL"),
      ("CFG-RATE-MEAS=0.0001", "steps of 0.001 s"), ("CFG-RATE-MEAS=66", "0 to 65.535 s"), ("CFG-RATE-MEAS=-1", "0 to"),
      ("CFG-RATE-MEAS=abc", "a number in s"), ("CFG-RATE-MEAS=0x10", "a number in s"), ("CFG-RATE-MEAS=", "a number"),
      ("CFG-NAVSPG-INFIL_MINELEV=128", "-128 to 127 deg"), ("CFG-NAVSPG-INIFIX3D=2", "a number"),
      ("CFG-NAVSPG-DYNMODEL=999999999999999999999999", "a number"), ("CFG-NAVSPG-DYNMODEL=1e300", "0 to 255"),
      ("0x00000001=1", "eight digits"), ("0xzz=1", "eight digits"), ("CFG-NAV5.dynModl=4", "CFG-NAV5.dynModel"),
      ("CFG-NAV5.mask=1", "set automatically"), ("CFG-NAV5=4", "name one of its fields"),
      ("CFG-MSG=1", "CFG-MSG[NAV-PVT]"),
      ("CFG-MSG[NAV-PVT].rate=1", "brackets"), ("CFG-MSG[NAV-PVT].rate=[1,2]", "brackets"),
      ("CFG-NAV5.dynModel=256", "0 to 255"), ("CFG-PRT[300].baudRate=1", "no such setting"),
      ("nonsense=1", "lists all"),
    ])
  func refused(_ text: String, _ cure: String) throws {
    let message = try #require(problem(text), "\(text) was accepted")
    #expect(message.contains(cure), "\(message)")
  }

  /// The search for similar names once took hours for such a line.
  @Test("A line of a megabyte is refused without a search for similar names")
  func longName() {
    let name = String(repeating: "CFG-RATE-", count: 100_000)
    let problem = #expect(throws: ConfigurationFile.Problem.self) {
      try ConfigurationFile("sextant-configuration 1\n\(name) = 1\n")
    }
    #expect(problem?.line == 2 && problem?.reason.contains("did you mean") == false)
  }

  @Test("A mistake in a configuration file is reported with its line")
  func fileProblems() {
    let head = "sextant-configuration 1\n"
    let cases: [(String, Int, String)] = [
      ("", 1, "empty"), ("nothing of ours\n", 1, "first line"),
      ("\n# remark\nsextant-configuration 2\n", 3, "version"),
      (head + "holds half\n", 2, "differences"), (head + "CFG-RATE-MEAS\n", 2, "NAME = VALUE"),
      (head + "\nCFG-RATE-MEES = 1\n", 3, "did you mean"), (head + "CFG-RATE-MEAS = x # y\n", 2, "invalid value"),
      (head + "CFG-RATE-NAV = 1\ncfg-rate-nav = 2\n", 3, "line 2"),
    ]
    for (text, line, reason) in cases {
      do throws(ConfigurationFile.Problem) {
        _ = try ConfigurationFile(text)
        Issue.record("accepted: \(text)")
      } catch {
        #expect(error.line == line, "\(text): \(error)")
        #expect(error.reason.contains(reason), "\(text): \(error)")
      }
    }
  }
}
