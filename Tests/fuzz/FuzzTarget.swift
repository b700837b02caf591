// SPDX-License-Identifier: Apache-2.0

/// A consumer of arbitrary input bytes. Each target is a file in targets/, which states the conditions that every input
/// must satisfy.
///
/// The program of libFuzzer, the one that writes the first inputs, and the test of the stored inputs share it.
enum FuzzTarget: String, CaseIterable {
  case assistnow, bridge, caster, casterserver, command, configuration, control, ephemerides, fixes, geonames, gpsd,
    gpsdreplies
  case messages, nominatim, odometer, page, recording, rtcm3, sentences, service, session, spartn, spartnkeys, state,
    stream, varlink

  /// Traps if a condition is violated.
  func run(_ input: [UInt8]) {
    switch self {
    case .assistnow: fuzzAssistNow(input)
    case .bridge: fuzzBridge(input)
    case .caster: fuzzCaster(input)
    case .casterserver: fuzzCasterServer(input)
    case .command: fuzzCommand(input)
    case .configuration: fuzzConfiguration(input)
    case .control: fuzzControl(input)
    case .ephemerides: fuzzEphemerides(input)
    case .fixes: fuzzFixes(input)
    case .geonames: fuzzGeoNames(input)
    case .gpsd: fuzzGPSD(input)
    case .gpsdreplies: fuzzGPSDReplies(input)
    case .messages: fuzzMessages(input)
    case .nominatim: fuzzNominatim(input)
    case .odometer: fuzzOdometer(input)
    case .page: fuzzPage(input)
    case .recording: fuzzRecording(input)
    case .rtcm3: fuzzRTCM3(input)
    case .sentences: fuzzSentences(input)
    case .service: fuzzService(input)
    case .session: fuzzSession(input)
    case .spartn: fuzzSPARTN(input)
    case .spartnkeys: fuzzSPARTNKeys(input)
    case .state: fuzzState(input)
    case .stream: fuzzStream(input)
    case .varlink: fuzzVarlink(input)
    }
  }

  /// A line of corpus.txt: the target and its input in hexadecimal digits. Nil if the line is not one.
  static func stored(_ line: some StringProtocol) -> (target: FuzzTarget, input: [UInt8])? {
    let words = line.split(separator: " ")
    guard words.count == 2, let target = FuzzTarget(rawValue: String(words[0])), words[1].utf8.count % 2 == 0 else {
      return nil
    }
    var input: [UInt8] = []
    var digits = words[1][...]
    while !digits.isEmpty {
      guard let byte = UInt8(digits.prefix(2), radix: 16) else { return nil }
      input.append(byte)
      digits = digits.dropFirst(2)
    }
    return (target, input)
  }
}
