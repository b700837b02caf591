// SPDX-License-Identifier: Apache-2.0
import CSextant

// The functions of `sextant.h` for the service; the header describes them.
//
// `unsafe` because the arguments are C pointers.

@c @implementation
public func sextant_client_init(
  _ memory: UnsafeMutableRawPointer!, _ size: Int, _ handlers: UnsafePointer<sextant_client_handlers>!
) -> OpaquePointer! {
  unsafe Client.make(memory, size, handlers)
}

@c @implementation
public func sextant_client_connect(_ client: OpaquePointer!, _ path: UnsafePointer<CChar>!) -> sextant_client_result {
  guard let at = unsafe Client.at(client), let path = unsafe path else { return SEXTANT_CLIENT_INVALID_ARGUMENT }
  return unsafe at.pointee.connect(path)
}

@c @implementation
public func sextant_client_disconnect(_ client: OpaquePointer!) {
  guard let at = unsafe Client.at(client) else { return }
  unsafe at.pointee.disconnect()
}

@c @implementation
public func sextant_client_descriptor(_ client: OpaquePointer!) -> Int32 {
  guard let at = unsafe Client.at(client) else { return -1 }
  return unsafe at.pointee.descriptor
}

@c @implementation
public func sextant_client_get_status(_ client: OpaquePointer!) -> sextant_client_result {
  guard let at = unsafe Client.at(client) else { return SEXTANT_CLIENT_INVALID_ARGUMENT }
  return unsafe at.pointee.send(.status)
}

@c @implementation
public func sextant_client_request_location(
  _ client: OpaquePointer!, _ desiredAccuracy: Double
) -> sextant_client_result {
  guard let at = unsafe Client.at(client), let accuracy = Distance(desiredAccuracy) else {
    return SEXTANT_CLIENT_INVALID_ARGUMENT
  }
  return unsafe at.pointee.send(.location(accuracy: accuracy.metres))
}

@c @implementation
public func sextant_client_subscribe(
  _ client: OpaquePointer!, _ desiredAccuracy: Double, _ distanceFilter: Double
) -> sextant_client_result {
  guard let at = unsafe Client.at(client), let accuracy = Distance(desiredAccuracy),
    let distance = Distance(distanceFilter)
  else { return SEXTANT_CLIENT_INVALID_ARGUMENT }
  return unsafe at.pointee.send(.subscription(accuracy: accuracy.metres, distance: distance.metres))
}

@c @implementation
public func sextant_client_receive(_ client: OpaquePointer!) -> sextant_client_result {
  guard let at = unsafe Client.at(client) else { return SEXTANT_CLIENT_INVALID_ARGUMENT }
  return unsafe at.pointee.receive()
}

@c @implementation
public func sextant_client_result_text(_ result: sextant_client_result) -> UnsafePointer<CChar>! {
  unsafe UnsafePointer(UnsafeRawPointer(result.text.utf8Start).assumingMemoryBound(to: CChar.self))
}

extension sextant_client_result {
  /// The problem and the next step.
  fileprivate var text: StaticString {
    switch self {
    case SEXTANT_CLIENT_OK: "no error"
    case SEXTANT_CLIENT_INVALID_ARGUMENT: "an argument is not allowed; sextant.h states the range of each"
    case SEXTANT_CLIENT_NOT_CONNECTED: "the client is not connected; call sextant_client_connect"
    case SEXTANT_CLIENT_BUSY: "the client has a call already; use another client beside it"
    case SEXTANT_CLIENT_NO_SERVICE: "no location service at this path; start sextantd, or name its socket"
    case SEXTANT_CLIENT_DISCONNECTED: "the location service has ended the connection; connect again"
    case SEXTANT_CLIENT_SYSTEM_ERROR: "a system call failed; see errno"
    case SEXTANT_CLIENT_BAD_MESSAGE: "the other end does not send org.sextant.Location; check the socket's path"
    case SEXTANT_CLIENT_MESSAGE_TOO_LONG: "a message is longer than the client's memory; give it more"
    case SEXTANT_CLIENT_DENIED: "no permission for locations; see `sextant authorize`"
    case SEXTANT_CLIENT_NOT_DETERMINED:
      "the request for permission waits for its answer; answer it by `sextant authorize allow`"
    case SEXTANT_CLIENT_LOCATION_UNKNOWN: "no location was found in time; see `sextant status`"
    case SEXTANT_CLIENT_NO_RECEIVER: "the location service has no receiver; see `sextant status`"
    case SEXTANT_CLIENT_REFUSED: "the location service does not have this call; update it"
    default: "not a result of libsextant"
    }
  }
}
