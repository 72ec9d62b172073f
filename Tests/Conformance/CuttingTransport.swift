import SQLiteCluster
import SQLiteCore
import Synchronization

/// A transport that cuts one of its streams after a random number of messages, so that the
/// transaction on that stream runs again.
///
/// `MAGICDATA_ENGINE=cut swift test` uses it for every database of the shared cluster. It finds
/// closures in tests that rely on running once, which fail only when a node loses its leadership.
final class CuttingTransport: ClusterTransport {
  /// Whether a stream was cut. Only one is: a second cut in the same statement would look as if
  /// that statement crashed the nodes.
  private let hasCut = Mutex(false)

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    CutStream(try SocketTransport().connect(to: address, before: deadline), by: self)
  }

  fileprivate func claimCut() -> Bool {
    hasCut.withLock { hasCut in
      if hasCut { return false }
      hasCut = true
      return true
    }
  }
}

/// A stream that can be cut after a random number of messages.
private final class CutStream: ClusterStream {
  private let stream: any ClusterStream
  private let transport: CuttingTransport
  private var remainingMessages = Int.random(in: 8...80)

  init(_ stream: any ClusterStream, by transport: CuttingTransport) {
    self.stream = stream
    self.transport = transport
  }

  var socketDescriptor: Int32? { stream.socketDescriptor }

  private func countMessage() throws {
    remainingMessages -= 1
    guard remainingMessages == 0, transport.claimCut() else { return }
    stream.close()
    throw SQLiteError(.cannotOpen, "the test cut the stream")
  }

  func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
    try countMessage()
    try stream.send(bytes, before: deadline)
  }

  func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
    try countMessage()
    return try stream.receive(atMost: count, before: deadline)
  }

  func close() { stream.close() }
}
