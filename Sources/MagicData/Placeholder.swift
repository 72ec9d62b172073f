public import SQLiteCore
