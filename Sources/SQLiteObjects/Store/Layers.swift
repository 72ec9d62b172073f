// Objects are made of these; who imports objects has them.
@_exported public import SQLiteAssets
@_exported public import SQLiteCore
@_exported public import SQLiteMapping
@_exported public import SQLiteRelations
