/* Everything a host program needs. A firmware includes bjvm/plan.h and bjvm/codec.h only. */
#ifndef BJVM_BJVM_H_
#define BJVM_BJVM_H_

#include "bjvm/buffer.h"
#include "bjvm/cache.h"
#include "bjvm/codec.h"
#include "bjvm/compile.h"
#include "bjvm/plan.h"
#include "bjvm/status.h"

#endif /* BJVM_BJVM_H_ */
