#if canImport(SwiftUI)
  public import SQLiteObjects
  public import SwiftUI

  private struct MagicDataKey: EnvironmentKey {
    static let defaultValue: MagicData? = nil
  }

  extension EnvironmentValues {
    /// The store that ``LiveQuery`` properties observe, or nil if no view has set one.
    public var magicData: MagicData? {
      get { self[MagicDataKey.self] }
      set { self[MagicDataKey.self] = newValue }
    }
  }

  extension View {
    /// Provides a store to the ``LiveQuery`` properties of this view and the views in it.
    ///
    /// - Parameter magic: The store.
    public func magicData(_ magic: MagicData) -> some View { environment(\.magicData, magic) }

    /// Provides a store in memory that a closure fills, for previews.
    ///
    ///     #Preview {
    ///       FleetView().previewMagicData { magic in
    ///         try magic.update([Ship("Vasa"), Ship("Kon-Tiki")])
    ///       }
    ///     }
    ///
    /// If the closure throws, the preview shows the error instead of this view.
    ///
    /// - Parameter fill: A closure that saves objects with blocking calls. It runs once, on the
    ///   main actor.
    public func previewMagicData(_ fill: @escaping (MagicData) throws -> Void) -> some View {
      PreviewStore(content: self, fill: fill)
    }
  }

  private struct PreviewStore<Content: View>: View {
    let content: Content
    let fill: (MagicData) throws -> Void
    @State private var holder = Holder()

    var body: some View {
      switch holder.store(filledBy: fill) {
      case .success(let magic): content.magicData(magic)
      case .failure(let error): Text("\(error)")
      }
    }

    /// The store of a preview, which survives updates of the view.
    @MainActor private final class Holder {
      private var store: Result<MagicData, any Error>?

      func store(
        filledBy fill: (MagicData) throws -> Void
      ) -> Result<MagicData, any Error> {
        if let store { return store }
        let new = Result {
          let magic = try MagicData(type: .memory)
          try fill(magic)
          return magic
        }
        store = new
        return new
      }
    }
  }
#endif
