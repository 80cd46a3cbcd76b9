/* lab/test.h - what test programs include: cmocka with the headers that it asks for, and what most of them use. */
#ifndef SITU_LAB_TEST_H
#define SITU_LAB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after the others, which it needs */

#endif
