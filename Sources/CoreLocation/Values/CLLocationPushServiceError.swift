// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The domain of errors of location pushes. Apple's text for it is not public.
public let CLLocationPushServiceErrorDomain = "CLLocationPushServiceErrorDomain"

/// An error of location pushes, which only Apple's systems send.
public struct CLLocationPushServiceError: Error, CustomNSError, Hashable, CustomStringConvertible {
  public enum Code: Int, Sendable {
    case unknown = 0
    case missingPushExtension = 1
    case missingPushServerEnvironment = 2
    case missingEntitlement = 3
    case unsupportedPlatform = 4
  }

  public let code: Code
  private let details: ErrorDetails

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    details = ErrorDetails(values: userInfo)
  }

  /// Makes the error of an `NSError`, whose domain is not checked. An unknown code is `unknown`.
  public init(_nsError error: NSError) {
    self.init(Code(rawValue: error.code) ?? .unknown, userInfo: error.userInfo)
  }

  public static var errorDomain: String { CLLocationPushServiceErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var _nsError: NSError { self as NSError }
  public var userInfo: [String: Any] { details.values }
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: text]) { given, _ in given }
  }
  public var localizedDescription: String { errorUserInfo[NSLocalizedDescriptionKey] as? String ?? text }
  public var description: String { "Error Domain=\(Self.errorDomain) Code=\(errorCode) \"\(localizedDescription)\"" }

  public static var unknown: Code { .unknown }
  public static var missingPushExtension: Code { .missingPushExtension }
  public static var missingPushServerEnvironment: Code { .missingPushServerEnvironment }
  public static var missingEntitlement: Code { .missingEntitlement }
  public static var unsupportedPlatform: Code { .unsupportedPlatform }

  public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.details == b.details }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  private var text: String {
    switch code {
    case .unknown: "location pushes do not work"
    case .missingPushExtension: "the program has no extension for location pushes"
    case .missingPushServerEnvironment: "the program has no environment of a push server"
    case .missingEntitlement: "the program may not receive location pushes"
    case .unsupportedPlatform: "this system receives no location pushes; ask for the location instead"
    }
  }
}

extension CLLocationPushServiceError.Code {
  /// For `catch CLLocationPushServiceError.unsupportedPlatform`.
  public static func ~= (code: Self, error: any Error) -> Bool {
    if let error = error as? CLLocationPushServiceError { return error.code == code }
    let error = error as NSError
    return error.domain == CLLocationPushServiceErrorDomain && error.code == code.rawValue
  }
}

/// The extension of a program that Apple's systems start for a location push. Here it is never started.
public protocol CLLocationPushServiceExtension: NSObjectProtocol {
  func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void)
  func serviceExtensionWillTerminate()
}

extension CLLocationPushServiceExtension {
  public func serviceExtensionWillTerminate() {}
}
