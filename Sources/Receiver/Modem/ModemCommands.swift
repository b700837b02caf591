// SPDX-License-Identifier: Apache-2.0

/// The AT commands that switch the GNSS engine of a modem.
public struct ModemCommands: Sendable, Equatable {
  /// Polls the state.
  var poll: String
  /// The start of the reply, which a digit follows: 0 is off.
  var reply: String
  var on: String
  var off: String
  /// Polls the output port of NMEA; nil where it needs no setting.
  var outputPort: String?

  /// The sets of commands of Quectel's modems. Source: ModemManager, mm-shared-quectel.c (QGPS=1, QGPSEND, outport).
  public static let quectel = [
    ModemCommands(
      poll: "AT+QGPS?", reply: "+QGPS:", on: "AT+QGPS=1", off: "AT+QGPSEND", outputPort: "AT+QGPSCFG=\"outport\"")
  ]

  /// The sets of commands of SIMCom's modems, which share USB ids. Sources: ModemManager, mm-shared-simtech.c (CGPS, for
  /// SIM7100 and SIM7600); SIMCom, SIM800 Series GNSS Application Note 1.00 (CGNSPWR, also in SIM7000 and SIM7080).
  public static let simCom = [
    ModemCommands(poll: "AT+CGPS?", reply: "+CGPS:", on: "AT+CGPS=1", off: "AT+CGPS=0"),
    ModemCommands(poll: "AT+CGNSPWR?", reply: "+CGNSPWR:", on: "AT+CGNSPWR=1", off: "AT+CGNSPWR=0"),
  ]

  /// The output port that a program can read.
  static let readablePort = "usbnmea"
  static let outputPortReply = "+QGPSCFG: \"outport\","

  /// Returns the command that sets the output port. `name` is checked by ``ModemState``.
  static func settingOutputPort(_ name: String) -> String { "AT+QGPSCFG=\"outport\",\"\(name)\"" }
}
