// The names of types in CryptoKit and swift-crypto.
package struct SHA256 { package init() {} }
package struct SHA512 { package init() {} }
package struct SymmetricKey { package init() {} }
package protocol Digest {}
package protocol HashFunction {}
