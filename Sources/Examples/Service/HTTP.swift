import Foundation
import MagicData

/// An HTTP request, in the form that any server framework can provide.
struct HTTPRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  var method: Method
  /// The path without the query, such as `/acme/orders`.
  var path: String
  var query: [String: String] = [:]
  var headers: [String: String] = [:]
  var body = Data()
}

/// The response to an ``HTTPRequest``.
struct HTTPResponse: Sendable {
  enum Body: Sendable {
    case data(Data)
    /// The body is sent in parts, after the handler has returned. The server requests the next part
    /// when the client can receive more. If the stream throws, the server closes the connection,
    /// because it has already sent the status.
    case stream(AsyncThrowingStream<Data, any Error>)
  }

  var status: Int
  var headers: [String: String] = [:]
  var body = Body.data(Data())

  /// Creates a response without a body.
  init(_ status: Int, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
  }

  /// Creates a response with a JSON body.
  init(_ status: Int, json: some Encodable) throws {
    self.status = status
    headers["Content-Type"] = "application/json"
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    body = .data(try encoder.encode(json))
  }

  /// Creates a response with a body that is sent in parts.
  ///
  /// - Parameters:
  ///   - contentType: The media type of the body.
  ///   - next: Returns the next part, or nil at the end.
  init(_ contentType: String, next: @escaping @Sendable () async throws -> Data?) {
    status = 200
    headers["Content-Type"] = contentType
    body = .stream(AsyncThrowingStream(unfolding: next))
  }
}

/// An error that the service detects, with its status.
struct Refusal: Error {
  var status: Int
  var message: String
  var headers: [String: String] = [:]

  static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message) }

  static func notFound(_ message: String) -> Refusal { Refusal(status: 404, message: message) }

  static func conflict(_ message: String) -> Refusal { Refusal(status: 409, message: message) }

  /// The service can't handle the request now. Clients repeat it after some seconds.
  static func unavailable(_ message: String) -> Refusal {
    Refusal(status: 503, message: message, headers: ["Retry-After": "1"])
  }
}

extension HTTPResponse {
  /// Creates the response to a request that failed.
  ///
  /// The messages of the library's errors name types, tables and paths, which don't concern a
  /// client. Write them to the log instead.
  init(_ error: any Error) {
    switch error {
    case let refusal as Refusal:
      self.init(refusal.status, headers: refusal.headers)
      body = .data(Data(refusal.message.utf8))
    case is DecodingError: self.init(400)
    case MagicError.notFound: self.init(404)
    case MagicError.alreadySaved, MagicError.conflict, MagicError.restricted: self.init(409)
    case MagicError.closed: self.init(503, headers: ["Retry-After": "1"])
    // The client has disconnected, so nobody receives this status. It is for the log.
    case is CancellationError: self.init(499)
    case let error as SQLiteError where error.isTransient:
      self.init(503, headers: ["Retry-After": "1"])
    case let error as SQLiteError:
      switch error.code.primary {
      case .constraint: self.init(409)
      case .interrupt: self.init(504)
      case .full: self.init(507)
      default: self.init(500)
      }
    default: self.init(500)
    }
  }
}
