# Each target does all the set-up it needs on a Debian 12 machine that has Swift 6 and git.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build release run test quick tools everything lint prose bench counts load fuzz soak simulate model lease-histories two-hosts connections web-test fuzz-api prometheus python lab mutants captures arm64 mqtt influx proxy home-assistant chaos deb deb-test image image-test restore apt-repository release-files clean

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## install what is missing (Debian packages)
	@Scripts/setup

Sources/CBuildInfo/commit.h: FORCE
	@Scripts/write-commit $@
FORCE:

build: setup Sources/CBuildInfo/commit.h ## the programs, for development
	swift build

release: setup Sources/CBuildInfo/commit.h ## the programs, optimised
	swift build -c release --product meterd
	swift build -c release --product meterctl
	swift build -c release --product metercloud

# All output goes to .build/log; the screen shows what a person needs of it (V=1: all). $(1): Debian packages; $(2): a command.
# A signal goes to all processes; the shell waits until the last of them has ended.
define logged
	@mkdir -p .build/log
	@Scripts/setup $$(command -v python3 >/dev/null || echo python3) $(1) 2>&1 | tee .build/log/$@ | sed -un '/^\(setup\|dpkg\|[EW]\):/p'
	@trap : INT TERM HUP; $(2) 2>&1 | Scripts/screen .build/log/$@
endef

run: Sources/CBuildInfo/commit.h ## the real meters where one is plugged in or heard, else four simulated ones
	$(call logged,,Scripts/run)

test: Sources/CBuildInfo/commit.h ## everything that this machine can test
	$(call logged,umockdev,Scripts/test)

quick: Sources/CBuildInfo/commit.h ## one suite, with no more built than it needs (TARGET=LeaseCoreTests ARGS="--filter TwoHosts")
	@[ -d "Tests/$(TARGET)" ] && [ -n "$(TARGET)" ] || { echo "make quick TARGET=…, one of:"; ls -d Tests/*Tests | xargs -n1 basename; exit 2; }
	$(call logged,,ONLY_SUITE=$(TARGET) Scripts/test $(ARGS))

tools: setup Sources/CBuildInfo/commit.h ## every target, with the programs of long runs and measurements, for development
	WITH_TOOLS=1 swift build

everything: ## what CI does, each of its heavy checks, due or not, and the package built twice (two hours)
	.ci/run --all
	Tests/Package/rebuilt

lint: ## the format of every source file
	swift format lint --strict --recursive Sources Tests Package.swift

prose: ## long sentences and passive starts in texts and doc comments, for a person to look at (ARGS=Docs/Sync.md)
	@command -v python3 >/dev/null || Scripts/setup python3
	@Scripts/prose $(ARGS)

bench: release ## speed, memory and disk, as ratios (ARGS=cloud: a part)
	WITH_TOOLS=1 swift build -c release --product Benchmarks
	.build/release/Benchmarks $(ARGS)

counts: build ## wake-ups and system calls a reading, and idle ones, beside those that are committed (ARGS=--write: makes the list anew)
	@Scripts/setup strace python3
	Tests/Counts/run $(ARGS)

load: release ## a cloud under a fleet of up to 100,000 meters, over SQLite and over etcd (ARGS="--sizes 1000 --seconds 20")
	@Scripts/setup etcd-server
	WITH_TOOLS=1 swift build -c release --product Benchmarks
	.build/release/Benchmarks fleet $(ARGS)

fuzz: setup ## every decoder against random bytes, 30 s each
	Tests/Fuzz/run 30

soak: setup ## the long runs: 10,000 simulated lives, and every decoder, 10 minutes each
	Scripts/build-static Simulation
	.build/static/release/Simulation --seeds 10000 --jobs $$(nproc)
	Tests/Fuzz/run 600

simulate: setup Sources/CBuildInfo/commit.h ## hosts and a cloud over virtual time: random lives, and bugs put in on purpose
	WITH_TOOLS=1 swift build --product ProgramSimulation
	.build/debug/ProgramSimulation --planted --jobs $$(nproc)
	.build/debug/ProgramSimulation --seeds 50 --jobs $$(nproc)
	Tests/Simulation/same-history
	Scripts/build-static Simulation
	.build/static/release/Simulation --planted --jobs $$(nproc)
	.build/static/release/Simulation --seeds 1000 --jobs $$(nproc)

model: ## the rules of leases and of sync, every state of them, and bugs put in on purpose
	@Scripts/setup spin gcc python3
	Tests/Models/run $(ARGS)

lease-histories: build ## concurrent hosts, a cloud that is killed, and whether any order explains what they saw
	WITH_TOOLS=1 swift build --product LeaseHistories
	.build/debug/LeaseHistories

two-hosts: build ## real hosts and a real cloud, cut off, killed, asleep
	@Scripts/setup python3 etcd-server
	Tests/TwoHosts/run

chaos: build ## etcd, copies of metercloud and hosts, and every fault for 30 minutes (ARGS="--for 90s --quick": less)
	@Scripts/setup etcd-server etcd-client python3
	WITH_TOOLS=1 swift build --product Chaos
	Tests/Chaos/judge_tests.py
	Tests/Chaos/run $(ARGS)

connections: build ## thousands of connections that say nothing, against a meterd that serves its cloud
	@Scripts/setup python3
	Tests/Connections/run $(ARGS)

web-test: build ## the web page in Chromium, phone and desktop, light and dark
	@Scripts/setup chromium chromium-driver python3-selenium python3-venv fonts-dejavu-core nginx-light caddy
	Tests/Web/run $(ARGS)

fuzz-api: build ## the APIs of the cloud, of meterd's socket and of its page, from their contracts
	@Scripts/setup python3-venv
	Tests/OpenAPI/run
	Tests/OpenAPI/meterd

prometheus: build ## a real Prometheus scrapes meterd and metercloud
	@Scripts/setup prometheus python3 curl
	Tests/Prometheus/run

python: build ## the Python client at a real meterd, with mypy and ruff (ARGS="-k watch")
	@Scripts/setup python3-venv
	Clients/Python/check $(ARGS)

mqtt: build ## a real Mosquitto between meterd and its listeners
	@Scripts/setup mosquitto mosquitto-clients openssl python3
	Tests/MQTT/run

influx: build ## a real VictoriaMetrics and a real InfluxDB get what meterd measures
	@Scripts/setup victoria-metrics influxdb python3
	Tests/Influx/run $(ARGS)

proxy: build ## Home Assistant's clients and meterd read through simulated Bluetooth proxies
	@Scripts/setup avahi-daemon avahi-utils dbus-daemon iproute2 python3-venv
	Tests/Proxy/run $(ARGS)

home-assistant: build ## a real Home Assistant finds the meters (fetches 1.5 GB, needs root)
	@Scripts/setup mmdebstrap mosquitto mosquitto-clients python3
	Tests/MQTT/home-assistant

lab: build $(if $(ARCH),deb) ## meterd at a real Bluetooth and USB kernel, in a virtual machine (ARGS=ble: a part; ARCH=arm64)
	@Scripts/setup qemu-system-x86 busybox-static kmod cpio python3-venv mosquitto mosquitto-clients \
		$(if $(ARCH),mmdebstrap device-tree-compiler)
	Tests/Lab/run $(if $(ARCH),--arch $(ARCH)) $(ARGS)

mutants: ## small mistakes in a copy, one at a time, and which of them no test notices (ARGS="--seed 7 --target LeaseCore")
	@Scripts/setup etcd-server
	Tests/Mutants/run $(ARGS)

captures: build ## decode and replay real captures, where there are any
	Tests/Captures/decode-captures
	Tests/Captures/replay-captures

arm64: ## cross-build for a Raspberry Pi, and run it under emulation
	@Scripts/arm64 $(ARGS)

deb: setup Sources/CBuildInfo/commit.h ## the Debian package (ARCH=arm64: for a Raspberry Pi)
	@Scripts/setup python3 binutils dpkg-dev
	@Scripts/deb $(if $(ARCH),--arch $(ARCH)) $(ARGS)

deb-test: deb ## the package installed, upgraded, run and purged in a Debian of its own
	@Scripts/setup apt-utils gpg lintian devscripts mmdebstrap systemd-container iproute2 python3
	Tests/Package/run

restore: build ## restores of both stores, killed at each call and with a full disk
	@Scripts/setup python3 strace
	Tests/Restore/run

image: deb ## an OCI image of the package, for Docker, Podman and Home Assistant (ARCH=arm64)
	@Scripts/setup mmdebstrap umoci
	@Scripts/image $(if $(ARCH),--arch $(ARCH))

image-test: image ## the image run in a container, its meters read from outside
	@Scripts/setup curl iproute2 python3 python3-venv runc umoci
	Tests/Image/run

apt-repository: deb ## an apt repository of the packages that were made (KEY=… signs it)
	@Scripts/setup apt-utils gpg
	@Scripts/apt-repository $(if $(KEY),--key $(KEY)) .build/deb/meter-gateway-*.deb

release-files: setup Sources/CBuildInfo/commit.h ## packages, images, SBOMs, the Python client, sums (ARGS=amd64: less)
	@Scripts/setup binutils dpkg-dev mmdebstrap python3-venv umoci
	Scripts/release-files $(ARGS)

clean: ## forget what was built
	rm -rf .build
