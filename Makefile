# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The kernel sources build by themselves (drivers/infiniband/hw/uet/Makefile); this
# builds everything else around them and runs it in guests. "make help" lists it.

SELFTESTS := tools/testing/selftests/uet
VM := $(SELFTESTS)/vm
GUEST ?= uml

all: modules user ## the modules for GUEST (default uml), and all of user space

modules: host ## the modules for GUEST: uml, uml-kasan, qemu, qemu-debug
	@$(VM)/modules $(GUEST)

user: host ## library, uet command, test programs
	@$(VM)/build-user

lib: host ## the rdma-core provider, as built in the guests' rdma-core
	@$(VM)/build-lib

tool: host ## the uet command
	@mkdir -p build/tool
	@$(MAKE) -s -C tools/uet OUTPUT=$(CURDIR)/build/tool/

run: all ## two hosts, and ordinary RDMA programs between them
	@$(VM)/run --guest $(GUEST) $(SELFTESTS)/demo.sh

shell: all ## a shell in GUEST
	@$(VM)/run --guest $(GUEST) --timeout 0 --shell

test: ## the tests; TESTS="data qemu/apps" for some
	@$(VM)/host-packages check
	@$(VM)/test $(TESTS)

test-long: ## the same with full matrices
	@$(VM)/host-packages check
	@$(VM)/test --long $(TESTS)

bench: all ## measure against rxe, siw and TCP, compare with bench/BASELINE.tsv; BENCH_LONG=1: more
	@UET_BENCH_LONG=$(BENCH_LONG) $(SELFTESTS)/bench/run $(if $(filter write,$(BASELINE)),--write)

bench-baseline: ## the same, and make what was measured bench/BASELINE.tsv
	@$(MAKE) bench BASELINE=write

bench-readme: ## put bench/BASELINE.tsv into the README
	@PYTHONDONTWRITEBYTECODE=1 python3 $(SELFTESTS)/bench/readme.py bench/BASELINE.tsv README.md

check: ## gcc, clang, sparse, checkpatch, kernel-doc, shellcheck
	@$(VM)/host-packages check
	@$(VM)/check --long

host:
	@$(VM)/host-packages

clean: ## what was built here; the cache stays
	rm -rf build

help:
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 24
	@echo "Kernels and the root file system are kept in $${UET_CACHE:-$${XDG_CACHE_HOME:-~/.cache}/uet}."

.PHONY: all modules user lib tool run shell test test-long bench bench-baseline \
	bench-readme check host clean help
