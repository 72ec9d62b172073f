// The module CSQLite of the trait CustomSQLite. It links no library.
#include "../../../CSQLite/shim.h"
