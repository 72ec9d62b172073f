import MagicSync
import Testing

/// Exchanges changes until two rounds in a row have neither sent nor received anything.
///
/// - Returns: The last report of each sync.
@discardableResult
func settle(_ syncs: [Sync], sourceLocation: SourceLocation = #_sourceLocation) async throws
  -> [SyncReport]
{
  var quietRounds = 0
  var reports: [SyncReport] = []
  for _ in 0..<50 {
    reports = []
    for sync in syncs { reports.append(try await sync.once()) }
    let isQuiet = reports.allSatisfy { $0.sentCount == 0 && $0.receivedCount == 0 }
    quietRounds = isQuiet ? quietRounds + 1 : 0
    if quietRounds == 3 { return reports }
  }
  Issue.record("the devices don't settle: \(reports)", sourceLocation: sourceLocation)
  return reports
}
