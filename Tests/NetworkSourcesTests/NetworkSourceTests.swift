// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import Testing

@Suite("Names of network sources")
struct NetworkSourceTests {
  @Test(
    "A name has a host and a port; gpsd has a standard port, and datagrams need no host",
    arguments: [
      ("tcp://board:5000", NetworkSource.tcp(host: "board", port: 5000)),
      ("tcp://[fe80::1%eth0]:23", .tcp(host: "fe80::1%eth0", port: 23)),
      ("tcp://192.168.1.7:23/", .tcp(host: "192.168.1.7", port: 23)),
      ("udp://:10110", .udp(host: nil, port: 10110)),
      ("udp://239.192.0.1:10110", .udp(host: "239.192.0.1", port: 10110)),
      ("udp://[ff02::1]:10110", .udp(host: "ff02::1", port: 10110)),
      ("gpsd://board", .gpsd(host: "board", port: 2947, device: nil)),
      ("gpsd://board/", .gpsd(host: "board", port: 2947, device: nil)),
      ("gpsd://[::1]:3000/dev/ttyUSB0", .gpsd(host: "::1", port: 3000, device: "/dev/ttyUSB0")),
      ("gpsd://board/tcp://x:1", .gpsd(host: "board", port: 2947, device: "/tcp://x:1")),
    ])
  func names(_ name: String, _ source: NetworkSource) throws {
    #expect(try NetworkSource(name) == source)
  }

  @Test(
    "Other names are not network sources", arguments: ["/dev/ttyUSB0", "tcp:board:5000", "sim:walk", "", "TCP://a:1"])
  func others(_ name: String) throws {
    #expect(try NetworkSource(name) == nil)
  }

  @Test(
    "A name with a mistake is refused with an example",
    arguments: [
      "tcp://", "tcp://board", "tcp://:23", "tcp://board:0", "tcp://board:70000", "tcp://board:x",
      "tcp://board:23/path",
      "tcp://two words:23", "udp://", "udp://board", "gpsd://", "gpsd://:2947", "gpsd://board/dev/\u{7}",
    ])
  func mistakes(_ name: String) {
    #expect(throws: NetworkSource.Mistake.self) { try NetworkSource(name) }
  }

  @Test("Only tcp takes bytes, and no source has a baud rate")
  func capabilities() throws {
    let sources = [
      NetworkSource.tcp(host: "a", port: 1), .udp(host: nil, port: 1), .gpsd(host: "a", port: 1, device: nil),
    ]
    #expect(sources.map(\.capabilities.isWritable) == [true, false, false])
    #expect(sources.map(\.capabilities.hasBaudRate) == [false, false, false])
    #expect(sources.map { $0.refusalToSend == nil } == [true, false, false])
    #expect(sources.map { $0.notice == nil } == [true, false, false])
  }
}
