import CSQLite

/// A check of the arguments of FTS5's tokenizer `trigram`.
///
/// Before SQLite 3.47, the tokenizer reads beyond its arguments if an option has no value. Then
/// `CREATE VIRTUAL TABLE t USING fts5(a, tokenize = 'trigram case_sensitive')` crashes the process,
/// and so does any use of such a table in the schema of a file.
/// <https://sqlite.org/forum/forumpost/171bcc2bcd>
enum TrigramTokenizer {
  /// SQLite's own tokenizer, with the context that its functions require.
  @unsafe fileprivate struct Original {
    var tokenizer = fts5_tokenizer()
    var context: UnsafeMutableRawPointer?
  }

  /// Adds the check to the tokenizer of a connection, if FTS5 is available and needs it.
  static func checkArguments(on connection: OpaquePointer) {
    guard sqlite3_libversion_number() < 3_047_000, let api = unsafe api(of: connection) else {
      return
    }
    let original = UnsafeMutablePointer<Original>.allocate(capacity: 1)
    unsafe original.initialize(to: Original())
    let found = unsafe api.pointee.xFindTokenizer?(
      api, "trigram", &original.pointee.context, &original.pointee.tokenizer)
    guard found == SQLITE_OK else { return unsafe original.deallocate() }
    // Only creation is replaced. SQLite's own functions use and free the tokenizer.
    var checked = unsafe original.pointee.tokenizer
    unsafe checked.xCreate = create
    let code = unsafe api.pointee.xCreateTokenizer?(api, "trigram", original, &checked) {
      unsafe $0?.deallocate()
    }
    if code != SQLITE_OK { unsafe original.deallocate() }
  }

  /// Returns the extension interface of FTS5, read by SQL as its manual describes; nil if FTS5
  /// isn't available.
  private static func api(of connection: OpaquePointer) -> UnsafeMutablePointer<fts5_api>? {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else { return nil }
    let statement = unsafe StatementHandle(pointer: prepared, sql: "")
    var api: UnsafeMutablePointer<fts5_api>?
    unsafe withUnsafeMutablePointer(to: &api) { variable in
      unsafe statement.bind(pointerTo: variable, ofType: "fts5_api_ptr", at: 1)
      _ = statement.step()
    }
    return unsafe api
  }
}

/// Creates a tokenizer with SQLite's own function, but fails if an option has no value.
private func create(
  context: UnsafeMutableRawPointer?, arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  count: Int32, made: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let context = unsafe context, count % 2 == 0 else { return SQLITE_ERROR }
  let original = unsafe context.assumingMemoryBound(to: TrigramTokenizer.Original.self)
  let create = unsafe original.pointee.tokenizer.xCreate
  return unsafe create?(original.pointee.context, arguments, count, made) ?? SQLITE_ERROR
}
