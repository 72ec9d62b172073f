import MagicData

extension Selection {
  /// Fetches objects with a filter in Swift. In a separate file, because the filter's operators
  /// conflict with GRDB's.
  static func objects(_ magic: MagicData) -> (Int64) throws -> [ItemObject] {
    { key in
      let (first, end) = (Int(key), Int(key) + 134)
      return try magic.objects(
        of: ItemObject.self, where: \.$id >= first && \.$id < end && \.$price > price,
        orderedBy: [.ascending(\.$id)])
    }
  }
}
