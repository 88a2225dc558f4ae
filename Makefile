# Thin front of Meson and the scripts: every target is one call. `make` alone lists them.
ONLY ?=
RESULTS ?=
FUZZ_SECONDS ?= 30
FAULT_SEEDS ?= 10000
KUBE_OPTIONS ?=
BENCH_OPTIONS ?=

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

deps: ## install what the build and the tests need (root or sudo for Debian packages)
	@scripts/deps

deps-run: ## install only what `make build` and `make run` need
	@scripts/deps run

build: ## the optimized program: build/platoon
	@scripts/build release

run: build ## start a simulated cluster, place an example workload, and end
	build/platoon up --in-memory --data-dir build/run --port 0 --nodes 1x2x4 -f examples/tfjob-segments.yaml --until-placed

test: needs-python ## all tests under ASan and UBSan; ONLY=text picks tests by name
	@scripts/run-tests build-test $(ONLY)

lint: needs-python ## format, layers, headers, words, clang-tidy
	@scripts/lint

format: ## rewrite the C files in the project's format
	@scripts/lint --fix-format

fuzz: ## each fuzzer for FUZZ_SECONDS (30), on a copy of its corpus; ONLY=text picks by name
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz $(ONLY)

fault: build ## FAULT_SEEDS (10000) random runs with faults, in two processes
	@scripts/fault $(FAULT_SEEDS)

check-kube: build ## run Platoon on a real kube-apiserver, built once from Go modules (needs Go; minutes the first time)
	@test/kube/test_kube.py build/platoon $(if $(RESULTS),--results $(RESULTS)) $(KUBE_OPTIONS) $(ONLY)

check-operators: build ## run Platoon beside the real controllers of workloads, built once from Go modules (needs Go)
	@test/operators/test_operators.py build/platoon $(if $(RESULTS),--results $(RESULTS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) $(ONLY)

check-helm: build ## the chart with the real Helm, built once: lint, and the same objects as `platoon install`
	@test/kube/test_helm.py build/platoon

check-package: ## build the container image and the Debian package, look into them, run what is inside
	@test/package/test_image.py .
	@test/package/test_deb.py .

man: build ## the manual pages: build/share/*.1
	@meson compile -C build man >/dev/null && ls build/share/*.1

image: ## a container image without a daemon: build/image (OCI layout) and build/image.tar
	@scripts/image

deb: ## a Debian package: build/platoon_VERSION_ARCH.deb
	@scripts/deb

chart: build ## write deploy/chart from the program
	@build/platoon install --chart deploy/chart

bench-kube: build ## compare with kube-scheduler and the bare API server on a real control plane (BENCH_OPTIONS=--quick)
	@ninja -C build bench/platoon-bench-kube >/dev/null
	@bench/kube.py build $(BENCH_OPTIONS)

bench: build ## measure the optimized build, and compare its instructions with those of bench/instructions.json
	@ninja -C build bench/platoon-bench-count >/dev/null
	@scripts/count-instructions build
	@build/bench/platoon-bench
	@cd build && bench/platoon-bench-api
	@cd build && bench/platoon-bench-load
	@cd build && bench/platoon-bench-groups
	@build/bench/platoon-bench-volumes
	@build/bench/platoon-bench-large
	@bench/stall.py build/platoon
	@bench/nvl72.py build/platoon

needs-python:
	@command -v python3 >/dev/null || { echo "python3 is not installed; run: make deps" >&2; exit 1; }

clean: ## remove every build directory
	rm -rf build build-*

.PHONY: help deps deps-run needs-python build run test lint format fuzz fault check-kube check-operators check-helm check-package man chart image deb bench bench-kube clean
