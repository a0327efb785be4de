# SPDX-License-Identifier: MIT
# lfproxy: build, test, install.  `make help` lists the targets.

VERSION     := 0.2.0
MODE        ?= release
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
LOCALSTATEDIR ?= /var
UNITDIR     ?= $(PREFIX)/lib/systemd/system
CC          ?= gcc
AR          ?= ar
PKG_CONFIG  ?= pkg-config
# The release for another machine, with the compiler of scripts/arm64-tree.
ifeq ($(MODE),arm64)
CROSS       := aarch64-linux-gnu-
CC          := $(CROSS)gcc
AR          := $(CROSS)ar
PKG_CONFIG  := $(CROSS)pkg-config
endif
V           ?= 0
Q           := $(if $(filter 1,$(V)),,@)
comma       := ,
say          = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2))

B           := build/$(MODE)

# The layers: every folder of src from the top down, and the folders below it
# that it may use, for each the uppermost ones.  check-layers compares the
# includes with this table.  A unit test links only its own layer and those below,
# so an upward call is a link error as well.
LAYERS      := import admin http commands stats live settings servers orders handover listeners pools sets watch process \
	proxy config check balance model lf resolve acl tls loop net vocabulary base
below        = $(filter $(1) $(foreach f,$(1),$(BELOW_$(f))),$(LAYERS))
BELOW_base  :=
BELOW_vocabulary := base
BELOW_net   := base
BELOW_loop  := $(call below,net)
BELOW_acl   := $(call below,net)
BELOW_tls   := $(call below,net)
BELOW_resolve := $(call below,tls loop)
BELOW_lf    := base
BELOW_model := $(call below,lf resolve acl)
BELOW_balance := $(call below,model)
BELOW_check   := $(call below,model)
BELOW_config  := $(call below,check balance vocabulary)
BELOW_proxy   := $(call below,model)
BELOW_process := $(call below,config)
BELOW_watch   := $(call below,config)
BELOW_sets    := $(call below,config proxy)
BELOW_pools   := $(call below,config proxy)
BELOW_listeners := $(call below,pools)
BELOW_handover := $(call below,process pools)
BELOW_orders  := $(call below,handover listeners)
BELOW_servers := $(call below,handover)
BELOW_live    := $(call below,servers orders watch sets)
BELOW_settings := $(call below,orders)
BELOW_stats   := $(call below,live)
BELOW_commands := $(call below,stats settings)
BELOW_http    := $(call below,commands)
BELOW_admin   := $(call below,commands)
BELOW_lfproxy := $(call below,admin http)
BELOW_import  := $(call below,vocabulary)
BELOW_ctl     := $(call below,import net)

# The number of objects of one folder that may call each other in a circle, and
# the folders where a larger circle is agreed, with its size.
CIRCLE_MAX  := 4
CIRCLES     :=

# What the compiler needs (+=) and what a packager may set (?=).
CFLAGS_release := -O2 -g
CFLAGS_debug   := -O0 -g3
# As released, and it can be made to fail (base/fault.h).
CFLAGS_fault   := $(CFLAGS_release)
CFLAGS_arm64   := $(CFLAGS_release)
# Lines for stack traces, and no more: that compiles faster.
CFLAGS_asan    := -O1 -g1 -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan    := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer
# For `make fuzz`, which calls clang: libFuzzer sees which edges are taken.  Not
# what is compared (trace-cmp): that costs a third of the inputs a second, and
# the words that there are stand in dictionaries.
FUZZ_OPTIMIZE ?= -O2 -g
CFLAGS_fuzz    := $(FUZZ_OPTIMIZE) -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls \
	-fno-omit-frame-pointer
# For `make covered`: which branches a test takes.
CFLAGS_cover   := -O1 --coverage -fprofile-update=single
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_tsan   := -fsanitize=thread
LDFLAGS_cover  := --coverage
LDFLAGS_fuzz   := -fsanitize=fuzzer,address,undefined
# The sanitizers' own checks and _FORTIFY_SOURCE get in each other's way.
HARDEN_release := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDENLD_release := -pie -Wl,-z,relro,-z,now
HARDEN_fault   := $(HARDEN_release)
HARDENLD_fault := $(HARDENLD_release)
HARDEN_arm64   := $(HARDEN_release)
HARDENLD_arm64 := $(HARDENLD_release)
DEFINES_fault  := -DLFPROXY_FAULTS
# Data threads abort when they take a second lock (base/lock.h).
DEFINES_debug  := -DLFPROXY_LOCK_CHECKS
DEFINES_asan   := $(DEFINES_debug)
DEFINES_tsan   := $(DEFINES_debug)
DEFINES_fuzz   := $(DEFINES_debug)
DEFINES_cover  := -DSECCOMP_DEFAULT='"off"'

CPPFLAGS    ?= $(filter -D%,$(HARDEN_$(MODE)))
CFLAGS      ?= $(CFLAGS_$(MODE)) $(filter-out -D%,$(HARDEN_$(MODE)))
LDFLAGS     ?= $(HARDENLD_$(MODE))
ifneq ($(filter asan tsan cover fuzz,$(MODE)),)
LDFLAGS     += $(LDFLAGS_$(MODE))
endif
WARNINGS    := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wcast-qual \
	-Wimplicit-fallthrough
ifeq ($(MODE),fuzz)
# clang's, where gcc has none.
WARNINGS    += -Wno-format-nonliteral -Wno-cast-qual
endif
# For arm64, gcc 12 counts unrolled comparisons backwards where it makes one vector
# of them.
CODE        := $(if $(filter aarch64%,$(shell $(CC) -dumpmachine 2>/dev/null)), \
	-fno-tree-slp-vectorize)
WERROR      ?=
ALL_CFLAGS  = -std=gnu11 -pthread -Isrc -D_GNU_SOURCE \
	-DLFPROXY_VERSION='"$(VERSION)"' -DLFPROXY_SYSCONFDIR='"$(SYSCONFDIR)"' \
	$(DEFINES_$(MODE)) -MMD -MP $(WARNINGS) $(WERROR) $(CPPFLAGS) $(CFLAGS) \
	$(CODE)

# Debian ships no libev.pc, hence the fall-back.
lib          = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))
LIB_EV      := $(call lib,libev,-lev)
LIB_INI     := $(call lib,inih,-linih)
LIB_CURL    := $(call lib,libcurl,-lcurl)
LIB_JANSSON := $(call lib,jansson,-ljansson)
LIB_NCURSES := $(call lib,ncursesw,-lncursesw -ltinfo)
LIB_XXHASH  := $(call lib,libxxhash,-lxxhash)
LIB_PCRE2   := $(call lib,libpcre2-8,-lpcre2-8)
LIB_SSL     := $(call lib,libssl libcrypto,-lssl -lcrypto)
LIB_CARES   := $(call lib,libcares,-lcares)
LIB_MMDB    := $(call lib,libmaxminddb,-lmaxminddb)
LIB_MHD     := $(call lib,libmicrohttpd,-lmicrohttpd)
LIB_CAPNG   := $(call lib,libcap-ng,-lcap-ng)
LIB_CRYPT   := $(call lib,libcrypt,-lcrypt)
LIB_SECCOMP := $(call lib,libseccomp,-lseccomp)
LIBS        := $(LIB_MHD) $(LIB_CRYPT) $(LIB_EV) $(LIB_INI) $(LIB_CURL) $(LIB_JANSSON) $(LIB_XXHASH) \
	$(LIB_PCRE2) $(LIB_SSL) $(LIB_MMDB) $(LIB_CARES) $(LIB_CAPNG) \
	$(LIB_SECCOMP) -lresolv -pthread -lm

layer_src    = $(wildcard src/$(1)/*.c)
layer_lib    = $(B)/lib/liblf_$(1).a
archives     = $(foreach f,$(1),$(call layer_lib,$(f)))

PROGRAMS    := $(B)/lfproxy $(B)/lfproxyctl
CTL_SRC     := $(wildcard src/ctl/*.c src/ctl/top/*.c)
MAIN_SRC    := $(wildcard src/lfproxy/*.c)
TOOLS       := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c)) \
	$(patsubst tests/tools/preload/%.c,$(B)/tools/%.so,$(wildcard \
	tests/tools/preload/*.c)) \
	$(B)/lab/lab_load
# tests/unit/LAYER/test_*.c is one program each; other files there are shared.
UNIT_LAYERS ?= $(LAYERS)
UNIT_SRC    := $(wildcard $(UNIT_LAYERS:%=tests/unit/%/test_*.c))
# ThreadSanitizer has nothing to find where tests start no thread.
ifeq ($(MODE),tsan)
UNIT_SRC    := $(filter $(foreach t,$(shell grep '^test_' tests/unit/threads),%/$(t).c), \
	$(UNIT_SRC))
endif
UNITS       := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

.PHONY: all help run demo-tools clean install uninstall deb tools units check check-all check-import \
	check-release check-forky check-timing check-long check-san check-arm64 \
	check-sim check-model check-package check-service check-image image check-page page-picture fuzz fuzz-minimize fuzzers lab lab-matrix \
	lab-predict lab-calibrate \
	top-picture bench bench-deps bench-profile bench-faults bench-checks bench-admin \
	bench-upgrades soak \
	check-layers check-docs lint lint-deps lint-format lint-warnings \
	lint-cppcheck lint-shell lint-man format
all: $(PROGRAMS) ## build lfproxy and lfproxyctl (the default)

help: ## list these targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

# Once in each build directory: a machine without the compiler or a library is
# told what to install.
$(B)/.deps: scripts/check-deps
	@scripts/check-deps $(CC)
	@mkdir -p $(@D) && touch $@

# The fault build differs from the release where faults are planted, and takes
# all other objects from there.
ifeq ($(MODE),fault)
FAULTY      := $(shell grep -l '"base/fault\.h"' -r src --include='*.c')
RELEASE_OBJ := build/release/obj
$(RELEASE_OBJ)/%.o: src/%.c | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(DEFINES_fault),$(ALL_CFLAGS)) -c -o $@ $<
endif
objects      = $(foreach s,$(1),$(if $(and $(RELEASE_OBJ),$(filter-out \
	$(FAULTY),$(s))),$(RELEASE_OBJ),$(B)/obj)/$(s:src/%.c=%.o))
$(B)/obj/http/assets.o: $(wildcard src/http/page/*)
$(B)/obj/%.o: src/%.c | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define layer_rule
$(call layer_lib,$(1)): $(call objects,$(call layer_src,$(1)))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach f,$(LAYERS),$(eval $(call layer_rule,$(f))))

$(B)/lfproxy: $(call objects,$(MAIN_SRC)) \
    $(call archives,$(BELOW_lfproxy))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/lfproxyctl: $(call objects,$(CTL_SRC)) \
    $(call archives,$(BELOW_ctl))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_NCURSES) $(LIB_JANSSON) \
	    $(LIB_XXHASH) -pthread

tools: $(TOOLS) $(B)/lab/lab_load ## build the tests' servers and clients
$(B)/tools/%: tests/tools/%.c | $(B)/.deps
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(LDFLAGS) -o $@ $(filter %.c,$^) -pthread \
	    $(TOOL_LIBS)
# A larger tool has a folder of its name for all but its main file.
define tool_parts
$(B)/tools/$(1): $(wildcard tests/tools/*.h tests/tools/$(1)/*.[ch])
endef
$(foreach f,ends streamer tlsload upgradeload,$(eval $(call tool_parts,$(f))))
$(addprefix $(B)/tools/,ends streamer tlsload): TOOL_LIBS := $(LIB_SSL) -lm
$(B)/tools/upgradeload: TOOL_LIBS := -lm
$(B)/tools/discover: $(call archives,resolve $(BELOW_resolve))
$(B)/tools/discover: TOOL_LIBS := $(call archives,resolve $(BELOW_resolve)) $(LIBS)

# A test's program takes lld a fifth of the time that GNU ld needs for it.  What
# is installed is linked by the compiler's own choice.  A compiler for another
# machine looks for it below that machine's name, but for -B.
TEST_LD     := $(if $(shell command -v ld.lld),-fuse-ld=lld$(if $(CROSS), -B/usr/bin))

# Preloaded into the program under test, so it is no part of any PIE.
$(B)/tools/%.so: tests/tools/preload/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fPIE -fsanitize%,$(ALL_CFLAGS)) -Itests \
	    -fPIC -shared -o $@ $<

# A unit test of layer L links its own file, the files beside it that do not
# start with test_, and the archives of L and of the layers below L.  Most tests
# have no use for cmocka's parameter.
units: $(UNITS) ## build the unit tests
# What is tested is compiled as it is released; the test itself need not be.
UNIT_CFLAGS_release := -O1 -g1
UNIT_CFLAGS_arm64   := $(UNIT_CFLAGS_release) -DUNIT_EMULATED
UNIT_CC      = $(CC) $(ALL_CFLAGS) $(UNIT_CFLAGS_$(MODE)) \
	-Wno-unused-parameter -Itests -Itests/unit
$(B)/unit/%.o: tests/unit/%.c | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(UNIT_CC) -c -o $@ $<
unit_objects = $(patsubst tests/%.c,$(B)/%.o,$(filter-out \
	tests/unit/$(1)/test_%,$(wildcard tests/unit/$(1)/*.c)) $(UNIT_SHARED_$(1)))
# The core's tests count what is taken from the heap (lf/alloc_count.h).
UNIT_LDFLAGS_lf := $(foreach f,malloc calloc realloc aligned_alloc,-Wl,--wrap=$(f))
# Backends in these tests choose by the algorithms of a layer above.
UNIT_ABOVE_model := balance
UNIT_ABOVE_proxy := balance
UNIT_ABOVE_check := balance
# What they share with the commands' tests.
UNIT_SHARED_admin := tests/unit/commands/fixture.c
# Backends and frontends of the model's tests.
UNIT_SHARED_orders := tests/unit/model/rig.c
define unit_rule
$(B)/unit/$(1)/test_%: $(B)/unit/$(1)/test_%.o $(call unit_objects,$(1)) \
    $(call archives,$(UNIT_ABOVE_$(1)) $(1) $(BELOW_$(1)))
	$$(call say,LD,$$@)
	$$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LD) $(UNIT_LDFLAGS_$(1)) -o $$@ $$^ \
	    $(LIBS) -lcmocka
endef
$(foreach f,$(LAYERS),$(eval $(call unit_rule,$(f))))
# Without the objects beside it, which would link backends: see its comment.
$(B)/unit/model/test_server: $(B)/unit/model/test_server.o \
    $(call archives,model acl tls net base)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LD) -o $@ $^ $(LIBS) -lcmocka
.SECONDARY: $(UNITS:=.o) $(foreach f,$(LAYERS),$(call unit_objects,$(f)))

# The laboratory links the layers as they are.  Where an experiment changes what
# they do, the linker puts a function of the lab before theirs; the other core
# defines all that src/lf/shard*.c do, so that these stay in their archive.
LAB_WRAPS   := event_handler_run policy_calibrate pool_new
LAB_PROXY   := $(addprefix tests/lab/lab_,alloc.c fault.c proxy.c status.c) \
	tests/unit/lf/promotion_mutex.c
LAB         := $(addprefix $(B)/lab/,lab_proxy lab_proxy_hshr lab_load null_bench)
LAB_CC       = $(CC) $(ALL_CFLAGS) -Itests -Itests/unit $(LDFLAGS) -o $@
$(B)/lab/lab_proxy: $(LAB_PROXY) $(call archives,$(BELOW_admin))
$(B)/lab/lab_proxy_hshr: tests/lab/hshr.c tests/lab/hshr_request.c \
    $(LAB_PROXY) $(call archives,$(BELOW_admin))
$(B)/lab/lab_proxy_hshr: LAB_WRAPS += recv
$(B)/lab/lab_proxy $(B)/lab/lab_proxy_hshr:
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $(LAB_WRAPS:%=-Wl,--wrap=%) $(filter %.c %.a,$^) $(LIBS)
$(B)/lab/lab_load: tests/lab/lab_load.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $< -lm
$(B)/lab/promotion_futex.o: src/lf/promotion_futex.c tests/lab/counted_cas.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -include tests/lab/counted_cas.h -c -o $@ $<
$(B)/lab/null_bench: tests/lab/null_bench.c tests/lab/counted_cas.c \
    tests/unit/lf/promotion_mutex.c \
    $(B)/lab/promotion_futex.o $(call archives,lf base)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $(filter %.c %.o %.a,$^) -pthread

# The simulator: the core, and what it is tested with, on simulated threads.
SIM_HOOKED  := $(filter-out %/handle_set_epoll.c %/policy_calibrate.c, \
	$(wildcard src/lf/*.c)) \
	$(addprefix src/base/,clock.c err.c grace.c histogram.c printable.c \
	secrets.c slab.c) $(addprefix src/proxy/,keeper.c pacer.c reaper.c) \
	tests/unit/lf/handle_set_scripted.c \
	$(addprefix tests/sim/,world.c world_check.c world_keeper.c \
	promotion_checked.c)
SIM_SRC     := $(SIM_HOOKED) $(filter-out $(SIM_HOOKED),$(wildcard tests/sim/*.c))
SIM_OBJ     := $(SIM_SRC:%.c=$(B)/sim/%.o)
SIM_CC       = $(CC) $(ALL_CFLAGS) -Itests -Itests/unit
$(B)/sim/%.o: %.c tests/sim/hooks.h | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(SIM_CC) $(if $(filter $<,$(SIM_HOOKED)),-include sim/hooks.h) \
	    -c -o $@ $<
$(B)/sim/lf_sim: $(SIM_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

# The cost model: the core once more, where an operation on a shared word also
# has a price.
COST_HOOKED := $(filter-out tests/% src/proxy/%,$(SIM_HOOKED)) \
	$(addprefix tests/sim/cost/,traffic.c wires.c)
COST_SRC    := $(COST_HOOKED) $(addprefix tests/sim/,common.c descriptors.c kernel.c \
	switch.c) \
	$(addprefix tests/sim/cost/,cache.c costs.c cpus.c lf_cost.c)
COST_OBJ    := $(COST_SRC:%.c=$(B)/sim/cost/%.o)
$(B)/sim/cost/%.o: %.c tests/sim/hooks.h tests/sim/cost/cache.h | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(SIM_CC) -DSIM_COSTS \
	    $(if $(filter $<,$(COST_HOOKED)),-include sim/hooks.h) -c -o $@ $<
$(B)/sim/lf_cost: $(COST_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm
$(B)/sim/lf_calibrate: $(addprefix $(B)/sim/cost/tests/sim/cost/, \
	lf_calibrate.o costs.o)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

check-sim: $(B)/sim/lf_sim $(B)/sim/lf_cost ## the core under random schedules, its golden traces, and mutants
	@python3 -B tests/sim/check.py $(B)/sim '$(SIM_CC) -include sim/hooks.h' \
	    '$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LD)' $(SIM_OBJ)

# The fuzz targets (tests/fuzz/fuzz.h): with libFuzzer in MODE=fuzz, and with a
# main that replays the stored inputs in every other.
FUZZ        := admin check discovery dns hello http image import ini lists proxy receiver rules state \
	text tls top
FUZZ_SHARED := $(addprefix tests/fuzz/,fuzz_clock.c fuzz_names.c world.c)
FUZZ_WRAPS_http := sock_listen
FUZZ_WRAPS_ini  := glob open stat
FUZZ_WRAPS_top  := ctl_ask
FUZZ_SRC_top    := $(addprefix src/ctl/,client.c top/data.c)
FUZZ_WRAPS  := getaddrinfo control_reload upgrade_begin hosts_file_find dns_server_ask
ifneq ($(MODE),fuzz)
FUZZ_SHARED += tests/fuzz/replay.c
endif
FUZZERS     := $(FUZZ:%=$(B)/fuzz/%)
$(B)/fuzz/%.o: tests/fuzz/%.c | $(B)/.deps
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<
$(B)/fuzz/top: $(patsubst src/%.c,$(B)/obj/%.o,$(FUZZ_SRC_top))
# The start composes the endpoints, and so do the targets.
$(B)/fuzz/%: $(B)/fuzz/%.o $(FUZZ_SHARED:tests/%.c=$(B)/%.o) \
    $(call objects,src/lfproxy/endpoints.c) $(call archives,import $(BELOW_lfproxy))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LD) \
	    $(patsubst %,-Wl$(comma)--wrap=%,$(FUZZ_WRAPS) $(FUZZ_WRAPS_$*)) \
	    -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
.SECONDARY: $(FUZZ:%=$(B)/fuzz/%.o) $(FUZZ_SHARED:tests/%.c=$(B)/%.o)
fuzzers: $(FUZZERS) ## build the fuzz targets

# What the benches need beside the lab's load.
BENCH       := $(addprefix $(B)/bench/, pour sink sources) $(B)/lab/lab_load $(addprefix $(B)/tools/, \
	appserver badclient badserver streamer tlsload)
$(B)/bench/%: tests/bench/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $<

# A look-up in an address list, and an accept under a limit by source; not a part
# of `make bench`.
$(B)/bench/acl_lookup: tests/bench/acl_lookup.c $(call archives,acl net base)
$(B)/bench/source_accept: tests/bench/source_accept.c \
	$(call archives,model $(BELOW_model))
$(B)/bench/acl_lookup $(B)/bench/source_accept:
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $(filter %.c %.a,$^) $(LIBS)

clean: ## remove everything that was built
	$(Q)rm -rf build

# Nothing to say when nothing is to be done.
all tools units fuzzers demo-tools: ; @:
demo-tools: $(B)/tools/appserver

# What follows needs other packages than the compiler's: install-deps brings
# those that are missing, and does nothing when all are there.
#
# As many compilers at a time as there are CPUs, unless make was given -j.
ALL_CPUS     = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
PORT        ?= 8080
run: ## try it: two demo servers and lfproxy in front of them, until Ctrl-C; PORT=9000
	@scripts/install-deps run
	@$(MAKE) --no-print-directory $(ALL_CPUS) all demo-tools
	@exec env LFPROXY_BUILD=$(B) scripts/demo $(PORT)

TEST_BUILDS  = $(MAKE) --no-print-directory $(ALL_CPUS) all tools units fuzzers \
	    $(LAB) && \
	$(MAKE) --no-print-directory $(ALL_CPUS) MODE=fault all
check: ## the tests that a change has to pass; 5 minutes on two CPUs
	@scripts/install-deps check
	@$(TEST_BUILDS)
	@scripts/run-tests $(MODE) check

check-all: ## check, and the simulator, the models and the slow tests; 10 minutes
	@scripts/install-deps check
	@$(TEST_BUILDS)
	@$(MAKE) --no-print-directory $(B)/sim/lf_sim $(B)/sim/lf_cost
	@scripts/run-tests $(MODE) all

# RELEASE=bookworm SUITE=check: all tests, in a tree of that release; SUITE=package
# and SUITE=service: the package's, and those of the service in a booted container.
RELEASE     ?=
SUITE       ?= basics
check-release: ## the other supported Debian release: -Werror, unit and basic behaviour tests in a tree of its packages; root; RELEASE=trixie SUITE=check; 5 minutes
	@scripts/check-release "$(RELEASE)" $(SUITE)
check-forky: ## the same in the release that Debian prepares, which may break it
	@scripts/check-release forky $(SUITE)

check-timing: ## tests of promises about time, for a machine with nothing else to do
	@scripts/install-deps check
	@$(TEST_BUILDS)
	@$(MAKE) --no-print-directory $(BENCH)
	@scripts/run-tests $(MODE) timing

check-long: ## the tests that take minutes: storms, reloads, upgrades, leaks
	@scripts/install-deps check
	@$(TEST_BUILDS)
	@$(MAKE) --no-print-directory $(BENCH)
	@scripts/run-tests $(MODE) long

# COUNT=300 SEED=1: so many configurations of either program, from this seed on.
COUNT       ?= 150
SEED        ?= 1
check-import: all ## generated configurations of HAProxy and nginx, beside what becomes of them; COUNT=150 SEED=1; an hour
	@scripts/install-deps check
	@scripts/check-import $(B) $(COUNT) $(SEED)

check-san: ## unit and behaviour tests under ASan+UBSan, then under TSan
	@scripts/install-deps check
	@$(MAKE) --no-print-directory $(ALL_CPUS) MODE=release tools \
	    build/release/lfproxyctl
	@rc=0; for mode in asan tsan; do \
		echo "== $$mode"; \
		$(MAKE) --no-print-directory MODE=$$mode all units fuzzers && \
		scripts/run-tests $$mode quick || rc=1; \
	done; exit $$rc

# Which behaviour tests sanitizers may leave out; takes half an hour.  NEW=1: tests
# that have the tag keep it, and only the others are run.
.PHONY: covered
covered:
	@scripts/install-deps check
	@$(MAKE) --no-print-directory $(ALL_CPUS) MODE=release all tools
	@$(MAKE) --no-print-directory $(ALL_CPUS) MODE=fault all
	@$(MAKE) --no-print-directory $(ALL_CPUS) MODE=cover all units fuzzers
	@rm -rf build/covered
	@python3 -B tests/behaviour/covered.py build/cover build/covered \
	    $(if $(filter 1,$(NEW)),new)

check-package: ## lintian, the AppArmor profile, and that another build is the same; 2 minutes
	@scripts/run-tests $(MODE) package

check-service: ## the package and make install in a booted container; root; 2 minutes after the first
	@scripts/run-tests $(MODE) service

check-arm64: ## the build for arm64, its unit tests and a core of behaviour tests by an emulator; root; 5 minutes after the first
	@scripts/check-arm64

check-page: page-deps ## the status page in a real browser, headless Chromium; 10 seconds after the first
	@python3 -B tests/page/check.py $(B)
page-picture: page-deps ## the status page after a while of traffic, also dark, on a phone, its failures; PICTURE=man/status-page.png SHORT=1: after a moment
	@python3 -B tests/page/check.py $(B) $(PICTURE)
PICTURE ?= build/page.png
page-deps:
	@scripts/install-deps page
	@$(MAKE) --no-print-directory all tools
.PHONY: page-deps

# BUILD_OPTIONS="--network host" goes to podman's or docker's build.
IMAGE       ?= lfproxy:$(VERSION)
BASE        ?= debian:13-slim
BUILD_OPTIONS ?=
image: ## build the container image with podman or docker; IMAGE=lfproxy:1.0 BASE=debian:13-slim
	@scripts/image $(VERSION) $(IMAGE) $(BASE) $(BUILD_OPTIONS)

check-image: ## the container image, built without a registry and run by podman; root; 1 to 8 minutes
	@scripts/install-deps image
	@scripts/run-tests $(MODE) image

check-model: ## the SPIN models of the core, and that they catch planted bugs
	@scripts/install-deps check
	@python3 -B tests/model/check.py

# FUZZ_RUNS=1000000 FUZZ_SECONDS=3600 ONLY=admin,http: so many inputs, in so much
# time at most, for these targets only.
FUZZ_RUNS    ?= -1
FUZZ_SECONDS ?= 60
FUZZ_RUN      = python3 -B tests/fuzz/fuzz.py build/fuzz $(if $(ONLY),--only '$(ONLY)')
fuzz-deps:
	@scripts/install-deps fuzz
	@$(MAKE) --no-print-directory $(ALL_CPUS) MODE=fuzz CC=clang fuzzers
fuzz: fuzz-deps ## made-up inputs for every parser, under ASan and UBSan; FUZZ_RUNS=1000000 FUZZ_SECONDS=60 ONLY=admin,http
	@$(FUZZ_RUN) --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS)
fuzz-minimize: fuzz-deps ## keep what `make fuzz` has found out in the stored corpus
	@$(FUZZ_RUN) --minimize

lab: ## the pattern's claims as experiments, with a verdict on each; 8 minutes
	@scripts/install-deps lab
	@$(MAKE) --no-print-directory $(LAB) $(B)/tools/appserver
	@PYTHONPATH=tests python3 -B tests/lab/lab.py $(B) build/lab.md
# COSTS, CONNECTIONS, THREADS, SHARDS, LOADS, SECONDS_PER_CELL, ROUNDS select; see
# tests/lab/README.md.
lab-matrix: ## the promotion policies against each other at many loads; COSTS=all THREADS="2 4"; 20 minutes
	@scripts/install-deps lab
	@$(MAKE) --no-print-directory $(B)/lab/lab_proxy $(B)/lab/lab_load \
	    $(B)/tools/appserver
	@PYTHONPATH=tests python3 -B tests/lab/matrix.py $(B) \
	    $(addprefix build/lab-matrix$(if $(SHORT),-short),.jsonl .md)
# COSTS_OF and MEASURED: other files than the repository's, as lab-calibrate and
# lab-matrix write them.
COSTS_OF    ?= tests/sim/cost/costs.txt
MEASURED    ?= tests/lab/measured.jsonl
lab-predict: ## what the core would do on up to 64 CPUs, and how well that is predicted for two; COSTS_OF=build/costs.txt; 3 minutes
	@scripts/install-deps lab
	@$(MAKE) --no-print-directory $(ALL_CPUS) $(B)/sim/lf_cost
	@PYTHONPATH=tests python3 -B tests/lab/predict.py $(B) $(COSTS_OF) \
	    $(MEASURED) build/lab-predict.md
lab-calibrate: ## this machine's costs for lab-predict, into build/costs.txt; wants an idle machine
	@scripts/install-deps lab
	@$(MAKE) --no-print-directory $(ALL_CPUS) $(B)/sim/lf_calibrate \
	    $(B)/lab/lab_load $(B)/tools/appserver
	@PYTHONPATH=tests python3 -B tests/lab/calibrate.py $(B) build/costs.txt

# ROUNDS=9 ONLY=bulk,bulk8: so many rounds, of these works only; ONLY=tls: those
# with TLS.  PEERS=machine,trixie,forky: HAProxy and nginx of this machine and of
# trees that scripts/peers makes; else of this machine and all trees that are there.
ROUNDS      ?= 5
ONLY        ?=
PEERS       ?=
TREES        = $(filter-out machine,$(subst $(comma), ,$(PEERS)))
SECONDS     ?= 300
BENCH_RUN    = PYTHONPATH=tests python3 -B tests/bench
export PEERS
bench: bench-deps ## beside HAProxy and nginx, with the budgets; PEERS=trixie,forky; ROUNDS=9 ONLY=bulk, ONLY=tls, ONLY=low, ONLY=idle, ONLY=limits, ONLY=bandwidth, ONLY=lists; 26 minutes
	@$(BENCH_RUN)/bench.py $(B) build/bench.md --rounds $(ROUNDS) \
	    $(if $(ONLY),--only '$(ONLY)')
bench-profile: bench-deps ## system calls and functions per request, connection and GB of all three; 2 minutes
	@$(BENCH_RUN)/profile_calls.py $(B) build/bench-profile.md
bench-faults: bench-deps ## what healthy clients of all three see while others misbehave; 8 minutes
	@$(BENCH_RUN)/faults.py $(B) build/bench-faults.md --rounds 3 \
	    $(if $(ONLY),--only '$(ONLY)')
bench-checks: bench-deps ## traffic beside the checks of 500 servers, half of them dead; 4 minutes
	@$(BENCH_RUN)/checks.py $(B) build/bench-checks.md --rounds $(ROUNDS)
bench-upgrades: bench-deps ## what sessions of all three see of upgrades, and what is left of former processes; 1 minute
	@$(BENCH_RUN)/upgrades.py $(B) build/bench-upgrades.md
bench-admin: bench-deps ## sessions and other admin clients beside 200 hostile ones; 2 minutes
	@$(BENCH_RUN)/admin.py $(B) build/bench-admin.md --rounds $(ROUNDS)
soak: bench-deps ## mixed load: memory and descriptors stay flat; SECONDS=300
	@$(BENCH_RUN)/soak.py $(B) --seconds $(SECONDS)
top-picture: bench-deps ## what lfproxyctl top shows while a pool is resized, into src/lf/README.md
	@scripts/top-picture.py $(B) src/lf/README.md
bench-deps:
	@scripts/install-deps bench $(if $(wildcard build/peers),peers)
	@$(if $(TREES),scripts/peers $(TREES))
	@$(MAKE) --no-print-directory all $(BENCH)

check-layers: all ## no include from a layer above, no large circle of calls, mutants fit the core
	@scripts/check-layers $(foreach f,$(LAYERS) lfproxy ctl,'$(f)=$(BELOW_$(f))')
	@scripts/check-circles.py $(CIRCLE_MAX) $(CIRCLES) $(sort $(call objects, \
	    $(foreach f,$(LAYERS),$(call layer_src,$(f))) $(MAIN_SRC) $(CTL_SRC)))
	@python3 -B tests/sim/mutants.py

check-docs: all ## every key and command is in the man pages, examples are valid
	@scripts/check-docs $(B)

C_FILES      = $(shell find src tests -name '*.[ch]' 2>/dev/null)
SH_FILES     = .ci/run $(filter-out %.awk %.py %.supp,$(wildcard scripts/*)) \
	$(wildcard packaging/debian/*.postinst packaging/debian/*.postrm) \
	$(wildcard packaging/certbot/*) \
	$(filter-out %/control,$(wildcard packaging/debian/tests/*)) \
	$(filter-out %.py,$(wildcard tests/package/* tests/service/*)) \
	$(shell find tests -name '*.bash' 2>/dev/null)
COMPLETIONS := $(filter-out etc/completion/_%,$(wildcard etc/completion/*))
ZSH_COMPLETIONS := $(wildcard etc/completion/_*)
MAN_PAGES   := $(wildcard man/*.[0-9])

# Parts of their own, so that `make -k lint` finds everything at once.
lint: lint-format lint-warnings lint-cppcheck lint-shell lint-man ## clang-format, compiler and cppcheck warnings, shellcheck, mandoc
lint-deps:
	@scripts/install-deps lint
lint-format: lint-deps
	$(call say,LINT,clang-format)
	$(Q)clang-format --dry-run -Werror $(C_FILES)
lint-warnings: lint-deps
	$(call say,LINT,compiler)
	$(Q)printf '%s\n' $(filter src/%.c tests/tools/%.c,$(C_FILES)) | \
	    xargs -n 8 -P 2 $(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Itests \
	    -Werror -fsyntax-only
lint-cppcheck: lint-deps
	$(call say,LINT,cppcheck)
	@mkdir -p build/cppcheck
	$(Q)cppcheck -j $(shell nproc) --cppcheck-build-dir=build/cppcheck --quiet \
	    --std=c11 --enable=warning,performance,portability \
	    --inline-suppr --suppressions-list=scripts/cppcheck.supp \
	    --error-exitcode=1 -Isrc -D_GNU_SOURCE src $(wildcard tests/tools)
lint-shell: lint-deps
	$(call say,LINT,shellcheck)
	$(Q)shellcheck $(SH_FILES)
	$(Q)shellcheck --shell=bash $(COMPLETIONS)
lint-man: lint-deps
	$(call say,LINT,mandoc)
	$(Q)mandoc -Tlint -W warning $(MAN_PAGES)
	$(call say,LINT,groff)
	$(Q)scripts/lint-man $(MAN_PAGES)

format: ## bring every C file into the form that lint asks for
	clang-format -i $(C_FILES)

SBINDIR     := $(PREFIX)/sbin
BINDIR      := $(PREFIX)/bin
MANDIR      := $(PREFIX)/share/man
EXAMPLEDIR  := $(PREFIX)/share/doc/lfproxy/examples
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions
ZSHDIR      := $(PREFIX)/share/zsh/vendor-completions
HOOKDIR     := $(PREFIX)/lib/lfproxy
SYSUSERSDIR := $(PREFIX)/lib/sysusers.d
EXAMPLES    := $(wildcard etc/examples/*.ini etc/examples/*.conf)
# Folders of packaging that are installed as examples.
PLATFORMS   := prometheus grafana kubernetes
INI         := $(SYSCONFDIR)/lfproxy/lfproxy.ini
UNIT        := $(UNITDIR)/lfproxy.service
# A package's scripts do this themselves (DESTDIR).
service      = $(if $(DESTDIR),:,scripts/service)

install: all ## install below DESTDIR and PREFIX; an existing lfproxy.ini stays
	install -D -m 755 $(B)/lfproxy $(DESTDIR)$(SBINDIR)/lfproxy
	install -D -m 755 $(B)/lfproxyctl $(DESTDIR)$(BINDIR)/lfproxyctl
	install -d $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8
	install -m 644 $(filter %.5,$(MAN_PAGES)) $(DESTDIR)$(MANDIR)/man5
	install -m 644 $(filter %.8,$(MAN_PAGES)) $(DESTDIR)$(MANDIR)/man8
	install -d $(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(EXAMPLEDIR)
	install -m 644 $(COMPLETIONS) $(DESTDIR)$(COMPLETIONDIR)
	install -d $(DESTDIR)$(ZSHDIR)
	install -m 644 $(ZSH_COMPLETIONS) $(DESTDIR)$(ZSHDIR)
	install -m 644 $(EXAMPLES) $(DESTDIR)$(EXAMPLEDIR)
	install -m 644 packaging/systemd/lfproxy.service.d/credentials.conf.example \
	    $(DESTDIR)$(EXAMPLEDIR)/credentials.conf
	for platform in $(PLATFORMS); do \
	    install -d $(DESTDIR)$(EXAMPLEDIR)/$$platform && \
	    install -m 644 packaging/$$platform/* \
	        $(DESTDIR)$(EXAMPLEDIR)/$$platform || exit; done
	install -d $(DESTDIR)$(HOOKDIR)
	sed 's|/usr/lib/lfproxy|$(HOOKDIR)|g' packaging/certbot/lfproxy-deploy \
	    >$(DESTDIR)$(HOOKDIR)/lfproxy-deploy
	chmod 755 $(DESTDIR)$(HOOKDIR)/lfproxy-deploy
	install -D -m 644 packaging/systemd/lfproxy.sysusers \
	    $(DESTDIR)$(SYSUSERSDIR)/lfproxy.conf
	install -d $(DESTDIR)$(UNITDIR)
	sed -e 's|@SBINDIR@|$(SBINDIR)|g' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|g' \
	    packaging/systemd/lfproxy.service.in \
	    >$(DESTDIR)$(UNITDIR)/lfproxy.service
	chmod 644 $(DESTDIR)$(UNITDIR)/lfproxy.service
	test -e $(DESTDIR)$(INI) || \
	    install -D -m 644 etc/lfproxy.ini $(DESTDIR)$(INI)
	@$(service) install $(UNIT) $(SYSUSERSDIR)/lfproxy.conf $(INI)

uninstall: ## stop the service and remove what install installed, but for lfproxy.ini
	@$(service) stop $(UNIT)
	rm -f $(DESTDIR)$(SBINDIR)/lfproxy $(DESTDIR)$(BINDIR)/lfproxyctl
	rm -f $(foreach s,5 8,$(patsubst man/%,$(DESTDIR)$(MANDIR)/man$(s)/%, \
	    $(filter %.$(s),$(MAN_PAGES))))
	rm -f $(patsubst etc/completion/%,$(DESTDIR)$(COMPLETIONDIR)/%, \
	    $(COMPLETIONS))
	rm -f $(patsubst etc/completion/%,$(DESTDIR)$(ZSHDIR)/%, \
	    $(ZSH_COMPLETIONS))
	rm -f $(patsubst etc/examples/%,$(DESTDIR)$(EXAMPLEDIR)/%,$(EXAMPLES)) \
	    $(DESTDIR)$(EXAMPLEDIR)/credentials.conf
	rm -f $(foreach p,$(PLATFORMS),$(patsubst packaging/%, \
	    $(DESTDIR)$(EXAMPLEDIR)/%,$(wildcard packaging/$(p)/*)))
	rm -f $(DESTDIR)$(HOOKDIR)/lfproxy-deploy
	rm -f $(DESTDIR)$(SYSUSERSDIR)/lfproxy.conf
	rm -f $(DESTDIR)$(UNITDIR)/lfproxy.service
	rmdir $(addprefix $(DESTDIR)$(EXAMPLEDIR)/,$(PLATFORMS)) \
	    $(DESTDIR)$(EXAMPLEDIR) $(DESTDIR)$(dir $(EXAMPLEDIR)) \
	    $(DESTDIR)$(HOOKDIR) || :
	@$(service) uninstalled $(UNIT)

LINTIAN     ?= lintian
# ARCH=arm64: cross-built in the tree of scripts/arm64-tree.
ARCH        ?=
DEB         := build/deb$(addprefix -,$(ARCH))
deb: ## build the Debian package into build/deb and check it with lintian; ARCH=arm64: cross-built, into build/deb-arm64
	@scripts/install-deps deb
	$(if $(ARCH),scripts/$(ARCH)-tree )scripts/build-deb $(VERSION)$(if \
	    $(ARCH), $(DEB) $(ARCH))
	$(LINTIAN) --pedantic -I --fail-on error --tag-display-limit 0 \
	    $(DEB)/*.changes
	ls -l $(DEB)/*.deb

-include $(shell find $(B) $(RELEASE_OBJ) -name '*.d' 2>/dev/null)
