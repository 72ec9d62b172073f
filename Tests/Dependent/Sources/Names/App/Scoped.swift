import LikeGRDB
import LikeTabularData
import MagicData

// A type that is imported by itself takes precedence over the types of modules that are imported as a whole.
import struct SQLiteCore.Column
import struct SQLiteCore.Row

func value(of name: String, in row: Row) -> Column? { row[name] }
