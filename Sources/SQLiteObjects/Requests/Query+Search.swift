import SQLiteCore
public import SQLiteMapping

extension Query {
  /// Returns a request for the objects of the query whose text matches a pattern, best matches
  /// first.
  ///
  ///     let notes = Note.where(\.$isDone == false).limit(20).search(.prefix(field.text))
  ///     for found in try magic.fetch(notes) { print(found.value.title, found.snippet) }
  ///
  /// The type declares its searched properties with `PropertyTrait.searched(_:_:)`. Matching
  /// ignores case and accents. User input is safe: no text is a syntax error or an operator.
  /// Equally good matches are ordered by row key. To sort objects differently, or to find them by
  /// the text of related objects, use ``Filter/matching(_:)``.
  ///
  /// - Parameters:
  ///   - pattern: The pattern. An empty pattern matches nothing.
  ///   - marks: The marks around matching words in `SearchResult.snippet` and
  ///     `SearchResult.highlights`.
  /// - Returns: A request. Fetching it throws ``MagicError/notSearched(type:)`` if the type
  ///   declares no searched property. It throws `SQLiteError` if the query has sort keys, if the
  ///   pattern is nested too deeply, or if the full-text index is missing, which a read-only store
  ///   can't create.
  public func search(
    _ pattern: SearchPattern, marks: SearchMarks = SearchMarks()
  ) -> Request<[SearchResult<Object>]> {
    Request { [parts] store in
      let search = try ObjectSearch<Object>(store, pattern, parts, marks)
      return PreparedRequest(search.plan, isOneStatement: false) { connection, print in
        let found = try search.find(connection)
        if print != nil {
          print = try ResultFingerprint(.graph(found.graph), connection)
          print?.add(found.hits)
        }
        return { try search.results(found) }
      }
    }
  }
}
