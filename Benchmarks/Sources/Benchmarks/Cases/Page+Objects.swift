import MagicData

extension Page {
  /// Fetches a page of objects. In a separate file, because the filter's operators conflict with
  /// GRDB's.
  static func objects(_ magic: MagicData) -> (Int64) throws -> [ItemObject] {
    { key in
      let key = Int(key)
      return try magic.fetch(
        ItemObject.where(\.$id > key).ordered(by: .ascending(\.$id)).limit(50))
    }
  }
}
