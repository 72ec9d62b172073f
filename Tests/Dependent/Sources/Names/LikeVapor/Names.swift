// The names of types in Vapor and Fluent.
public final class Request { public init() {} }
public struct Response { public init() {} }
public protocol Database {}
public protocol Migration {}
public protocol Model {}
