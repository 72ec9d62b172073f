import Foundation
package import SQLiteCluster
package import SQLiteCore
import Synchronization

/// A cluster of real nodes on the loopback interface. Each node is a process that runs
/// `Fixture/node.c`, which is compiled on first use.
package final class TestCluster: Sendable {
  /// A node's process. It exits when its standard input is closed, at the latest when this process
  /// exits.
  private struct Node {
    let id: UInt64
    let address: String
    /// The address at which the node listens, if its public address is a proxy.
    let ownAddress: String?
    let folder: String
    var process: pid_t?
    /// Whether the process received a request to transfer its leadership.
    var hasTransferredLeadership = false
    /// The exit status and last output of a process that exited by itself, otherwise nil.
    var ending: String?
    /// The writing end of the pipe to the process's standard input.
    var input: Int32 = -1
    /// The reading end of the pipe from the process's standard output.
    var output: Int32 = -1

    var log: String {
      let text = (try? String(contentsOfFile: folder + ".log", encoding: .utf8)) ?? ""
      return String(text.suffix(2_000))
    }
  }

  /// The folder for files of nodes and tests. It is removed together with the cluster.
  package let folder: String
  private let nodes: Mutex<[Node]>
  package let addresses: [String]
  /// The network between the nodes, if it can be cut.
  package let network: TestNetwork?

  /// The path of the compiled node program, or nil if `libdqlite-dev` or a C compiler is missing.
  static let program: String? = {
    guard FileManager.default.fileExists(atPath: "/usr/include/dqlite.h") else { return nil }
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixture/node.c").path(percentEncoded: false)
    for place in places { removeOrphanedFiles(in: place) }
    // Static clusters live until the process exits, and their `deinit` never runs.
    atexit {
      for place in TestCluster.places {
        TestCluster.removeOrphanedFiles(in: place, ofThisProcess: true)
      }
    }
    let program = "\(places[0])/\(programPrefix)\(ProcessInfo.processInfo.processIdentifier)"
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["cc", source, "-ldqlite", "-o", program]
    guard (try? compiler.run()) != nil else { return nil }
    compiler.waitUntilExit()
    return compiler.terminationStatus == 0 ? program : nil
  }()

  package static let isAvailable = {
    if program == nil { ConformanceReport.recordMissingCluster() }
    return program != nil
  }()
  package static let reason = "a real cluster requires libdqlite-dev and a C compiler"

  /// The cluster that all suites with `.everyEngine` share.
  package static let shared: Result<TestCluster, any Error> = Result { try TestCluster() }

  /// The folders for the program and for the clusters: the temporary folder, and a folder in memory
  /// if the system has one. No test simulates a power failure, so a cluster's files don't need to
  /// reach a disk.
  private static let places = {
    let memory = ProcessInfo.processInfo.environment["MAGICDATA_TEST_MEMORY"] ?? "/dev/shm"
    return [
      NSTemporaryDirectory(),
      FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory(),
    ]
  }()

  /// Starts `count` nodes and makes all of them voters.
  ///
  /// - Parameters:
  ///   - count: The number of nodes.
  ///   - hasNetwork: Whether proxies connect the nodes with each other and with clients.
  package init(count: Int = 3, hasNetwork: Bool = false) throws {
    let process = ProcessInfo.processInfo.processIdentifier
    folder = "\(TestCluster.places[1])/\(TestCluster.prefix)\(process)-\(UUID().uuidString)"
    let ids = (0..<count).map { $0 == 0 ? TestCluster.firstID : UInt64($0 + 1) }
    network = hasNetwork ? try TestNetwork(ids: ids) : nil
    var initialNodes: [Node] = []
    for (index, id) in ids.enumerated() {
      let path = folder + "/\(index)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let own = try TestCluster.freeAddress()
      let proxy = network?.addresses[index]
      initialNodes.append(
        Node(id: id, address: proxy ?? own, ownAddress: proxy == nil ? nil : own, folder: path))
      network?.connect(index, to: own)
    }
    addresses = initialNodes.map(\.address)
    nodes = Mutex(initialNodes)
    for index in 0..<count { try start(index) }
    let end = ContinuousClock.now + .seconds(60)
    var isWhole = false
    while !isWhole {
      do {
        try atLeader { try makeVoters(initialNodes.dropFirst(), $0) }
        isWhole = true
      } catch let error as SQLiteError where error.isLeaderLoss && .now < end {
        // On a busy machine, another node may have been elected in the meantime.
      }
    }
  }

  private func makeVoters(_ nodes: ArraySlice<Node>, _ leader: NodeConnection) throws {
    let present = try leader.nodes(before: .now + .seconds(20))
    for node in nodes {
      let role = present.first { $0.id == node.id }?.role
      if role == nil {
        var add = Request(.add)
        add.append(node.id)
        try add.append(node.address, named: "an address")
        _ = try leader.call(add, .empty)
      }
      guard role != .voter else { continue }
      var assign = Request(.assign)
      assign.append(node.id)
      assign.append(0)
      _ = try leader.call(assign, .empty)
    }
  }

  deinit { end() }

  private static let prefix = "magicdata-cluster-"
  private static let programPrefix = "magicdata-node-"

  /// Removes the files of processes that were killed, and kills their nodes: a node that was
  /// stopped by a signal doesn't exit by itself.
  ///
  /// - Parameters:
  ///   - place: The folder that contains the files.
  ///   - isOwn: Whether to remove the files of this process, which is exiting, instead.
  package static func removeOrphanedFiles(in place: String, ofThisProcess isOwn: Bool = false) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
      guard let prefix = [prefix, programPrefix].first(where: { name.hasPrefix($0) }),
        let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }
        ), isOwn ? process == getpid() : kill(process, 0) != 0 && errno == ESRCH
      else { continue }
      for node in nodes(in: "\(place)/\(name)/") { kill(node, SIGKILL) }
      for _ in 0..<1_000 where FileManager.default.fileExists(atPath: "\(place)/\(name)") {
        // A node that is exiting may still create a file.
        if (try? FileManager.default.removeItem(atPath: "\(place)/\(name)")) == nil {
          usleep(1_000)
        }
      }
    }
  }

  /// Returns the node processes that have a path starting with `folder` in their command line.
  private static func nodes(in folder: String) -> [pid_t] {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { pid_t($0) }.filter { process in
      let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return String(decoding: line, as: UTF8.self).split(separator: "\0").contains {
        $0.hasPrefix(folder)
      }
    }
  }

  private func end() {
    nodes.withLock { nodes in
      for index in nodes.indices { TestCluster.end(&nodes[index]) }
    }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The ID that dqlite requires of the node that bootstraps a cluster.
  private static let firstID: UInt64 = 0x2dc1_7185_8c31_55be

  /// A loopback address that only this process uses. A node that was killed finds its port free
  /// when it restarts, and no client reaches a node of another test run.
  static let host: String = {
    let process = Int(getpid())
    return "127.\(1 + process >> 16 & 0x3f).\(process >> 8 & 255).\(process & 255)"
  }()

  private static let portCount = Mutex(10_000)

  /// Returns an address that no node has used before, below the system's ephemeral ports.
  private static func freeAddress() throws -> String {
    while true {
      let port = portCount.withLock { count in
        count += 1
        return count
      }
      guard port < 30_000 else { throw SQLiteError(.cannotOpen, "no port is free") }
      if isFree(UInt16(port)) { return "\(host):\(port)" }
    }
  }

  /// Returns whether no process listens at `port`.
  ///
  /// The method connects and doesn't bind: another thread could start a process that inherits a
  /// bound socket and keeps the port in use.
  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = unsafe inet_addr(host)
    return unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
      }
    }
  }

  /// Starts a node that isn't running.
  package func start(_ index: Int) throws {
    try nodes.withLock { nodes in
      // One at a time, so that no node inherits the pipe ends of another and keeps them open.
      let (process, input, output) = try TestCluster.spawning.withLock { _ in
        try TestCluster.spawn(nodes[index])
      }
      nodes[index].process = process
      nodes[index].hasTransferredLeadership = false
      nodes[index].ending = nil
      (nodes[index].input, nodes[index].output) = (input, output)
      // The node writes a line when it accepts connections.
      var byte: UInt8 = 0
      guard unsafe read(output, &byte, 1) == 1 else {
        TestCluster.end(&nodes[index])
        throw SQLiteError(
          .cannotOpen, "the node at \(nodes[index].address) didn't start: \(nodes[index].log)")
      }
    }
  }

  private static let spawning = Mutex(())

  /// Starts a node's process. Returns it and this process's ends of its pipes.
  private static func spawn(_ node: Node) throws -> (process: pid_t, input: Int32, output: Int32) {
    let ends = try pipe() + pipe()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[3], 1)
    unsafe posix_spawn_file_actions_addopen(
      &actions, 2, node.folder + ".log", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = [
      program ?? "", "\(node.id)", node.address, node.folder,
    ]
    if let own = node.ownAddress { words.append(own) }
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, words[0], &actions, nil, arguments, environ)
    guard code == 0 else { throw SQLiteError(.cannotOpen, "starting a node failed") }
    close(ends[0])
    close(ends[3])
    return (process, ends[1], ends[2])
  }

  /// Returns the two ends of a new pipe, which child processes close on exec.
  private static func pipe() throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw SQLiteError(.cannotOpen, "pipe failed") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private static func end(_ node: inout Node) {
    if let process = node.process {
      kill(process, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
    }
    for descriptor in [node.input, node.output] where descriptor >= 0 { close(descriptor) }
    node.process = nil
    (node.input, node.output) = (-1, -1)
  }

  /// Sends a signal to a node. Waits until the node has exited after SIGKILL, and until it has
  /// stopped after SIGSTOP.
  package func signal(_ index: Int, _ number: Int32) {
    nodes.withLock { nodes in
      if number == SIGKILL {
        TestCluster.end(&nodes[index])
      } else if let process = nodes[index].process {
        kill(process, number)
        // The signal takes effect later, and the node could answer until then.
        var status: Int32 = 0
        if number == SIGSTOP { unsafe waitpid(process, &status, WUNTRACED) }
      }
    }
  }

  /// Returns whether a node's process is running.
  package func isRunning(_ index: Int) -> Bool { end(of: index) == nil }

  /// Returns the exit status and last output of a node's process that exited by itself, or nil if
  /// it is running.
  ///
  /// A process that is still closing its files counts as exited: clients notice closed connections
  /// before the process is gone.
  package func end(of index: Int) -> String? {
    nodes.withLock { nodes in
      guard let process = nodes[index].process else {
        return nodes[index].ending ?? "it was killed"
      }
      guard TestCluster.isEnding(process) else { return nil }
      var status: Int32 = 0
      unsafe waitpid(process, &status, 0)
      nodes[index].process = nil
      nodes[index].ending =
        "status \(status)\(nodes[index].hasTransferredLeadership ? ", after it was asked to transfer the leadership" : ""): \(nodes[index].log)"
      TestCluster.end(&nodes[index])
      return nodes[index].ending
    }
  }

  /// Returns whether a process has exited or is exiting. The kernel sets the flag PF_EXITING before
  /// the process closes its files.
  private static func isEnding(_ process: pid_t) -> Bool {
    let line = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
    // The program's name, in parentheses, may contain spaces.
    let fields = String(decoding: line, as: UTF8.self).split(separator: ")").last?.split(
      separator: " ")
    guard let fields, fields.count > 6, let flags = UInt32(fields[6]) else { return true }
    return fields[0] == "Z" || flags & 4 != 0
  }

  /// Returns the index of the leader.
  package func leader() throws -> Int {
    var found: Int?
    try atLeader { leader in found = addresses.firstIndex(of: leader.address) }
    guard let found else { throw SQLiteError(.notFound, "the leader is not one of the nodes") }
    return found
  }

  /// Asks the leader to transfer its leadership to the node at `index`.
  package func transferLeadership(to index: Int) throws {
    let id = nodes.withLock { $0[index].id }
    try atLeader { leader in
      var request = Request(.transfer)
      request.append(id)
      if let leading = addresses.firstIndex(of: leader.address) {
        nodes.withLock { $0[leading].hasTransferredLeadership = true }
      }
      _ = try leader.call(request, .empty)
    }
  }

  /// Restarts a node that exited by itself: a fault in dqlite 1.11 can end a node when the leader
  /// changes. Returns the exit status and last output, or nil if the node is running.
  package func restartIfExited(_ index: Int) throws -> String? {
    guard let end = end(of: index) else { return nil }
    try start(index)
    return end
  }

  private func atLeader(_ body: (NodeConnection) throws -> Void) throws {
    let cluster = try Cluster(addresses, database: "probe", ClusterOptions())
    try body(try cluster.openAtLeader(before: .now + .seconds(20)).connection)
  }

  /// Opens a database of the cluster.
  package func database(
    _ name: String = "test", _ change: (inout ClusterOptions) -> Void = { _ in }
  ) throws -> Database {
    var options = ClusterOptions()
    change(&options)
    return try Database(cluster: addresses, name: name, options: options)
  }
}
