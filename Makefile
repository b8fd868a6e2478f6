# `make help` lists the targets that users and contributors use every week; CONTRIBUTING.md lists the others. Only Go, npm and a POSIX
# shell have to be installed: Go programs run at pinned versions with `go run`, and everything else is installed into .local/.

SHELL = /bin/sh
.DEFAULT_GOAL = help
.SUFFIXES:
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' Makefile)

# Downloads, builds and local data. GUIDON_LOCAL sets another folder. ENGINE selects the DynamoDB engine of `make run` and of the
# tests: dynoxide (the default) or dynamodb-local, which needs Java 17 and Maven.
LOCAL = $(or $(GUIDON_LOCAL),$(CURDIR)/.local)
export ENGINE

# One set of settings for all Go commands, also those of tests and tools: what one of them has compiled, the others use.
export GOFLAGS := $(strip $(shell go env GOFLAGS 2>/dev/null) -trimpath)
export CGO_ENABLED ?= 0

GOLANGCI_LINT = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ACTIONLINT    = go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOVULNCHECK   = go run golang.org/x/vuln/cmd/govulncheck@v1.8.0

# Python programs and SDKs of the tests. Their versions are in requirements files and beside the sources in internal/clients.
SAM            = $(LOCAL)/sam/bin/sam
MINISTACK      = $(LOCAL)/ministack/bin/ministack
CLIENTS_PYTHON = $(LOCAL)/clients-python
CLIENTS_NODE   = $(LOCAL)/clients-node
CLIENTS_JAVA   = $(LOCAL)/clients-java
CLIENTS_RUST   = $(LOCAL)/clients-rust/debug/evaluate

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s  %s\n", $$1, $$2}' Makefile; echo 'CONTRIBUTING.md lists the others.'

# Run

run: check guidon ## start Guidon on http://127.0.0.1:4242 (settings: PORT, DATA_DIR, AUTH_TYPE, INIT_ADMIN_API_TOKENS, …)
	@exec env PRINT_SECRETS=always '$(LOCAL)/bin/guidon' serve

# The demo has data of its own, which make reset DATA_DIR=.local/demo/data deletes.
demo: check guidon $(LOCAL)/demo/node/installed ## start Guidon, two sample applications and a dashboard (PORT, DEMO_PORT)
	@cp demo/node/*.mjs '$(LOCAL)/demo/node/'
	@cd demo/go && go build -o '$(abspath $(LOCAL))/demo/application' .
	@GUIDON='$(abspath $(LOCAL))/bin/guidon' APPLICATION='$(abspath $(LOCAL))/demo/application' NODE='$(LOCAL)/demo/node' DIR='$(LOCAL)/demo' demo/run.sh

reset: ## delete the local flags, users and tokens (DATA_DIR)
	@infra/reset '$(or $(DATA_DIR),$(LOCAL)/data)'

localstack: check guidon
	@$(MAKE) --no-print-directory guidon GOOS=linux GOARCH=$$(go env GOHOSTARCH) OUT='$(LOCAL)/localstack/guidon'
	@GUIDON_LOCAL='$(LOCAL)' localstack/serve.sh

sam-local: check guidon $(LOCAL)/sam/installed
	@DIR='$(LOCAL)/sam-local' SAM='$(SAM)' GUIDON='$(LOCAL)/bin/guidon' internal/samlocal/serve.sh

# Test

# Tests in internal/ start programs, whose changes Go's test cache does not notice (-count=1). They and those of pkg/admin send one
# request after the other, which takes three to nine times longer with the race detector: it watches those tests of pkg/admin that send
# requests at the same time, and all other packages. It needs cgo; the programs that tests build do not (-exec). TestLargestLoad reads
# 16 MB, which the race detector would make slower than the time of an attempt.
RACE = $(if $(shell echo 'int main(void) { return 0; }' | $$(go env CC) -xc - -o /dev/null 2>/dev/null && echo yes),-race -exec 'env CGO_ENABLED=0')
GO_TEST = go test -vet=off -timeout 25m
test: check console ## run all tests (ENGINE=dynamodb-local uses Amazon's engine)
	@$(if $(RACE),,echo "note: no C compiler was found, so the tests run without the race detector")
	$(GO_TEST) -count=1 ./internal/...
	$(GO_TEST) ./pkg/admin/...
	CGO_ENABLED=$(if $(RACE),1,0) $(GO_TEST) $(RACE) -skip '^TestLargestLoad$$' $$(go list ./... | grep -vE '/(internal|pkg/admin)(/|$$)')
	$(GO_TEST) -run '^TestLargestLoad$$' ./pkg/dynamo
	$(if $(RACE),CGO_ENABLED=1 $(GO_TEST) $(RACE) -run 'Parallel|Races|AtOnce|OneWins|OneLinkOnce|WhileAdded' ./pkg/admin/...)

# The browser is that of the machine, since playwright's own cannot be downloaded everywhere; without its window it takes a third less time.
CHROMIUM = $(shell command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)
test-console: console ## check the types, rules and size of the console, and run its tests
	@console/build packages
	cd console && npm run --silent typecheck && npm run --silent lint && npm run --silent test

test-browser: check guidon ## test the console in Chromium (TEST=e2e/shell.spec.ts runs one file; SCREENSHOTS=1)
	@[ -n '$(CHROMIUM)' ] || { echo "Chromium is missing: install it, or set CHROMIUM to the path of a Chrome or Chromium" >&2; exit 1; }
	@console/build packages; mkdir -p docs/images
	cd console && GUIDON='$(abspath $(LOCAL))/bin/guidon' GUIDON_LOCAL='$(abspath $(LOCAL))' CHROMIUM='$(CHROMIUM)' npm run --silent e2e -- $(TEST)

# The built functions run over the Runtime API of Lambda: as processes on Linux, and in the containers of sam local if a
# Docker engine is running or can be started.
HOST_ARCH = $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
HOST_BUILD = $(LOCAL)/build-$(HOST_ARCH)
test-sam: check $(LOCAL)/sam/installed
	@if [ "$$(uname)" = Linux ]; then set -ex; $(MAKE) --no-print-directory build ARCH=$(HOST_ARCH) BUILD='$(HOST_BUILD)'; \
		FUNCTIONS='$(HOST_BUILD)' go test -tags sam -count=1 -run '^Test(Processes|LambdaExamples)$$' ./internal/e2e; fi
	@SAM='$(SAM)' internal/samlocal/with-docker.sh go test -tags sam -count=1 -run '^TestSAMLocal$$' ./internal/e2e

test-image: check
	@internal/samlocal/with-docker.sh sh -c "$(MAKE) --no-print-directory image edge-image && \
		IMAGE='$(or $(IMAGE),guidon)' go test -tags image -count=1 -v -run '^Test(Edge)?Image\$$' ./internal/e2e"

# MiniStack runs the functions as processes, hence Linux. The test also runs the scripts of docs/operations, which need curl and
# openssl. With UPDATE_FROM=folder it updates a stage of the version in that folder.
test-deploy: check $(LOCAL)/sam/installed $(LOCAL)/ministack/installed
	SAM='$(SAM)' MINISTACK='$(MINISTACK)' ARCH=$(HOST_ARCH) go test -tags deploy -count=1 -timeout 30m -run '^TestDeployment$$' ./internal/e2e
	MINISTACK='$(MINISTACK)' go test -tags deploy -count=1 -timeout 5m -run '^(TestPublished|TestLostRegion|TestDeletedEnvironment)$$' ./pkg/edge
	@$(MAKE) --no-print-directory prove EMULATOR=1

# On AWS it deploys a stack of its own, and deletes it at the end. Its parts in the emulator are a short form of it.
prove: check $(LOCAL)/sam/installed $(if $(EMULATOR),$(LOCAL)/ministack/installed)
	@go build -o '$(LOCAL)/bin/prove' ./internal/prove
	@exec '$(LOCAL)/bin/prove' -sam '$(SAM)' -stage '$(or $(STAGE),dev)' -email '$(EMAIL)' -out '$(or $(OUT),$(LOCAL)/proof)' \
		$(if $(EMULATOR),-emulator '$(MINISTACK)' -arch $(HOST_ARCH),-arch $(ARCH)) $(if $(TEARDOWN),-teardown)

# The functions of the release run as processes, hence Linux. TRUST=long builds the complete release twice.
test-release: check $(LOCAL)/sam/installed
	SAM='$(SAM)' go test -tags release -count=1 -timeout 60m -run '^TestRelease$$' ./internal/e2e

CLIENTS = CLIENTS_NODE='$(abspath $(CLIENTS_NODE))' CLIENTS_PYTHON='$(CLIENTS_PYTHON)/bin/python' go test -tags clients -count=1 -timeout 20m ./internal/e2e
test-clients: check $(CLIENTS_NODE)/installed $(CLIENTS_PYTHON)/installed ## run unmodified SDKs against Guidon and Guidon Edge, or against Unleash Edge (EDGE=program); needs Chromium, Python 3.10
	EDGE='$(if $(EDGE),$(abspath $(EDGE)))' $(CLIENTS) -run '^Test($(if $(EDGE),Edge,Clients|ClientsAgree|ClientsManifest|ClientsMatrix|ClientsOverload|ClientsPlan|ClientsURL|ClientsUsage|ConnectPages|Demo|FrontendOrigins|ReadmeProgram))$$'

test-clients-more: check $(CLIENTS_JAVA)/classpath $(CLIENTS_RUST) $(CLIENTS_NODE)/installed $(CLIENTS_PYTHON)/installed $(LOCAL)/clients-mcp/installed
	CLIENTS_JAVA="$(CLIENTS_JAVA)/classes:$$(cat '$(CLIENTS_JAVA)/classpath')" CLIENTS_RUST='$(CLIENTS_RUST)' CLIENTS_MCP='$(LOCAL)/clients-mcp' $(CLIENTS) -run '^TestClients(|Agree|Events|MCP|Overload|URL|Usage)$$'

test-migration: check $(CLIENTS_NODE)/installed
	CLIENTS_NODE='$(abspath $(CLIENTS_NODE))' go test -tags migration -count=1 -v -timeout 30m ./internal/migration

test-upgrade: check
	go test -tags upgrade -count=1 -timeout 20m -run '^TestUpgrade$$' ./internal/e2e

contract: check guidon $(LOCAL)/schemathesis/installed ## test the API against its OpenAPI description with Schemathesis (SEED, EXAMPLES)
	@GUIDON='$(abspath $(LOCAL))/bin/guidon' SCHEMATHESIS='$(abspath $(LOCAL))/schemathesis/bin/st' SEED='$(SEED)' EXAMPLES='$(EXAMPLES)' \
		go test -tags contract -count=1 -v -parallel 3 -timeout 40m -run '^TestContract$$' ./internal/contract

# The long versions of the tests behind docs/reliability.md, which take more than an hour. Their short versions are part of make test.
trust: export TRUST = long
trust: check audit fuzz
	$(MAKE) --no-print-directory contract EXAMPLES=15
	go test -count=1 -timeout 90m -parallel 6 ./pkg/evaluate ./pkg/admin/... ./pkg/serving/linear
	go test -count=1 -timeout 60m ./internal/e2e -run '^(TestKilled|TestEngineAway|TestGuides)$$'
	$(MAKE) --no-print-directory test-release
	SCALE=1 $(MAKE) --no-print-directory test-browser TEST=e2e/scale.spec.ts

# The corpora, in testdata/fuzz, are part of make test.
FUZZTIME ?= 60s
fuzz: check
	@set -e; grep -ro --include='*_test.go' '^func Fuzz[A-Za-z]*' pkg infra | sort | while IFS=: read -r file test; do \
		test=$${test#func }; echo "== $$test for $(FUZZTIME)"; go test "./$$(dirname "$$file")" -run '^$$' -fuzz "^$$test\$$" -fuzztime $(FUZZTIME); done

# It needs PostgreSQL to measure beside Unleash (BENCH="-time 1s").
bench: check console
	go run ./internal/bench $(BENCH)

# Check

# The workflows of infra/pipeline refer to each other as in a repository that has copied them. golangci-lint contains go vet, staticcheck
# and gosec; go vet runs where it does not look: other tags and modules, and the package that differs between systems.
WORKFLOWS = $(LOCAL)/actionlint
lint: check ## run gofmt, golangci-lint (with go vet, staticcheck and gosec) and actionlint
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); [ -z "$$unformatted" ] || { echo "run gofmt on:"; echo "$$unformatted"; exit 1; }
	go vet -tags sam,image,deploy,release,clients,contract,migration,upgrade ./internal/e2e ./internal/contract ./internal/migration
	set -e; for module in internal/clients/go demo/go examples/edge/lambda/go; do go -C $$module vet ./...; done
	set -e; for system in darwin windows; do GOOS=$$system go vet ./internal/child; done
	$(GOLANGCI_LINT) run
	@rm -rf '$(WORKFLOWS)' && mkdir -p '$(WORKFLOWS)/.git' '$(WORKFLOWS)/.github/workflows' && cp .github/workflows/*.yml infra/pipeline/*.yml '$(WORKFLOWS)/.github/workflows'
	cd '$(WORKFLOWS)' && $(ACTIONLINT) -shellcheck= -pyflakes=

# The databases of known vulnerabilities are on the network: a machine without it reports an error.
audit: check
	$(GOVULNCHECK) ./...
	cd console && npm audit --omit=dev
	go mod verify

template: check $(foreach program,sam checkov kubernetes,$(LOCAL)/$(program)/installed) ## check template.yaml with cfn-lint, SAM's translator, checkov and our own rules (OPA), and examples/edge
	@LOCAL='$(LOCAL)' infra/template/check

# Build and deploy

# ARCH is the architecture of the functions, as in the template's parameter: arm64 or x86_64. make release sets the version in the
# programs. VERSION counts only on the command line of make, because other tools use this variable of the environment too.
ARCH ?= arm64
RELEASED = $(if $(filter command line,$(origin VERSION)),$(VERSION))
LDFLAGS  = -s -w$(if $(RELEASED), -X guidon/pkg/version.number=$(RELEASED))

# One stripped, static binary per function. `sam build` calls build-<LogicalId> for each function of template.yaml
# (BuildMethod: makefile), and `make build` builds all of them.
FUNCTION = CGO_ENABLED=0 GOOS=linux GOARCH=$(if $(filter x86_64,$(ARCH)),amd64,arm64) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags "$(LDFLAGS)" -o
build: check console ## build every Lambda function into .local/build (ARCH=arm64, BUILD)
	@set -e; for main in functions/*/main.go; do name=$$(basename "$$(dirname "$$main")"); echo "$$name"; \
		$(FUNCTION) '$(or $(BUILD),$(LOCAL)/build)'/"$$name"/bootstrap ./functions/"$$name"; done
build-%Function:
	$(FUNCTION) '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(shell echo '$*' | tr '[:upper:]' '[:lower:]')
build-SiteFunction: console

console:
	@console/build

# Static binaries: guidon, and guidon-edge without console and administration. GOOS and GOARCH select another platform, OUT another file.
PROGRAM = @CGO_ENABLED=0 go build -trimpath $(if $(RELEASED),-buildvcs=false) -ldflags '$(LDFLAGS)' -o
guidon: check console ## build the guidon command into .local/bin (GOOS, GOARCH, OUT=file)
	$(PROGRAM) '$(or $(OUT),$(LOCAL)/bin/guidon)' ./cmd/guidon
edge: check
	$(PROGRAM) '$(or $(OUT),$(LOCAL)/bin/guidon-edge)' ./cmd/guidon-edge

# VERSION is not in quotes of the shell, which the name of a tag could end. Images are for the architecture of this machine (IMAGE=name).
image edge-image release: export VERSION = $(RELEASED)
image: check; @internal/release/build.sh image
edge-image: check; @internal/release/build.sh edge-image
release: check; @internal/release/build.sh release

deploy: check ## build and deploy a stage (STAGE=dev, BUDGET=50 EMAIL=you@example.com or BUDGET=none)
	@infra/deploy '$(STAGE)'
rollback: ## go back to the deployment before, its code and its parameters (STAGE=dev, YES=1)
	@infra/rollback '$(STAGE)'
admin-token:
	@infra/admin-token '$(STAGE)'

openapi: check ## generate infra/openapi.json from the code
	go generate ./infra/openapi

clean: ## delete downloads, builds and local data
	rm -rf '$(LOCAL)' .aws-sam console/node_modules
	cd console/dist && find . ! -name .gitignore ! -name . -prune -exec rm -rf {} +

# What has to be installed, and what is installed on first use. npm downloads the embedded DynamoDB engine and the test data.

check:
	@command -v go >/dev/null || { echo "go is missing: install Go $$(sed -n 's/^go //p' go.mod) or newer from https://go.dev/dl/" >&2; exit 1; }
	@go list -m >/dev/null || { echo "this Go does not build Guidon: install Go $$(sed -n 's/^go //p' go.mod) or newer from https://go.dev/dl/" >&2; exit 1; }
	@[ -n "$$AWS_ENDPOINT_URL_DYNAMODB" ] || command -v npm >/dev/null || { echo "npm is missing: it downloads the embedded DynamoDB engine." \
		"Install Node.js from https://nodejs.org/, or set AWS_ENDPOINT_URL_DYNAMODB to the address of another DynamoDB." >&2; exit 1; }

$(LOCAL)/%/installed: infra/requirements-%.txt
	@infra/install python '$(@D)' '$<'
$(LOCAL)/schemathesis/installed: internal/contract/requirements.txt
	@infra/install python '$(@D)' '$<'
$(CLIENTS_PYTHON)/installed: internal/clients/python/requirements.txt
	@infra/install python '$(@D)' '$<'
$(LOCAL)/clients-%/installed: internal/clients/%/package.json internal/clients/%/package-lock.json internal/clients/%/.npmrc
	@infra/install node '$(@D)' $^
$(LOCAL)/demo/node/installed: demo/node/package.json demo/node/package-lock.json
	@infra/install node '$(@D)' $^
$(CLIENTS_JAVA)/classpath: internal/clients/java/pom.xml $(wildcard internal/clients/java/src/main/java/*.java)
	@mkdir -p '$(@D)' && mvn -q -B -f internal/clients/java '-Dtarget=$(@D)' compile dependency:build-classpath '-Dmdep.outputFile=$@'
$(CLIENTS_RUST): internal/clients/rust/Cargo.toml internal/clients/rust/Cargo.lock internal/clients/rust/src/main.rs
	@cargo build --quiet --locked --manifest-path '$<' --target-dir '$(LOCAL)/clients-rust' && touch '$@'
