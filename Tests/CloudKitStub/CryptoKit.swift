// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of CryptoKit that MagicSync uses, without behavior. Nothing is ever run:
// `.ci/checks/cloudkit` only type-checks against this module. The signatures are those of Apple's
// documentation and of swift-crypto, which has the same API.
import Foundation

public struct SymmetricKey: Sendable {
  public init<D: ContiguousBytes>(data: D) {}
}

public enum CryptoKitError: Error {
  case incorrectKeySize, incorrectParameterSize, authenticationFailure
}

public enum AES {
  public enum GCM {
    public struct Nonce: Sendable {}

    public struct SealedBox: Sendable {
      public var combined: Data? { fatalError() }
      public init<D: DataProtocol>(combined: D) throws { fatalError() }
    }

    public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil,
      authenticating authenticatedData: AuthenticatedData
    ) throws -> SealedBox { fatalError() }

    public static func open<AuthenticatedData: DataProtocol>(
      _ sealedBox: SealedBox, using key: SymmetricKey,
      authenticating authenticatedData: AuthenticatedData
    ) throws -> Data { fatalError() }
  }
}
