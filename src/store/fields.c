/* sets */
#include "store/write.h"
