// SPDX-License-Identifier: Apache-2.0
import Glibc
import Messages
import Testing

@Suite("Parameters of a wrong type")
struct WrongTypesTests {
  @Test(
    "A parameter of a wrong type is refused, and not taken as absent",
    arguments: [
      ("Authorization.SetServices", #""on":false,"user":"1000""#, "user"),
      ("Authorization.SetServices", #""on":false,"user":12.5"#, "user"),
      ("Authorization.SetServices", #""on":false,"user":1e20"#, "user"),
      ("Authorization.SetServices", #""on":false,"user":-1"#, "user"),
      ("Authorization.List", #""user":true"#, "user"), ("Authorization.List", #""user":[]"#, "user"),
      ("Authorization.Set", #""user":{},"name":"a","status":"denied""#, "user"),
      ("Launch.StartEnded", #""unit":"hike.service","failure":1"#, "failure"),
      ("Location.RequestLocation", #""desiredAccuracy":"1""#, "desiredAccuracy"),
      ("Receivers.Lease", #""device":5"#, "device"), ("Receivers.Feed", #""device":["/dev/gps"]"#, "device"),
    ])
  func refused(method: String, parameters: String, name: String) throws {
    let reply = try CalledDaemon().reply(method, parameters)
    #expect(reply["error"] == .string("org.varlink.service.InvalidParameter"))
    #expect(reply["parameters"]?["parameter"] == .string(name))
  }

  @Test("A device of a wrong type is refused for a stream")
  func refusedStream() throws {
    let client = try CalledDaemon().client()
    client.send(#"{"method":"org.sextant.Location.Stream","parameters":{"device":false},"more":true}"#)
    let reply = try #require(try client.replies(1).first)
    #expect(reply["error"] == .string("org.varlink.service.InvalidParameter"))
    #expect(reply["parameters"]?["parameter"] == "device")
  }

  @Test(
    "An absent parameter, null and the number of the caller name the caller",
    arguments: ["", #""user":null"#, nil])
  func absent(parameters: String?) throws {
    let own = #""user":\#(geteuid())"#
    let reply = try CalledDaemon().reply("Authorization.List", parameters ?? own)
    #expect(reply["error"] == nil && reply["parameters"]?["servicesAreOn"] == .bool(true))
  }
}
