// The names of types in CryptoKit and swift-crypto.
public struct SHA256 { public init() {} }
public struct SHA512 { public init() {} }
public struct SymmetricKey { public init() {} }
public protocol Digest {}
public protocol HashFunction {}
