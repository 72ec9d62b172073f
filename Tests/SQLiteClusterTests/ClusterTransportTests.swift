import Conformance
import Foundation
import SQLiteCluster
import SQLiteCore
import Synchronization
import Testing
import TestSupport

/// Tests a custom transport and the cleanup of stale test clusters.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterTransportTests {
  @Test func `parts of a response on a custom socket are acknowledged immediately`() throws {
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

  @Test func `stale files of a killed test run are removed by the next run`() throws {
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
    TestCluster.removeOrphanedFiles(in: folder.path)
    #expect(try folder.names() == kept.sorted())
  }
}

/// A transport that opens its own sockets, like a TLS library would.
private final class PlainTransport: ClusterTransport {
  private let state = Mutex((parts: 0, late: 0))

  /// The number of response parts received after a first part, and how many of them were received
  /// while `TCP_QUICKACK` was off.
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
    guard code == 0 else { throw SQLiteError(.cannotOpen, "\(address) is unreachable") }
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
      else { throw SQLiteError(.cannotOpen, "the node is unreachable") }
    }

    func receive(atMost count: Int, before deadline: ContinuousClock.Instant) throws -> [UInt8]? {
      if hasReceived {
        var isQuick: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &isQuick, &size)
        transport.state.withLock { state in
          state.parts += 1
          if isQuick == 0 { state.late += 1 }
        }
      }
      hasReceived = true
      var bytes = [UInt8](repeating: 0, count: count)
      let received = unsafe recv(descriptor, &bytes, count, 0)
      guard received >= 0 else { throw SQLiteError(.cannotOpen, "the node is unreachable") }
      return Array(bytes[..<received])
    }

    func close() { _ = Glibc.close(descriptor) }
  }
}
