// The part of Foundation that the library uses: FoundationEssentials where it exists.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
