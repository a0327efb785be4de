# SPDX-License-Identifier: MIT
# lfproxy: build, test, install.  `make help` lists the targets.

VERSION     := 0.1.0
MODE        ?= release
PREFIX      ?= /usr/local
SYSCONFDIR  ?= /etc
LOCALSTATEDIR ?= /var
UNITDIR     ?= $(PREFIX)/lib/systemd/system
CC          ?= gcc
AR          ?= ar
PKG_CONFIG  ?= pkg-config
V           ?= 0
Q           := $(if $(filter 1,$(V)),,@)
say          = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2))

B           := build/$(MODE)

# The house: every folder of src and the folders below it that it may use.
# check-layers reads the includes against this table; a unit test links only
# its own floor and those below, so a wrong arrow is a link error as well.
FLOORS      := base net lf model config proxy check control admin
BELOW_base  :=
BELOW_net   := base
BELOW_lf    := base
BELOW_model := net base
BELOW_config  := model net base
BELOW_proxy   := lf model net base
BELOW_check   := model net base
BELOW_control := check proxy config model lf net base
BELOW_admin   := control check proxy config model lf net base
BELOW_main    := admin control check proxy config model lf net base

# What the compiler needs (+=) and what a packager may set (?=).
CFLAGS_release := -O2 -g
CFLAGS_debug   := -O0 -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_tsan   := -fsanitize=thread
# The sanitizers' own checks and _FORTIFY_SOURCE get in each other's way.
HARDEN_release := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDENLD_release := -pie -Wl,-z,relro,-z,now

CPPFLAGS    ?= $(filter -D%,$(HARDEN_$(MODE)))
CFLAGS      ?= $(CFLAGS_$(MODE)) $(filter-out -D%,$(HARDEN_$(MODE)))
LDFLAGS     ?= $(HARDENLD_$(MODE))
ifneq ($(filter asan tsan,$(MODE)),)
LDFLAGS     += $(LDFLAGS_$(MODE))
endif
WARNINGS    := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wcast-qual \
	-Wimplicit-fallthrough
WERROR      ?=
ALL_CFLAGS  = -std=gnu11 -pthread -Isrc -D_GNU_SOURCE \
	-DLFPROXY_VERSION='"$(VERSION)"' -DLFPROXY_SYSCONFDIR='"$(SYSCONFDIR)"' \
	-MMD -MP $(WARNINGS) $(WERROR) $(CPPFLAGS) $(CFLAGS)

# Debian ships no libev.pc, hence the fall-back.
lib          = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))
LIB_EV      := $(call lib,libev,-lev)
LIB_INI     := $(call lib,inih,-linih)
LIB_CURL    := $(call lib,libcurl,-lcurl)
LIB_JANSSON := $(call lib,jansson,-ljansson)
LIBS        := $(LIB_EV) $(LIB_INI) $(LIB_CURL) $(LIB_JANSSON) -pthread -lm

floor_src    = $(wildcard src/$(1)/*.c)
floor_lib    = $(B)/lib/liblf_$(1).a
archives     = $(foreach f,$(1),$(call floor_lib,$(f)))

PROGRAMS    := $(B)/lfproxy $(B)/lfproxyctl
CTL_SRC     := src/main/lfproxyctl.c
MAIN_SRC    := $(filter-out $(CTL_SRC),$(wildcard src/main/*.c))
TOOLS       := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c))
# tests/unit/FLOOR/test_*.c is one program each; other files there are shared.
UNIT_SRC    := $(wildcard tests/unit/*/test_*.c)
UNITS       := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

.PHONY: all help run clean install uninstall deb tools units check check-san lab \
	check-layers check-docs lint lint-deps lint-format lint-warnings \
	lint-cppcheck lint-shell lint-man format
all: $(PROGRAMS) ## build lfproxy and lfproxyctl (the default)

help: ## list these targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

$(B)/obj/%.o: src/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define floor_rule
$(call floor_lib,$(1)): $(patsubst src/%.c,$(B)/obj/%.o,$(call floor_src,$(1)))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach f,$(FLOORS),$(eval $(call floor_rule,$(f))))

$(B)/lfproxy: $(patsubst src/%.c,$(B)/obj/%.o,$(MAIN_SRC)) \
    $(call archives,$(BELOW_main))
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/lfproxyctl: $(patsubst src/%.c,$(B)/obj/%.o,$(CTL_SRC)) \
    $(call archives,net base)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

tools: $(TOOLS) ## build the tests' servers and clients
$(B)/tools/%: tests/tools/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -pthread

# A unit test of floor F links its own file, the files beside it that do not
# start with test_, and the archives of F and of the floors below F.
units: $(UNITS) ## build the unit tests
# The core's tests count what is taken from the heap (lf/alloc_count.h).
UNIT_LDFLAGS_lf := $(foreach f,malloc calloc realloc aligned_alloc,-Wl,--wrap=$(f))
define unit_rule
$(B)/unit/$(1)/test_%: tests/unit/$(1)/test_%.c \
    $(filter-out tests/unit/$(1)/test_%,$(wildcard tests/unit/$(1)/*.c)) \
    $(call archives,$(1) $(BELOW_$(1)))
	$$(call say,CC,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit $(LDFLAGS) \
	    $(UNIT_LDFLAGS_$(1)) -o $$@ \
	    $$(filter %.c,$$^) $$(filter %.a,$$^) $(LIBS) -lcmocka
endef
$(foreach f,$(FLOORS),$(eval $(call unit_rule,$(f))))

# The laboratory links the floors as they are.  Where an experiment changes what
# they do, the linker puts a function of the lab before theirs; the other core
# defines all that src/lf/shard.c does, so that one stays in its archive.
LAB_WRAPS   := event_handler_run policy_calibrate pool_new
LAB_PROXY   := $(addprefix tests/lab/lab_,alloc.c fault.c proxy.c status.c)
LAB         := $(addprefix $(B)/lab/,lab_proxy lab_proxy_hshr lab_load null_bench)
LAB_CC       = $(CC) $(ALL_CFLAGS) -Itests $(LDFLAGS) -o $@
$(B)/lab/lab_proxy: $(LAB_PROXY) $(call archives,$(BELOW_admin))
$(B)/lab/lab_proxy_hshr: tests/lab/hshr.c $(LAB_PROXY) \
    $(call archives,$(BELOW_admin))
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
    $(B)/lab/promotion_futex.o $(call archives,lf base)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(LAB_CC) $(filter %.c %.o %.a,$^) -pthread

clean: ## remove everything that was built
	$(Q)rm -rf build

# Nothing to say when nothing is to be done.
all tools units: ; @:

# What follows needs other packages than the compiler's: install-deps brings
# those that are missing, and does nothing when all are there.
run: ## try it: two demo servers and lfproxy in front of them, until Ctrl-C
	@scripts/install-deps run
	@$(MAKE) --no-print-directory all tools
	@exec env LFPROXY_BUILD=$(B) scripts/demo

check: ## build and run every test: house rules, unit, behaviour
	@scripts/install-deps check
	@$(MAKE) --no-print-directory all tools units
	@scripts/run-tests $(MODE)

check-san: ## unit and behaviour tests under ASan+UBSan, then under TSan
	@scripts/install-deps check
	@rc=0; for mode in asan tsan; do \
		echo "== $$mode"; \
		$(MAKE) --no-print-directory MODE=$$mode all tools units && \
		scripts/run-tests $$mode quick || rc=1; \
	done; exit $$rc

lab: ## the pattern's claims as experiments, with a verdict on each; 8 minutes
	@scripts/install-deps lab
	@$(MAKE) --no-print-directory $(LAB) $(B)/tools/appserver
	@python3 -B tests/lab/lab.py $(B) build/lab.md

check-layers: ## no file of src includes from a floor above its own
	@scripts/check-layers $(foreach f,$(FLOORS) main,'$(f)=$(BELOW_$(f))')

check-docs: all ## every key and command is in the man pages, examples are valid
	@scripts/check-docs $(B)

C_FILES      = $(shell find src tests -name '*.[ch]' 2>/dev/null)
SH_FILES     = .ci/run $(filter-out %.awk %.supp,$(wildcard scripts/*)) \
	$(wildcard packaging/debian/*.postrm) \
	$(shell find tests -name '*.bash' 2>/dev/null)
COMPLETIONS := $(wildcard etc/completion/*)
MAN_PAGES   := $(wildcard man/*)

# Parts of their own, so that `make -k lint` finds everything at once.
lint: lint-format lint-warnings lint-cppcheck lint-shell lint-man ## clang-format, compiler and cppcheck warnings, shellcheck, mandoc
lint-deps:
	@scripts/install-deps lint
lint-format: lint-deps
	$(call say,LINT,clang-format)
	$(Q)clang-format --dry-run -Werror $(C_FILES)
lint-warnings: lint-deps
	$(call say,LINT,$(CC))
	$(Q)printf '%s\n' $(filter src/%.c tests/tools/%.c,$(C_FILES)) | \
	    xargs -n 8 -P 2 $(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) \
	    -Werror -fsyntax-only
lint-cppcheck: lint-deps
	$(call say,LINT,cppcheck)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability \
	    --inline-suppr --suppressions-list=scripts/cppcheck.supp \
	    --error-exitcode=1 -Isrc -D_GNU_SOURCE src $(wildcard tests/tools)
lint-shell: lint-deps
	$(call say,LINT,shellcheck)
	$(Q)shellcheck $(SH_FILES)
	$(Q)shellcheck --shell=bash $(COMPLETIONS)
lint-man: lint-deps
	$(call say,LINT,mandoc)
	$(Q)mandoc -Tlint -W warning $(MAN_PAGES)

format: ## bring every C file into the form that lint asks for
	clang-format -i $(C_FILES)

SBINDIR     := $(PREFIX)/sbin
BINDIR      := $(PREFIX)/bin
MANDIR      := $(PREFIX)/share/man
EXAMPLEDIR  := $(PREFIX)/share/doc/lfproxy/examples
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions
SYSUSERSDIR := $(PREFIX)/lib/sysusers.d
EXAMPLES    := $(wildcard etc/examples/*.ini)
INI         := $(SYSCONFDIR)/lfproxy/lfproxy.ini

install: all ## install below DESTDIR and PREFIX; an existing lfproxy.ini stays
	install -D -m 755 $(B)/lfproxy $(DESTDIR)$(SBINDIR)/lfproxy
	install -D -m 755 $(B)/lfproxyctl $(DESTDIR)$(BINDIR)/lfproxyctl
	install -d $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8
	install -m 644 $(filter %.5,$(MAN_PAGES)) $(DESTDIR)$(MANDIR)/man5
	install -m 644 $(filter %.8,$(MAN_PAGES)) $(DESTDIR)$(MANDIR)/man8
	install -d $(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(EXAMPLEDIR)
	install -m 644 $(COMPLETIONS) $(DESTDIR)$(COMPLETIONDIR)
	install -m 644 $(EXAMPLES) $(DESTDIR)$(EXAMPLEDIR)
	install -D -m 644 packaging/systemd/lfproxy.sysusers \
	    $(DESTDIR)$(SYSUSERSDIR)/lfproxy.conf
	install -d $(DESTDIR)$(UNITDIR)
	sed -e 's|@SBINDIR@|$(SBINDIR)|g' -e 's|@SYSCONFDIR@|$(SYSCONFDIR)|g' \
	    packaging/systemd/lfproxy.service.in \
	    >$(DESTDIR)$(UNITDIR)/lfproxy.service
	chmod 644 $(DESTDIR)$(UNITDIR)/lfproxy.service
	test -e $(DESTDIR)$(INI) || \
	    install -D -m 644 etc/lfproxy.ini $(DESTDIR)$(INI)

uninstall: ## remove what install installed, but for lfproxy.ini
	rm -f $(DESTDIR)$(SBINDIR)/lfproxy $(DESTDIR)$(BINDIR)/lfproxyctl
	rm -f $(foreach s,5 8,$(patsubst man/%,$(DESTDIR)$(MANDIR)/man$(s)/%, \
	    $(filter %.$(s),$(MAN_PAGES))))
	rm -f $(patsubst etc/completion/%,$(DESTDIR)$(COMPLETIONDIR)/%, \
	    $(COMPLETIONS))
	rm -f $(patsubst etc/examples/%,$(DESTDIR)$(EXAMPLEDIR)/%,$(EXAMPLES))
	rm -f $(DESTDIR)$(SYSUSERSDIR)/lfproxy.conf
	rm -f $(DESTDIR)$(UNITDIR)/lfproxy.service
	rmdir $(DESTDIR)$(EXAMPLEDIR) $(DESTDIR)$(dir $(EXAMPLEDIR)) || :

deb: ## build the Debian package into build/deb and check it with lintian
	@scripts/install-deps deb
	scripts/build-deb $(VERSION)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
