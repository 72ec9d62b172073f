import CSQLite

/// The table-valued function `magicdata_list(?)`, which returns a Swift array as a table with one
/// column. A list of any length is therefore one parameter, and the SQL is the same for all
/// lengths.
///
/// It is an eponymous virtual table (<https://www.sqlite.org/vtab.html>). The array is passed by
/// `sqlite3_bind_pointer`, which SQL text can't forge.
enum ListModule {
  /// The pointer type for both `sqlite3_bind_pointer` and `sqlite3_value_pointer`. SQLite stores
  /// the address of the text, so the text must be static.
  static var pointerType: UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(StaticString("magicdata_list").utf8Start)
      .assumingMemoryBound(to: CChar.self)
  }

  fileprivate typealias List = Box<[Value]>

  /// A cursor over a list. SQLite requires that its first member is an `sqlite3_vtab_cursor`.
  @unsafe fileprivate struct Cursor {
    var base = unsafe sqlite3_vtab_cursor()
    var list: Unmanaged<List>?
    var position = 0
  }

  static func retained(_ values: [Value]) -> UnsafeMutableRawPointer {
    unsafe Unmanaged.passRetained(List(values)).toOpaque()
  }

  static func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer = unsafe pointer else { return }
    unsafe Unmanaged<List>.fromOpaque(pointer).release()
  }

  /// Registers `magicdata_list` on a connection and returns SQLite's result code
  /// (`sqlite3_create_module_v2`).
  static func register(on connection: OpaquePointer) -> Int32 {
    // SQLite reads the module until the connection is closed, and then calls the closure that frees
    // it.
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    unsafe module.initialize(to: methods)
    return unsafe sqlite3_create_module_v2(connection, "magicdata_list", module, module) { module in
      unsafe module?.assumingMemoryBound(to: sqlite3_module.self).deallocate()
    }
  }

  private static var methods: sqlite3_module {
    var module = sqlite3_module()
    unsafe module.xConnect = connect
    unsafe module.xBestIndex = bestIndex
    unsafe module.xDisconnect = { table in
      unsafe table?.deallocate()
      return SQLITE_OK
    }
    unsafe module.xOpen = open
    unsafe module.xClose = close
    unsafe module.xFilter = filter
    unsafe module.xNext = { cursor in
      unsafe cursorState(cursor)?.pointee.position += 1
      return SQLITE_OK
    }
    unsafe module.xEof = isAtEnd
    unsafe module.xColumn = column
    unsafe module.xRowid = { cursor, rowID in
      unsafe rowID?.pointee = Int64(cursorState(cursor)?.pointee.position ?? 0)
      return SQLITE_OK
    }
    return module
  }
}

private func cursorState(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?
) -> UnsafeMutablePointer<ListModule.Cursor>? {
  guard let cursor = unsafe cursor else { return nil }
  return unsafe UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: ListModule.Cursor.self)
}

private func connect(
  connection: OpaquePointer?, auxiliary: UnsafeMutableRawPointer?, count: Int32,
  arguments: UnsafePointer<UnsafePointer<CChar>?>?,
  table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
  message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  let code = unsafe sqlite3_declare_vtab(connection, "CREATE TABLE list(value, pointer HIDDEN)")
  guard code == SQLITE_OK else { return code }
  // Views and triggers can't use it.
  unsafe csqlite_vtab_direct_only(connection)
  let made = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
  unsafe made.initialize(to: sqlite3_vtab())
  unsafe table?.pointee = unsafe made
  return SQLITE_OK
}

/// Plans a query (`xBestIndex`). The list comes from an equality constraint on the hidden column. A
/// plan without this constraint returns no rows, so it gets a high cost.
private func bestIndex(
  table: UnsafeMutablePointer<sqlite3_vtab>?, info: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
  guard let info = unsafe info else { return SQLITE_MISUSE }
  for index in unsafe 0..<Int(info.pointee.nConstraint) {
    let constraint = unsafe info.pointee.aConstraint[index]
    guard constraint.iColumn == 1, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else {
      continue
    }
    guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
    unsafe info.pointee.aConstraintUsage[index].argvIndex = 1
    unsafe info.pointee.aConstraintUsage[index].omit = 1
    unsafe info.pointee.idxNum = 1
    unsafe info.pointee.estimatedCost = 10
    unsafe info.pointee.estimatedRows = 100
    return SQLITE_OK
  }
  unsafe info.pointee.estimatedCost = 1_000_000
  return SQLITE_OK
}

private func open(
  table: UnsafeMutablePointer<sqlite3_vtab>?,
  cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
  let made = UnsafeMutablePointer<ListModule.Cursor>.allocate(capacity: 1)
  unsafe made.initialize(to: ListModule.Cursor())
  unsafe cursor?.pointee = unsafe UnsafeMutableRawPointer(made)
    .assumingMemoryBound(to: sqlite3_vtab_cursor.self)
  return SQLITE_OK
}

private func close(cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
  guard let state = unsafe cursorState(cursor) else { return SQLITE_OK }
  unsafe state.pointee.list?.release()
  unsafe state.deallocate()
  return SQLITE_OK
}

private func filter(
  cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, index: Int32, name: UnsafePointer<CChar>?,
  count: Int32, arguments: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let state = unsafe cursorState(cursor) else { return SQLITE_MISUSE }
  unsafe state.pointee.list?.release()
  unsafe state.pointee.list = nil
  unsafe state.pointee.position = 0
  // Without a pointer of the right type, the list is empty.
  guard index == 1, count == 1, let arguments = unsafe arguments,
    let pointer = unsafe ValueView(arguments[0]).pointer(of: ListModule.pointerType)
  else { return SQLITE_OK }
  unsafe state.pointee.list = Unmanaged<ListModule.List>.fromOpaque(pointer).retain()
  return SQLITE_OK
}

private func isAtEnd(cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
  guard let state = unsafe cursorState(cursor), let list = unsafe state.pointee.list else {
    return 1
  }
  return unsafe state.pointee.position < list.takeUnretainedValue().content.count ? 0 : 1
}

private func column(
  cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, context: OpaquePointer?, column: Int32
) -> Int32 {
  guard column == 0, let state = unsafe cursorState(cursor), let list = unsafe state.pointee.list
  else { return SQLITE_OK }
  unsafe setResult(
    list.takeUnretainedValue().content[state.pointee.position], of: context)
  return SQLITE_OK
}
