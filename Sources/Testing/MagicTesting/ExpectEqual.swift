public import MagicTemplates
public import SQLiteObjects
public import Testing

/// Records an issue with the difference of two stores if their contents differ. Blocks the thread.
///
///     expectEqual(magic, expected)
///
/// `StoreDifference` describes what is compared. In the issue, `-` and the values before an arrow
/// are those of the expected store.
///
/// - Parameters:
///   - magic: The store to check.
///   - expected: The store with the expected content.
///   - comment: A comment to add to the issue.
///   - sourceLocation: The source location of the issue.
/// - Returns: True if the contents are equal. If they can't be compared, the function records the
///   error and returns false.
@discardableResult
public func expectEqual(
  _ magic: MagicData, _ expected: MagicData, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
  record(Result { try magic.difference(from: expected) }, comment, sourceLocation)
}

/// Records an issue with the difference if the content of a store differs from that of a template.
/// Blocks the thread.
///
///     expectEqual(magic, .library)  // The failed import has changed nothing.
///
/// - Parameters:
///   - magic: The store to check.
///   - template: The template with the expected content.
///   - comment: A comment to add to the issue.
///   - sourceLocation: The source location of the issue.
/// - Returns: True if the contents are equal. If they can't be compared, the function records the
///   error and returns false.
@discardableResult
public func expectEqual(
  _ magic: MagicData, _ template: StoreTemplate, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) -> Bool {
  record(Result { try magic.difference(from: template) }, comment, sourceLocation)
}

private func record(
  _ outcome: Result<StoreDifference, any Error>, _ comment: Comment?,
  _ sourceLocation: SourceLocation
) -> Bool {
  let start = comment.map { "\($0): " } ?? ""
  switch outcome {
  case .success(let difference):
    if difference.isEmpty { return true }
    Issue.record(
      "\(start)the store differs from the expected one:\n\(difference)",
      sourceLocation: sourceLocation)
  case .failure(let error):
    Issue.record(
      error, "\(start)the stores can't be compared", sourceLocation: sourceLocation)
  }
  return false
}
