// The platform's C library, and the functions of it that Swift can't import.
@_exported public import CPlatform
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Darwin)
  @_exported public import Darwin
#endif
