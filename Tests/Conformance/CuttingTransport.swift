import SQLiteCluster
import SQLiteCore
import Synchronization

/// Cuts one of a client's streams after a random number of messages, so that the transaction on it runs again.
///
/// `MAGICDATA_ENGINE=cut swift test` uses it for every database of the shared cluster: it finds closures of tests that
/// rely on running once, which they do until a node loses its leadership on a busy machine.
final class CuttingTransport: ClusterTransport {
  /// Whether a stream was cut. A second cut at one statement would look as if that statement stopped the nodes.
  private let hasCut = Mutex(false)

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    CutStream(try SocketTransport().connect(to: address, before: deadline), by: self)
  }

  fileprivate func cutsNow() -> Bool {
    hasCut.withLock { hasCut in
      if hasCut { return false }
      hasCut = true
      return true
    }
  }
}

/// A stream that may end after some messages.
private final class CutStream: ClusterStream {
  private let stream: any ClusterStream
  private let transport: CuttingTransport
  private var life = Int.random(in: 8...80)

  init(_ stream: any ClusterStream, by transport: CuttingTransport) {
    self.stream = stream
    self.transport = transport
  }

  var socketDescriptor: Int32? { stream.socketDescriptor }

  private func spend() throws {
    life -= 1
    guard life == 0, transport.cutsNow() else { return }
    stream.close()
    throw SQLiteError(.cannotOpen, "the test has cut the stream")
  }

  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
    try spend()
    try stream.send(bytes, before: deadline)
  }

  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
    try spend()
    return try stream.receive(atMost: count, before: deadline)
  }

  func close() { stream.close() }
}
