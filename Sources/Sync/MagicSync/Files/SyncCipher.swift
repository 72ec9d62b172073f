public import Essentials
#if canImport(CryptoKit)
  public import CryptoKit
#endif

/// An authenticated cipher for the files of a ``SyncFolder``.
///
/// MagicSync contains no cryptography. On Apple platforms, `AESSyncCipher` uses
/// CryptoKit. On Linux, implement the protocol with a library of your choice, for example
/// swift-crypto.
public protocol SyncCipher: Sendable {
  /// Encrypts a file's content.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - name: The name of the file, which ``open(_:authenticating:)`` must verify.
  /// - Returns: The encrypted content, with everything but the key that is needed to open it.
  /// - Throws: Any error if the content can't be encrypted. ``Sync/once()`` throws it, too.
  func seal(_ content: Data, authenticating name: Data) throws -> Data

  /// Decrypts a file's content.
  ///
  /// - Parameters:
  ///   - sealed: The encrypted content.
  ///   - name: The name of the file.
  /// - Returns: The content.
  /// - Throws: Any error if the key is wrong, or if the content or the name was altered.
  func open(_ sealed: Data, authenticating name: Data) throws -> Data
}

#if canImport(CryptoKit)
  /// A ``SyncCipher`` with AES-GCM of CryptoKit.
  public struct AESSyncCipher: SyncCipher {
    private let key: SymmetricKey

    /// Creates a cipher.
    ///
    /// - Parameter key: A key of 128, 192 or 256 bits, which all devices share.
    public init(key: SymmetricKey) { self.key = key }

    /// Encrypts a file's content.
    ///
    /// - Parameters:
    ///   - content: The content.
    ///   - name: The name of the file.
    /// - Returns: The nonce, the encrypted content and the tag.
    /// - Throws: An error of CryptoKit.
    public func seal(_ content: Data, authenticating name: Data) throws -> Data {
      guard let sealed = try AES.GCM.seal(content, using: key, authenticating: name).combined else {
        throw CryptoKitError.incorrectParameterSize
      }
      return sealed
    }

    /// Decrypts a file's content.
    ///
    /// - Parameters:
    ///   - sealed: The nonce, the encrypted content and the tag.
    ///   - name: The name of the file.
    /// - Returns: The content.
    /// - Throws: An error of CryptoKit if the key is wrong, or if the content or the name was
    ///   altered.
    public func open(_ sealed: Data, authenticating name: Data) throws -> Data {
      try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: name)
    }
  }
#endif
