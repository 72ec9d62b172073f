// The public API of this module uses types of both modules.
@_exported public import SQLiteHistory
@_exported public import SQLiteObjects
