// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("The nearest mount point of a source table")
struct SourceTableTests {
  private static let lines = """
    CAS;caster.example;2101;x;y;0;DEU;50.00;8.00;0.0.0.0;0;none\r
    STR;FAR;Far;RTCM 3.2;1005(1);2;GPS;n;DEU;52.00;13.00;0;0;x;none;N;N;9600;\r
    STR;RAW;Raw;RAW;x;2;GPS;n;DEU;48.16;11.61;0;0;x;none;N;N;9600;\r
    STR;OLD;Old;RTCM 2.3;x;2;GPS;n;DEU;48.16;11.61;0;0;x;none;N;N;9600;\r
    STR;NEAR;Near;RTCM3.3;1005(1);2;GPS;n;DEU;48.10;11.50;1;0;x;none;B;N;9600;\r
    STR;WEST;West;RTCM 3.3;1005(1);2;GPS;n;PRT;38.70;350.90;0;0;x;none;N;N;9600;\r
    STR;BAD;Bad;RTCM 3.3;1005(1);2;GPS;n;DEU;148.10;11.50;0;0;x;none;B;N;9600;\r
    STR;NAN;Nan;RTCM 3.3;1005(1);2;GPS;n;DEU;nan;11.50;0;0;x;none;B;N;9600;\r
    STR;SHORT;RTCM 3.3\r
    NET;n;x\r
    ENDSOURCETABLE\r
    STR;AFTER;After;RTCM 3.3;1005(1);2;GPS;n;DEU;48.16;11.61;0;0;x;none;N;N;9600;\r

    """

  @Test("The nearest with RTCM 3 is chosen; damaged lines and other formats are not", arguments: [1, 13, 10_000])
  func nearest(piece: Int) throws {
    var table = SourceTable()
    let bytes = Array(Self.lines.utf8)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      table.receive(Array(bytes[start..<min(start + piece, bytes.count)]))
    }
    #expect(table.isComplete && table.entries.map(\.mount) == ["FAR", "NEAR", "WEST"])
    let found = try #require(table.nearest(latitude: 48.1642, longitude: 11.6056))
    #expect(found.entry.mount == "NEAR" && found.entry.needsPosition && (9_000...12_000).contains(found.metres))
    #expect(table.nearest(latitude: 38.7, longitude: -9.1).map { $0.entry.mount == "WEST" && $0.metres < 1 } == true)
    #expect(table.nearest(latitude: 53, longitude: 13)?.entry.mount == "FAR")
    #expect(SourceTable().nearest(latitude: 0, longitude: 0) == nil)
  }

  @Test(
    "The choice by the number of mount points with RTCM 3, and with or without a position",
    arguments: [
      (0, false, "has no mount point with RTCM 3"), (0, true, "has no mount point with RTCM 3"), (1, false, "NEAR nil"),
      (1, true, "NEAR 10 km"), (2, false, "has several mount points"), (2, true, "NEAR 10 km"),
    ])
  func choice(count: Int, hasPosition: Bool, expected: String) {
    let lines = Self.lines.split(separator: "\r\n")
    var table = SourceTable()
    // The lines without RTCM 3 are in each table.
    let near = count > 0 ? [lines[4]] : [], far = count > 1 ? [lines[1]] : []
    table.receive(Array((lines[2...3] + far + near + ["ENDSOURCETABLE"]).joined(separator: "\r\n").utf8))
    table.end()
    var fix = Fix()
    if hasPosition { (fix.latitudeDegrees, fix.longitudeDegrees) = (48.1642, 11.6056) }
    do throws(NTRIPResponse.Refusal) {
      let choice = try table.choice(for: hasPosition ? fix : nil)
      let distance = choice.metres.map { "\(Int($0 / 1000)) km" } ?? "nil"
      #expect("\(choice.entry.mount) \(distance)" == expected)
    } catch {
      #expect(error.text.hasPrefix(expected), "\(error.text)")
    }
  }

  @Test("The only mount point is named without a distance")
  func only() throws {
    let source = try #require(CorrectionSource("ntrip://c/"))
    var selection = CorrectionSelection([source], at: .zero)
    selection.set(needed: true, at: .zero)
    selection.connected(awaitsReply: true, at: .zero)
    selection.chose("ONLY", metres: nil, at: .zero)
    var reports: [String] = []
    while let action = selection.nextAction() { if case .report(let text) = action { reports.append(text) } }
    #expect(reports == ["c:2101/ONLY: the only mount point with RTCM 3"])
  }

  @Test("A caster without a mount point: its table, then the mount point, and each choice is said once")
  func selection() throws {
    let source = try #require(CorrectionSource("ntrip://me:p@c/"))
    #expect(source.choosesMount && CorrectionSource("ntrip://c/M")?.choosesMount == false)
    var selection = CorrectionSelection([source], at: .zero)
    func actions() -> [CorrectionSelection.Action] {
      var list: [CorrectionSelection.Action] = []
      while let action = selection.nextAction() { list.append(action) }
      return list
    }
    selection.set(needed: true, at: .zero)
    #expect(actions() == [.connect(source)])
    selection.connected(awaitsReply: true, at: .zero)
    selection.chose("NEAR", metres: 10_400, at: .zero)
    let mount = try #require(CorrectionSource("ntrip://me:p@c/NEAR"))
    #expect(
      actions() == [
        .disconnect, .connect(mount), .report("c:2101/NEAR: the nearest mount point with RTCM 3, 10 km away"),
      ])
    #expect(selection.active == mount && selection.source == mount && selection.configured == source)
    selection.connected(awaitsReply: true, at: .zero)
    selection.granted(at: .zero)
    selection.received(station: 1, at: .zero + Milliseconds(20_000))
    selection.failed("gone", at: .zero + Milliseconds(21_000))
    _ = actions()
    selection.wake(at: .zero + Milliseconds(30_000))
    #expect(actions() == [.connect(source)])
    selection.connected(awaitsReply: true, at: .zero + Milliseconds(30_000))
    #expect(selection.lastFailure != nil)
    selection.chose("NEAR", metres: 10_500, at: .zero + Milliseconds(30_000))
    #expect(actions() == [.disconnect, .connect(mount)])
    // The choice ends the failure, which may have been the missing position for it.
    #expect(selection.lastFailure == nil)
  }

  @Test(
    "The table of both versions is the stream of its request; a stream instead of a table is refused",
    arguments: [
      ("SOURCETABLE 200 OK\r\nServer: x\r\nContent-Type: text/plain\r\n\r\nSTR;A\r\nENDSOURCETABLE\r\n", true),
      ("HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\nSTR;A\r\nENDSOURCETABLE\r\n", true),
      ("ICY 200 OK\r\n\r\n", false), ("HTTP/1.1 200 OK\r\nContent-Type: gnss/data\r\n\r\n", false),
      ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", false),
    ])
  func replies(text: String, isTable: Bool) {
    var response = NTRIPResponse(isTable: true)
    do throws(NTRIPResponse.Refusal) {
      var stream: [UInt8] = []
      for byte in text.utf8 { stream += try response.receive([byte].raw) }
      #expect(isTable && String(decoding: stream, as: UTF8.self).hasSuffix("STR;A\r\nENDSOURCETABLE\r\n"))
    } catch {
      #expect(!isTable, "\(error.text)")
    }
  }

  @Test("A caster whose table asks for the position gets it at once")
  func position() {
    var fix = Fix()
    (fix.kind, fix.latitudeDegrees, fix.longitudeDegrees) = (.threeD, 48.1, 11.5)
    var position = CasterPosition()
    position.fix = fix
    position.connected(isAsked: true, at: .zero)
    let first = position.sentence(at: .zero)
    #expect(first != nil)
    // 342 ns before midnight, as NAV-PVT gives midnight.
    fix.time = UTCTime(nanosecondsSince1970: 1_773_532_799_999_999_658)
    position.fix = fix
    position.received()
    let early = position.sentence(at: .zero + Milliseconds(9000))
    let next = position.sentence(at: .zero + Milliseconds(10_000))
    #expect(early == nil && String(decoding: next ?? [], as: UTF8.self).hasPrefix("$GPGGA,000000.00,"))
  }
}
