import SQLiteCore
public import SQLiteMapping

extension Query {
  /// A request for the objects of the query whose text matches a pattern, the best match first.
  ///
  ///     let notes = Note.where(\.$isDone == false).limit(20).search(.prefix(field.text))
  ///     for found in try magic.fetch(notes) { print(found.value.title, found.snippet) }
  ///
  /// The type declares the searched properties by `PropertyTrait.searched(_:_:)`. Words match in any case and with or
  /// without accents. No text that a user enters is an error or an operator. Equally good matches come in the order in
  /// which they were first saved. To find objects in another order, or by the text of related objects, use
  /// ``Filter/matching(_:)``.
  ///
  /// - Parameters:
  ///   - pattern: The pattern. An empty pattern matches nothing.
  ///   - marks: The marks around matching words in `SearchResult.snippet` and `SearchResult.highlights`.
  /// - Returns: A request. Fetching it throws ``MagicError/notSearched(type:)`` if the type declares no searched
  ///   property, and `SQLiteError` if the query has sort keys or if the full-text index is missing, which a read-only
  ///   store can't create.
  public func search(
    _ pattern: SearchPattern, marks: SearchMarks = SearchMarks()
  ) -> Request<[SearchResult<Object>]> {
    Request { [parts] store in
      let search = try ObjectSearch<Object>(store, pattern, parts, marks)
      return PreparedRequest(search.plan, isOneStatement: false) { connection, print in
        let found = try search.find(connection)
        if print != nil {
          print = try ResultPrint(.graph(found.graph), connection)
          print?.add(found.hits)
        }
        return { try search.results(found) }
      }
    }
  }
}
