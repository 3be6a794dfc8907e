/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Figures of a test: printed, and appended to a file in the columns of the bench's
 * table (bench/cells.py); and the memory of the kernel as one of them.
 */
#ifndef UET_TEST_FIGURES_H
#define UET_TEST_FIGURES_H

#include "lib.h"

#include <glob.h>
#include <sys/stat.h>

static FILE *figures;			/* NULL: printed only */
static const char *figures_driver = "uet";
static unsigned int figures_mtu = 1500;
static bool figures_exact;	/* of a kernel whose slabs have nothing beside objects */

static inline void figures_open(const char *path)
{
	figures = fopen(path, "ae");
	if (!figures)
		die("%s", path);
}

static inline int figure_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @value. Quarters as Python's statistics.quantiles(inclusive) has them. */
static inline double figure_quarter(const double *value, unsigned int n, int q)
{
	double at = (n - 1) * q / 4.0;
	unsigned int i = at;

	if (i + 1 >= n)
		return value[n - 1];
	return value[i] + (value[i + 1] - value[i]) * (at - i);
}

/* @peers stands in the column for QPs. Returns the median. */
static inline double figure(const char *row, const char *op, unsigned int peers,
			    const char *unit, double *value, unsigned int n)
{
	double q[3];
	int i;

	qsort(value, n, sizeof(*value), figure_cmp);
	for (i = 0; i < 3; i++)
		q[i] = figure_quarter(value, n, i + 1);
	printf("# %s %s %s, %u peers: %.1f %s (%.1f - %.1f)\n", row,
	       figures_driver, op, peers, q[1], unit, q[0], q[2]);
	if (figures)
		fprintf(figures, "%s\t%u\t%s\t8\t%u\t%s\t%.3f\t%.3f\t%.3f\t%s\t1\n",
			row, figures_mtu, op, peers, figures_driver, q[1], q[0],
			q[2], unit);
	return q[1];
}

static inline double figure_one(const char *row, const char *op,
				unsigned int peers, const char *unit,
				double value)
{
	return figure(row, op, peers, unit, &value, 1);
}

/* ------------------------------------------------------------------ */

static inline void pause_ms(unsigned int ms)
{
	poll(NULL, 0, ms);
}

/* Free objects do not count: give back slabs that are empty. */
static inline void slabs_shrink(void)
{
	struct stat st;
	glob_t caches;
	char path[96];
	size_t i;
	int fd;

	if (glob("/sys/kernel/slab/*", 0, NULL, &caches))
		return;
	for (i = 0; i < caches.gl_pathc; i++) {
		/* merged caches are links to one */
		if (lstat(caches.gl_pathv[i], &st) || !S_ISDIR(st.st_mode))
			continue;
		snprintf(path, sizeof(path), "%s/shrink", caches.gl_pathv[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (write(fd, "1", 1) != 1)
			die("%s", path);
		close(fd);
	}
	globfree(&caches);
}

/*
 * Bytes of objects that are free but have neighbours in their slab which are not, of
 * the caches that matter here.
 */
static inline long long slabs_free(void)
{
	unsigned long used, all, size;
	FILE *f = fopen("/proc/slabinfo", "re");
	long long sum = 0;
	char line[512], name[64];

	if (!f)
		die("/proc/slabinfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %lu %lu %lu", name, &used, &all,
			   &size) != 4)
			continue;
		if (!strncmp(name, "uet_", 4) ||
		    (!strncmp(name, "kmalloc-", 8) &&
		     strncmp(name, "kmalloc-rcl", 11)))
			sum += (long long)(all - used) * size;
	}
	fclose(f);
	return sum;
}

/* Objects in slabs that cannot be reclaimed, vmalloc areas, per-CPU memory. */
static inline long long kernel_used(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	long kib, sum = 0;
	char line[128];

	if (!f)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "SUnreclaim: %ld", &kib) == 1 ||
		    sscanf(line, "VmallocUsed: %ld", &kib) == 1 ||
		    sscanf(line, "Percpu: %ld", &kib) == 1)
			sum += kib;
	fclose(f);
	return sum * 1024ll - slabs_free();
}

/*
 * What was let go is freed by RCU and work items, and nobody says when: look until
 * three times in a row little has changed.
 */
static inline double kernel_bytes(void)
{
	long long used = 0, now;
	int same = 0, i;

	/* Where every slab is checked this takes minutes, and says nothing. */
	if (!figures_exact)
		return 0;
	for (i = 0; i < 200 && same < 3; i++) {
		pause_ms(50);
		slabs_shrink();
		now = kernel_used();
		same = llabs(now - used) <= 16384 ? same + 1 : 0;
		used = now;
	}
	return used;
}

/*
 * A counter of a device, without another process. The core shows values that are up
 * to 10 ms old, by a clock of 10 ms.
 */
static inline __u64 port_counter_shown(const char *device, const char *name)
{
	unsigned long long n;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s", device,
		 name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &n) != 1)
		die("%s", path);
	fclose(f);
	return n;
}

/* What it is now: what is shown after a while */
static inline __u64 port_counter(const char *device, const char *name)
{
	pause_ms(25);
	return port_counter_shown(device, name);
}

#endif /* UET_TEST_FIGURES_H */
