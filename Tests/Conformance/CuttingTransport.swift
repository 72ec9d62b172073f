import SQLiteCluster
import SQLiteCore
import Synchronization

/// Cuts the first streams of a client after a random number of messages, so that the transactions on them run again.
///
/// `MAGICDATA_ENGINE=cut swift test` uses it for every database of the shared cluster: it finds closures of tests that
/// rely on running once, which they do until a node loses its leadership on a busy machine.
final class CuttingTransport: ClusterTransport {
  private let streams = Mutex((count: 0, random: SystemRandomNumberGenerator()))

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    let life = streams.withLock { streams in
      streams.count += 1
      // The client may run a transaction three times, so that later streams last.
      return streams.count > 4 ? Int.max : Int.random(in: 8...80, using: &streams.random)
    }
    return CutStream(try SocketTransport().connect(to: address, before: deadline), life: life)
  }
}

/// A stream that ends after some messages.
private final class CutStream: ClusterStream {
  private let stream: any ClusterStream
  private var life: Int

  init(_ stream: any ClusterStream, life: Int) {
    self.stream = stream
    self.life = life
  }

  var socketDescriptor: Int32? { stream.socketDescriptor }

  private func spend() throws {
    life -= 1
    guard life <= 0 else { return }
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
