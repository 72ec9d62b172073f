// Users import MagicData and have objects, and what objects stand on.
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLiteObjects
@_exported public import SQLiteRelations
