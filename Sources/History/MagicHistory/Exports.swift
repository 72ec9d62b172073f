// Conflicts are named by the types of patches, and histories are of stores.
@_exported public import SQLiteHistory
@_exported public import SQLiteObjects
