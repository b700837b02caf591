// SPDX-License-Identifier: Apache-2.0

// Writes the first inputs of the fuzz targets: from the project's own encoders, and from the lines of corpus.txt on standard input:
// seeds FOLDER < corpus.txt
import Glibc
import Messages
import MonotonicTime
import NMEA
import Positioning
import RTCM3
import Receiver
import ReceiverSimulator
import UBX

@main
enum Seeds {
  static func main() throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: seeds FOLDER") }
    let folder = CommandLine.arguments[1]
    for target in FuzzTarget.allCases { _ = mkdir("\(folder)/\(target.rawValue)", 0o777) }
    stored(folder)
    receiver(folder)
    messages(folder)
    sentences(folder)
    rtcm3(folder)
    spartn(folder)
    spartnKeys(folder)
    configuration(folder)
    gpsd(folder)
    varlink(folder)
    service(folder)
    geocoding(folder)
    session(folder)
    assistNow(folder)
    odometer(folder)
    bridge(folder)
    caster(folder)
    casterServer(folder)
    command(folder)
    recording(folder)
    state(folder)
    page(folder)
  }

  /// The negotiation of a client of RFC 2217, its rate, and data.
  private static func bridge(_ folder: String) {
    let negotiation: [UInt8] = [255, 253, 44, 255, 251, 44]
    let telnet: [UInt8] = negotiation + [255, 250, 44, 1, 0, 0, 0x25, 0x80, 255, 240, 0x24, 255, 255, 0x0A]
    write([0, 7] + telnet, "\(folder)/bridge/telnet")
    write([0, 1] + [255, 0xB5, 0x62, 255], "\(folder)/bridge/plain")
  }

  /// Predictions of a day, plain and as a response, and the lines of the configuration.
  private static func assistNow(_ folder: String) {
    var body: [UInt8] = []
    for number: UInt8 in 1...9 {
      let head: [UInt8] = [0, 0, number, 0, 26, 5, 28]
      body += frameBytes(MessageIdentity(0x13, 0x20), head + [UInt8](repeating: number, count: 69))
    }
    write([3] + body, "\(folder)/assistnow/frames")
    write(
      [0] + Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body, "\(folder)/assistnow/http")
    let chunks = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n54\r\n".utf8) + body.prefix(84)
    write([0] + chunks + Array("\r\n0\r\n\r\n".utf8), "\(folder)/assistnow/chunks")
    write([2] + Array("MDEyMzQ1Njc4OUFCOnNlY3JldDEy, 14 days".utf8), "\(folder)/assistnow/line")
    write([1] + Array("sextant-predictions 1\nend\n".utf8), "\(folder)/assistnow/file")
  }

  /// A line with a speed and ticks, and a frame of CAN with a signal.
  private static func odometer(_ folder: String) {
    let line = #"{"speed":-13.9,"ticks":81234,"rearLeft":1,"backward":1,"milliseconds":40210}"#
    write([0] + Array(line.utf8), "\(folder)/odometer/line")
    let frame: [UInt8] = [0x23, 1, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    write([1] + frame + Array("24|16@1-(0.01,0)".utf8), "\(folder)/odometer/intel")
    write([1] + frame + Array("7|16@0+".utf8), "\(folder)/odometer/motorola")
  }

  private static func stored(_ folder: String) {
    var number = 0
    while let line = readLine() {
      guard let stored = FuzzTarget.stored(line) else { fatalError("no input: \(line)") }
      write(stored.input, "\(folder)/\(stored.target.rawValue)/stored-\(number)")
      number += 1
    }
  }

  private static func page(_ folder: String) {
    let requests = [
      "GET / HTTP/1.1\r\nHost: 127.0.0.1:2950\r\n\r\n",
      "GET /events?open=UBX-NAV-PVT%2CX HTTP/1.1\r\nHost: [::1]\r\nOrigin: http://[::1]\r\n\r\n",
      "POST /control HTTP/1.0\r\nHost: localhost\r\nX-Sextant-Token: 0123\r\nContent-Length: 2\r\n\r\n{}",
    ]
    for (number, request) in requests.enumerated() { write([7] + Array(request.utf8), "\(folder)/page/\(number)") }
  }

  /// Epochs a second apart, and the replies of a receiver to the first polls.
  private static func session(_ folder: String) {
    let identity = Array("EXT CORE 1.00 (000000)".utf8) + [UInt8](repeating: 0, count: 8) + Array("00190000".utf8)
    let version = [0x0A, 0x04] + identity + [0, 0] + Array("PROTVER=27.31".utf8) + [UInt8](repeating: 0, count: 17)
    for choice: UInt8 in [0, 1, 2, 9, 45, 66] {
      var input = [choice]
      for epoch in VirtualLine.recording(startUTCSeconds: 1_764_547_200, seconds: 3) {
        let piece = epoch.prefix(255)
        input += [UInt8(piece.count), 31, 0] + piece
        input += [UInt8(version.count), 3, 1] + version + [4, 1, 1, 5, 1, 6, 0x8A]
      }
      write(input, "\(folder)/session/\(choice)")
    }
  }

  private static func caster(_ folder: String) {
    let frame = framed([0x3E, 0xD0, 0, 0])
    let chunk = Array("\(String(frame.count, radix: 16))\r\n".utf8) + frame + Array("\r\n0\r\n\r\n".utf8)
    write([0, 5] + Array("ICY 200 OK\r\n\r\n".utf8) + frame, "\(folder)/caster/1")
    let chunked = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    write([0, 9] + chunked + chunk, "\(folder)/caster/2")
    write([0, 2] + Array("HTTP/1.1 401 Unauthorized\r\n\r\n".utf8), "\(folder)/caster/refused")
    write([0, 2] + Array("SOURCETABLE 200 OK\r\n\r\nENDSOURCETABLE\r\n".utf8), "\(folder)/caster/table")
  }

  private static func casterServer(_ folder: String) {
    let host = "Host: b\r\nUser-Agent: NTRIP x\r\n"
    let texts = [
      "GET /BASE HTTP/1.1\r\n\(host)Ntrip-Version: Ntrip/2.0\r\nAuthorization: Basic bWU6c2VjcmV0\r\n\r\n$GPGGA,,*00\r\n",
      "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP x\r\n\r\n", "GET /?STR;;;RTCM HTTP/1.1\r\n\(host)\r\n",
      "GET http://b/NONE HTTP/1.1\r\n\(host)Ntrip-Version: Ntrip/2.0\r\n\r\n", "SOURCE secret /BASE\r\n\r\n",
      "POST /BASE HTTP/1.1\r\n\(host)\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n",
      "ERROR - Bad Password\r\n", "HTTP/1.1 409 Conflict\r\n\r\n",
      "STR;A;A;RTCM 3.3;1005(1);2;GPS;n;DEU;48.16;11.61;1;0;x;none;N;N;9600;\r\nENDSOURCETABLE\r\n",
    ]
    for (number, text) in texts.enumerated() { write([0, 9] + Array(text.utf8), "\(folder)/casterserver/\(number)") }
  }

  private static func recording(_ folder: String) {
    var writer = RecordingWriter()
    for (second, epoch) in VirtualLine.recording(startUTCSeconds: 1_764_547_200, seconds: 2).enumerated() {
      let arrival = Arrival(Instant(nanoseconds: UInt64(second) * 1_000_000_000), utcNanoseconds: 0)
      if second == 0 {
        _ = writer.add(.header, text: RecordingHeader(device: "seed", baud: 9600).text, arrival)
        _ = writer.add(rate: 9600, arrival)
      }
      _ = writer.add(.data, epoch.raw, arrival)
    }
    let bytes = [0, 40] + copy(writer.pending)
    write(bytes, "\(folder)/recording/whole")
    write(bytes.dropLast(9), "\(folder)/recording/torn")
    for nanoseconds in [UInt64.max, 0, 1 << 63, .max] {
      _ = writer.add(.data, [UInt8(0x24)].raw, Arrival(Instant(nanoseconds: nanoseconds), utcNanoseconds: .max))
    }
    write([0, 40] + copy(writer.pending), "\(folder)/recording/times")
  }

  private static func state(_ folder: String) {
    let texts = [
      "\0rate 115200 without 3 found 9600", "\u{1}of chip 1\nkept 1 3\n",
      "\u{2}sextant-assistance 1\nreceiver chip\nplace 47.1 8.5 400.0 3.0 1764547200\ndatabase 1764547200 1\n1380 0102\nend\n",
      "\u{3}receiver chip\n", "\u{4}sextant-configuration 1\nholds differences\nCFG-NAVSPG-DYNMODEL = 4\n",
      "\u{5}start 47.1 8.5\nstay 5min\nwalk 100m\n",
    ]
    for (number, text) in texts.enumerated() { write(text.utf8, "\(folder)/state/\(number)") }
  }

  /// Epochs of the built-in receiver, as the whole stream and, sentence by sentence, as contents.
  private static func receiver(_ folder: String) {
    var stream: [UInt8] = []
    for (second, epoch) in VirtualLine.recording(startUTCSeconds: 1_764_547_200, seconds: 8).enumerated() {
      stream += epoch
      write(epoch, "\(folder)/fixes/epoch-\(second)")
      write([1, UInt8(second) * 16] + epoch, "\(folder)/stream/epoch-\(second)")
    }
    write(stream, "\(folder)/fixes/epochs")
    let mixed = stream.prefix(900) + Self.frames.flatMap(\.self)
    write([2, 0] + mixed, "\(folder)/stream/mixed")
    for (number, frame) in Self.frames.enumerated() { write([0, 3] + frame, "\(folder)/stream/frame-\(number)") }
  }

  /// One frame of each protocol, and near misses.
  private static var frames: [[UInt8]] {
    [
      sentence("GNTXT,01,01,02,hello".utf8), ubx(0x05, 0x01, [0x06, 0x8A]), framed([0x3E, 0xD0, 0, 0]),
      Array("$GPGGA,1,2,3*00\r\n$GPRMC\r\n$$!AIVDM".utf8), [0xB5, 0x62, 0x01, 0x07, 0xFF, 0xFF], [0xD3, 0x03, 0xFF],
    ]
  }

  /// Each layout, its payload zeros but for the bytes that distinguish versions, as short as possible, and with counts
  /// of one and room for that round.
  private static func messages(_ folder: String) {
    for (number, layout) in MessageLayout.all.enumerated() {
      var length = layout.minimumLength
      for condition in layout.conditions {
        if case .length(let exact) = condition { length = exact }
      }
      var payload = [UInt8](repeating: 0, count: length)
      for condition in layout.conditions {
        if case .byte(let offset, let value) = condition, offset < length { payload[offset] = value }
      }
      let identity = [layout.identity.messageClass, layout.identity.messageID]
      write(identity + payload, "\(folder)/messages/\(number)")
      let frame = ubx(identity[0], identity[1], payload)
      if number % 4 == 0 { write(frame + frame, "\(folder)/fixes/message-\(number)") }
      guard layout.items.contains(where: { if case .group = $0 { true } else { false } }) else { continue }
      let counted = payload.map { $0 == 0 ? 1 : $0 } + [UInt8](repeating: 1, count: 64)
      write(identity + counted, "\(folder)/messages/\(number)-repeated")
    }
  }

  /// Contents of every kind of sentence.
  private static func sentences(_ folder: String) {
    for (number, content) in contents.enumerated() {
      write(Array(content.utf8), "\(folder)/sentences/\(number)")
      write(sentence(content.utf8) + sentence(content.utf8), "\(folder)/fixes/sentence-\(number)")
    }
  }

  private static let contents = [
    "GPGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,0.5,0001",
    "GNRMC,083559.00,A,4717.11437,N,00833.91522,W,0.004,77.52,091202,1.5,E,A,V",
    "GPGSV,3,1,10,23,38,230,44,29,71,156,47,07,29,116,41,08,09,081,36,7",
    "GNGSA,A,3,80,71,73,79,69,,,,,,,,1.83,1.09,1.47,2",
    "GPVTG,77.52,T,,M,0.004,N,0.008,K,A", "GPGLL,4717.11364,S,00833.91565,E,092321.00,A,A",
    "GNGNS,103600.01,5114.51176,N,00012.29380,W,ANNN,07,1.18,111.5,45.6,1.5,0002,V",
    "GPZDA,082710.00,16,09,2002,-05,30",
    "GPGST,082356.00,1.8,2.5,1.3,45.2,1.7,1.3,2.2", "GPGBS,235503.00,1.6,1.4,3.2,23,,-21.4,3.8,1,0",
    "GNGRS,104148.00,1,2.6,2.2,-1.6,-1.1,-1.7,-1.5,5.8,1.7,,,,,1,1", "GPDTM,W84,A,0.08,N,0.07,E,-47.7,W84",
    "GPHDT,123.456,T", "HCHDG,98.3,0.6,E,12.6,W", "HCHDM,98.3,M", "GNTHS,77.52,E", "TIROT,-12.5,A",
    "VWVBW,1.2,-0.3,A,1.1,0.2,A,0.1,A,0.2,V", "VWVHW,45.0,T,43.2,M,5.1,N,9.4,K", "GPVLW,1.1,N,2.2,N,3.3,N,4.4,N",
    "SDDPT,12.3,-0.5,100", "SDDBT,40.3,f,12.3,M,6.7,F", "YXMTW,17.8,C", "WIMWD,270.0,T,268.3,M,10.2,N,5.2,M",
    "WIMWV,214.8,R,0.1,K,A", "YXXDR,C,19.5,C,TEMP,P,1.02,B,BARO,A,-3.2,D,PITCH",
    "GPRLM,00000078A9FBAD5,083559.00,3,C45B", "GPTXT,01,01,02,u-blox ag - www.u-blox.com",
    "PUBX,00,081350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52,0.007,,0.92,1.19,0.77,9,0,0",
    "PUBX,03,02,23,-,,,45,010,29,U,312,05,47,064", "PUBX,04,073731.00,091202,113851.00,1196,15D,1930035,-2660.664,43,",
    "PUBX,40,GLL,1,0,0,0,0,0", "PUBX,41,1,0007,0003,19200,0", "PGRMV,0.1,-0.2,0.3", "PGRME,15.0,M,45.0,M,25.0,M",
    "PGRMF,290,293895,160305,093802,13,5213.1439,N,02100.6511,E,A,2,0,226,2,1",
    "PQTMEPE,2,1.2,0.9,2.6,1.5,3.0",
    "PSTI,030,033010.000,A,2447.0895508,N,12100.5234656,E,94.615,0.00,-0.01,0.04,111219,R,0.999,3.724",
  ]

  /// Payloads that start with the number of each message that is read, and are long enough for it.
  private static func rtcm3(_ folder: String) {
    let systems = [107, 108, 109, 110, 111, 112, 113].flatMap { first in (1...7).map { first * 10 + $0 } }
    for number in [1005, 1006, 1007, 1008, 1033, 1230, 4072] + systems {
      var payload = [UInt8(number >> 4), UInt8(number << 4 & 0xF0)]
      payload += (0..<60).map { UInt8(truncatingIfNeeded: $0 % 7 == 0 ? 5 : 0) }
      write(payload, "\(folder)/rtcm3/\(number)")
      write([0, 9] + framed(payload), "\(folder)/stream/rtcm3-\(number)")
    }
  }

  /// A file of keys, and a reply of a receiver that has them.
  private static func spartnKeys(_ folder: String) {
    let key = String(repeating: "5A", count: 16)
    write([0] + Array("# keys\n\(key) 2446 302418\n\(key) 2450 302418 2454 302418\n".utf8), "\(folder)/spartnkeys/file")
    let heads: [UInt8] = [1, 2, 0, 0, 0, 16, 0x60, 9, 0, 0, 0, 0, 0, 16, 0x64, 9, 0, 0, 0, 0]
    write([1] + heads + [UInt8](repeating: 0x5A, count: 32), "\(folder)/spartnkeys/reply")
  }

  /// Frames of each check, with both kinds of time, with and without encryption and authentication.
  private static func spartn(_ folder: String) {
    let encryption = SPARTNHeader.Encryption(
      keyID: 1, sequence: 2, authenticationIndicator: 2, authenticationLength: 0)
    for check in MessageCheck.allCases {
      let plain = SPARTNHeader(messageType: 0, subtype: 1, check: check, time: .ofHalfDay(4711))
      let encrypted = SPARTNHeader(
        messageType: 120, subtype: 15, check: check, time: .since2010(500_000_000), encryption: encryption)
      let short = framed(plain, [1, 2, 3], [])
      let long = framed(encrypted, [UInt8](repeating: 0x73, count: 40), [UInt8](repeating: 0, count: 8))
      for (name, frame) in [("short", short), ("long", long)] {
        write(frame, "\(folder)/spartn/\(check)-\(name)")
        write([0, 6] + frame + frame, "\(folder)/stream/spartn-\(check)-\(name)")
      }
    }
  }

  /// Lists of eight items of the database each.
  private static func configuration(_ folder: String) {
    let items = ConfigurationItem.all
    for start in stride(from: 0, to: items.count, by: 40) {
      var list: [UInt8] = []
      for item in items[start..<min(start + 8, items.count)] {
        for shift in stride(from: 0 as UInt32, to: 32, by: 8) { list.append(UInt8(item.id >> shift & 0xFF)) }
        list += [UInt8](repeating: 1, count: configurationValueSize(item.id) ?? 0)
      }
      write(list, "\(folder)/configuration/\(start)")
    }
  }

  /// Requests of gpsd's clients, and commands of its control socket.
  private static func gpsd(_ folder: String) {
    let requests = [
      "?VERSION;?DEVICES;?POLL;", "?WATCH={\"enable\":true,\"json\":true,\"sextant\":{\"interval\":60}};",
      "?WATCH={\"raw\":2,\"device\":\"/dev/ttyACM0\"}\r\n", "?DEVICE={\"bps\":9600,\"hexdata\":\"b562\"}\n",
      "POST / HTTP/1.1\r\n",
    ]
    for (number, request) in requests.enumerated() { write([3] + request.utf8, "\(folder)/gpsd/\(number)") }
    let commands = [
      "+/dev/ttyACM0\n-/dev/ttyACM0\r\n?devices\n", "!/dev/ttyACM0=$PUBX,40,GLL,0,0,0,0,0,0\n",
      "&/dev/ttyACM0=b5620a0400000e34\n",
    ]
    for (number, command) in commands.enumerated() { write([3] + command.utf8, "\(folder)/control/\(number)") }
    let replies = [
      #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"#,
      #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyACM0","activated":0}]}"#,
      #"{"class":"WATCH","enable":true,"raw":2,"device":"/dev/ttyACM0"}"#, "$GPGGA,,,,,,0,,,,,,,,*66",
      #"{"class":"ERROR","message":"No such device as '/dev/ttyACM0'"}"#,
    ]
    let orders = [[0, 1, 2, 3], [0, 1, 4], [0, 4], [4], [0, 1, 3, 2, 3]]
    for (number, order) in orders.enumerated() {
      write([8 + UInt8(number)] + order.map { replies[$0] + "\r\n" }.joined().utf8, "\(folder)/gpsdreplies/\(number)")
    }
  }

  /// A dialogue of calls and replies, an upgrade, and JSON of all kinds; the first byte is the size of the pieces.
  private static func varlink(_ folder: String) {
    let values = #"{"a":[null,true,-1,2.5e-3,"\"\\\u00e9\ud83d\udef0é水\n"],"b":{"c":{}},"d":[[[]]]}"#
    let calls = [
      #"{"method":"org.varlink.service.GetInfo"}"#,
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.sextant.Location"}}"#,
      #"{"method":"org.sextant.Location.Subscribe","parameters":\#(values),"more":true}"#,
      #"{"method":"org.sextant.Location.GetStatus","oneway":true}"#,
      #"{"method":"org.sextant.CoreLocation.Open","upgrade":true}"#, values,
    ]
    let replies = [
      #"{"parameters":\#(values),"continues":true}"#, #"{"parameters":{}}"#, #"{"error":"a.B","parameters":{"c":1}}"#,
    ]
    for (number, messages) in ([calls, replies] + calls.map { [$0] }).enumerated() {
      let bytes = Array(messages.map { Array($0.utf8) + [0] }.joined())
      write([7] + bytes, "\(folder)/varlink/\(number)")
    }
  }

  /// Messages of a program to the location service, in the form that a program sends.
  private static func service(_ folder: String) {
    let circle = Region(
      "r", .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)))
    let calls: [ClientCall] = [
      .setDelegate([.takesLocations, .takesErrors]), .startUpdatingLocation, .requestLocation,
      .setDistanceFilter(metres: 10),
      .setDesiredAccuracy(metres: 100), .allowDeferredUpdates(metres: 1000, seconds: 60), .disallowDeferredUpdates,
      .startSignificantChanges, .startVisits, .startHeading, .startMonitoring(circle), .requestState(circle),
      .stopMonitoring(circle), .requestWhenInUse, .requestAlways, .requestTemporaryFullAccuracy(purpose: "p", token: 1),
      .startRanging(.region(circle)), .setActivity(.fitness), .setPausesAutomatically(true), .stopUpdatingLocation,
    ]
    let others: [ClientAction] = [
      .beginLiveUpdates(1, .standard), .beginSession(1, goal: .always, fullAccuracyPurpose: "p"),
      .beginBackgroundActivity(1),
      .openMonitor("m"), .addCondition(circle.shape, identifier: "c", assuming: .unknown, monitor: "m"),
      .removeCondition("c", monitor: "m"), .application(.background), .refreshNewest, .refreshHostCapabilities,
      .resumeManager(
        1, ClientResumption(services: StartedServices(), status: .authorizedAlways, accuracy: .full, settings: calls)),
      .endLiveUpdates(1), .endSession(1), .endBackgroundActivity(1), .removeManager(0),
    ]
    var all: [UInt8] = [1]
    for (number, action) in ([.addManager(0)] + calls.map { .call(manager: 0, $0) } + others).enumerated() {
      guard let json = try? JSON(encoding: ClientMessage(number: number + 1, action)) else { continue }
      var text: [UInt8] = []
      try? json.write(to: &text)
      all += text + [0]
      write([1] + text + [0], "\(folder)/service/message-\(number)")
    }
    write(all, "\(folder)/service/all")
  }

  /// Lines of an extract with the names of its states, and answers of a server.
  private static func command(_ folder: String) {
    let yard = #"{"_type":"waypoint","desc":"yard","lat":48.1,"lon":11.6,"rad":150,"tst":1700000000}"#
    let row = #"{"number":1,"name":"yard","latitude":48.1,"longitude":11.6,"radius":150,"made":7,"set":true}"#
    let texts = [
      #"{"_type":"cmd","action":"reportLocation"}"#, #"{"_type":"cmd","action":"clearWaypoints"}"#,
      #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(yard)]}}"#,
      #"{"_type":"cmd","action":"setConfiguration","configuration":{"locatorInterval":10,"locatorDisplacement":50}}"#,
      #"{"regions":[\#(row)]}"#,
    ]
    for (number, text) in texts.enumerated() { write(text.utf8, "\(folder)/command/\(number)") }
  }

  private static func geocoding(_ folder: String) {
    let town = "1\tTown\tTown\tStadt,Ville\t48.1\t11.5\tP\tPPL\tCC\t\t02\t091\t\t\t1000\t\t500\tEurope/Berlin\t\n"
    let part = "2\tPart\tPart\t\t48.10001\t-179.99\tP\tPPLX\tCC\t\t02\t\t\t\t0\t\t\t\t\n"
    let pole = "3\tPole\tPole\t\t-90\t180\tP\tPPL\t\t\t\t\t\t\t\t\t\t\t\n"
    let names = "CC.02\tState\tState\t1\nCC.02.091\tCounty\tCounty\t2\n"
    for (number, text) in [town, part + town, town + pole + names].enumerated() {
      write(text.utf8, "\(folder)/geonames/\(number)")
    }
    let address = #""house_number":"8","road":"Street","city":"Town","postcode":"1","country":"C","country_code":"cc""#
    let house =
      #"{"lat":"48.1","lon":"11.5","category":"tourism","type":"museum","name":"Tower","#
      + #""boundingbox":["48.0","48.2","11.4","11.6"],"address":{\#(address)}}"#
    let answers = [house, "[\(house),\(house)]", "[]", #"{"error":"Unable to geocode"}"#, #"{"error":{"code":400}}"#]
    for (number, answer) in answers.enumerated() { write(answer.utf8, "\(folder)/nominatim/\(number)") }
  }

  private static func write(_ bytes: some Sequence<UInt8>, _ path: String) {
    let bytes = Array(bytes)
    guard let file = unsafe fopen(path, "wb") else { fatalError("\(path) cannot be written") }
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, count == bytes.count else { fatalError("\(path) is not whole") }
  }
}
