import SQLiteCore

// Setting a property. A saved or fetched object records the change, and keeps the values that are
// in its store.
extension _MagicCell {
  /// Sets the property's value. If the object is in a store, the value is a pending change.
  package func set(_ form: _CellValue.Form) {
    switch owner {
    case .box(let box): box.set(form)?.set(form)
    case .storage(let storage): storage.set(form, at: index.slot)
    case .row(let context): context.storage(at: index).set(form, at: index.slot, in: context)
    }
  }

  /// Sets the property's value unless the property already has one.
  func setFirst(_ form: _CellValue.Form) {
    if case .box(let box) = owner {
      box.setFirst(form)
    } else if case .unset = self.form {
      set(form)
    }
  }
}

extension ObjectStorage {
  /// Sets the value of a property. Converts a relation to a form in which objects of one fetch
  /// don't retain each other.
  func set(_ form: _CellValue.Form, at slot: Int, in context: FetchContext?) {
    let property = shape.properties[slot]
    let kept = context?.form(of: form, for: property) ?? form
    if let context, property.isEager, kept.holdsObjects { context.group.register(holder: self) }
    set(kept, at: slot)
  }

  /// Sets the value of a property. The first change after a fetch or a save also copies the values
  /// that are in the store.
  func set(_ form: _CellValue.Form, at slot: Int) {
    let known = shape.mayHoldObjects ? originalsWithoutObjects : nil
    _ = withState { state, slots in
      let extras = state.ensureExtras()
      if let identity = state.identity, unsafe extras.originals == nil {
        let isKnown = known?.isOf(identity, state.changeCount) ?? false
        unsafe extras.originals = isKnown ? known?.forms : slots.copies
      }
      unsafe extras.changeCount += 1
      slots.register(unsafe extras.changeCount, of: slot)
      return slots.exchange(form, slot)
    }
  }

  /// The values that an object has in a store, with z_index values in place of related objects.
  private struct Originals: Sendable {
    let identity: Identity
    let changeCount: Int
    let forms: SlotCopies

    /// Returns whether the object has neither been saved nor changed since these values were
    /// copied.
    func isOf(_ present: Identity, _ changeCount: Int) -> Bool {
      changeCount == self.changeCount && present.savedCount == identity.savedCount
        && present.zIndex == identity.zIndex && present.store == identity.store
    }
  }

  /// The values that the object has in the store, with z_index values in place of related objects:
  /// copies of these objects would keep them alive until the change is saved, and could reference
  /// this object. Nil if the originals are already copied, or if the object is in no store.
  private var originalsWithoutObjects: Originals? {
    let found = withState { state, slots -> Originals? in
      guard let identity = state.identity, state.originals == nil else { return nil }
      return Originals(identity: identity, changeCount: state.changeCount, forms: slots.copies)
    }
    guard let known = found else { return nil }
    for (slot, property) in shape.properties.enumerated() {
      switch (property.role.kind, known.forms[slot]) {
      // The saved links contain z_index values.
      case (.links, _): known.forms[slot] = .unset
      case (.object, .live(let live)) where fetchedZIndex == nil:
        // Locks the other object, so this object must not be locked.
        guard let object = live.value as? any MagicObject else { continue }
        known.forms[slot] =
          object.zIndex(in: known.identity.store).map { .reference($0) } ?? .lazy
      case (.object, .targets(let targets)):
        known.forms[slot] =
          targets.first?.zIndex(in: known.identity.store).map { .reference($0) } ?? .lazy
      default: continue
      }
    }
    return known
  }
}

extension FetchContext {
  /// Converts a relation that is set in an object of the fetch: objects of the same fetch become
  /// z_index values.
  fileprivate func form(
    of form: _CellValue.Form, for property: ObjectProperty
  ) -> _CellValue.Form {
    guard !group.isCreatedByProgram, property.isEager, case .live(let live) = form else {
      return form
    }
    if let object = live.value as? any MagicObject {
      return zIndex(of: object).map { .reference($0) } ?? form
    }
    if let collection = live.value as? any MagicCollection, let targets = targets(of: collection) {
      return .targets(targets)
    }
    return form
  }

  private func targets<Collection: MagicCollection>(
    of collection: Collection
  ) -> [RelationTarget]? {
    // Saving a collection that can't be stored throws.
    guard let links = try? collection.magicLinks else { return nil }
    return links.map { link in
      RelationTarget(
        key: link.key,
        end: zIndex(of: link.object).map { .fetched($0) } ?? .other(_LiveValue(link.object)))
    }
  }

  /// Returns the z_index of an object of this fetch, or nil for other objects.
  private func zIndex<Object: MagicObject>(of object: Object) -> Int64? {
    guard let address = PropertyCollector.firstCell(of: object)?.address, address.context === self
    else {
      return nil
    }
    guard let store else { return nil }
    // An object that was removed and then saved again has a z_index that isn't in the fetch.
    let zIndex = address.storage.zIndex(in: store)
    return zIndex == address.storage.fetchedZIndex ? zIndex : nil
  }
}
