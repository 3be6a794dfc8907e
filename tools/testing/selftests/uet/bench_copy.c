// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The copy limit: how fast one memcpy() moves a payload of BYTES from one
 * buffer to another, as a receiver without zero copy must at least.
 *
 * bench_copy BYTES MILLISECONDS prints MB/s (10^6).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUND	1048576		/* bytes between two looks at the clock */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static size_t to_number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || !n || n > 1ul << 30) {
		fprintf(stderr, "bench_copy: bad number %s\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t start, now, end;
	size_t len, i, copies = 0;
	char *from, *to;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_copy BYTES MILLISECONDS\n");
		return 2;
	}
	len = to_number(argv[1]);
	from = aligned_alloc(4096, (len + 4095) & ~4095ul);
	to = aligned_alloc(4096, (len + 4095) & ~4095ul);
	if (!from || !to) {
		perror("bench_copy");
		return 1;
	}
	memset(from, 0x5a, len);
	memset(to, 0, len);
	start = now_ns();
	end = start + to_number(argv[2]) * 1000000ull;
	do {
		for (i = 0; i <= ROUND / len; i++, copies++) {
			memcpy(to, from, len);
			/* nobody reads it, which the compiler must not know */
			__asm__ volatile("" : : "r"(to), "r"(from) : "memory");
		}
		now = now_ns();
	} while (now < end);
	printf("%.2f\n", 1e3 * copies * len / (now - start));
	free(from);
	free(to);
	return 0;
}
