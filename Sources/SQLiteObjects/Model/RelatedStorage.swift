/// A fetched object and the fetch that its relations are known in.
///
/// The object's wrappers hold both; the fetch holds the storage, and the storage neither: so cycles
/// of objects do not leak.
final class RelatedStorage: Sendable {
  let storage: ObjectStorage
  let context: FetchContext

  init(_ storage: ObjectStorage, _ context: FetchContext) {
    self.storage = storage
    self.context = context
  }

  func set(_ form: CellContent.Form, at slot: Int) {
    storage.set(form, at: slot, in: context)
  }
}

extension ObjectStorage {
  /// Sets a value, a relation in the form that keeps objects of one fetch from holding each other.
  func set(_ form: CellContent.Form, at slot: Int, in context: FetchContext?) {
    set(context?.form(of: form, for: plan.properties[slot]) ?? form, at: slot)
  }

  /// The message for a value that was read before it was set.
  func missing(_ slot: Int) -> String {
    "\(plan.typeName).\(plan.properties[slot].name) was read, but it was never set"
  }
}
