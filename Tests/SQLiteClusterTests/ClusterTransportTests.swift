import Conformance
import Foundation
import SQLiteCluster
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Streams of a program's own, and what a test's cluster leaves.
@Suite(.enabled(if: TestCluster.isThere, Comment(rawValue: TestCluster.reason)))
struct ClusterTransportTests {
  @Test func `the parts of an answer on a program's own socket are acknowledged at once`() throws {
    let cluster = try TestCluster(count: 1)
    let transport = PlainTransport()
    let database = try cluster.database { $0.transport = transport }
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)")
    try database.write { connection in
      for id in 0..<2_000 {
        try connection.executeChange("INSERT INTO t VALUES (\(id), 'some text in a row')")
      }
    }
    for _ in 0..<5 {
      #expect(try database.executeQuery("SELECT * FROM t").count == 2_000)
    }
    let counts = transport.counts
    #expect(counts.parts > 5)
    #expect(counts.late == 0)
  }

  @Test func `what a killed run of the tests has left is removed by the next one`() throws {
    let folder = try TestFolder()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["true"]
    try process.run()
    process.waitUntilExit()
    let gone = process.processIdentifier
    let own = ProcessInfo.processInfo.processIdentifier
    try folder.write("a", to: "magicdata-cluster-\(gone)-AB-CD/0/a")
    try folder.write("a", to: "magicdata-node-\(gone)")
    let kept = [
      "magicdata-cluster-\(own)-AB-CD", "magicdata-node-\(own)", "magicdata-cluster-AB-CD",
    ]
    for name in kept { try folder.write("a", to: name) }
    TestCluster.removeLeftOvers(in: folder.path)
    #expect(try folder.names() == kept.sorted())
  }
}

/// Streams on sockets of their own, as a library for TLS has.
private final class PlainTransport: ClusterTransport {
  private let state = Mutex((parts: 0, late: 0))

  /// How many parts of answers were received behind the first, and which of them without an acknowledgement of
  /// those before.
  var counts: (parts: Int, late: Int) { state.withLock { $0 } }

  func connect(
    to address: String, before deadline: ContinuousClock.Instant
  ) throws -> any ClusterStream {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    let parts = address.split(separator: ":")
    name.sin_addr.s_addr = unsafe inet_addr(String(parts[0]))
    name.sin_port = (UInt16(parts[1]) ?? 0).bigEndian
    let code = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw SQLiteError(.cannotOpen, "\(address) is away") }
    return Stream(self, descriptor)
  }

  private final class Stream: ClusterStream {
    private let transport: PlainTransport
    private let descriptor: Int32
    private var hasReceived = false

    var socketDescriptor: Int32? { descriptor }

    init(_ transport: PlainTransport, _ descriptor: Int32) {
      self.transport = transport
      self.descriptor = descriptor
    }

    func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws {
      hasReceived = false
      guard unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
      else { throw SQLiteError(.cannotOpen, "the node is away") }
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      if hasReceived {
        var isAtOnce: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &isAtOnce, &size)
        transport.state.withLock { state in
          state.parts += 1
          if isAtOnce == 0 { state.late += 1 }
        }
      }
      hasReceived = true
      var bytes = [UInt8](repeating: 0, count: count)
      let received = unsafe recv(descriptor, &bytes, count, 0)
      guard received >= 0 else { throw SQLiteError(.cannotOpen, "the node is away") }
      return Array(bytes[..<received])
    }

    func close() { _ = Glibc.close(descriptor) }
  }
}
