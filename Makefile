# `make help` lists the targets. Only Go, npm and a POSIX shell have to be installed.

SHELL = /bin/sh
.DEFAULT_GOAL = help
.SUFFIXES:
.PHONY: help run demo reset localstack localstack-down sam-local sam-invoke test test-console test-browser docs-images screenshots test-sam test-sam-local image test-image test-image-docker test-deploy prove test-release test-clients test-clients-more \
	test-edge test-migration test-upgrade test-terraform test-terraform-example contract trust fuzz bench bench-edge lint audit template console build guidon edge edge-image dist release deploy admin-token openapi docs-assets clean \
	check-go check-npm check-node check-chromium check-docker check-compose check-deploy FORCE

# Downloads, builds and local data. GUIDON_LOCAL sets another folder.
LOCAL = $(or $(GUIDON_LOCAL),$(CURDIR)/.local)

GOLANGCI_LINT_VERSION = v2.15.0
GOLANGCI_LINT = $(LOCAL)/bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

ACTIONLINT_VERSION = v1.7.12
ACTIONLINT = $(LOCAL)/bin/actionlint-$(ACTIONLINT_VERSION)

GOSEC_VERSION       = v2.29.0
GOVULNCHECK_VERSION = v1.8.0
GOSEC       = $(LOCAL)/bin/gosec-$(GOSEC_VERSION)
GOVULNCHECK = $(LOCAL)/bin/govulncheck-$(GOVULNCHECK_VERSION)

KUBERNETES_VALIDATE_VERSION = 1.37.0
KUBERNETES_VALIDATE = $(LOCAL)/kubernetes-validate-$(KUBERNETES_VALIDATE_VERSION)/bin/kubernetes-validate

SCHEMATHESIS_VERSION = 4.32.5
SCHEMATHESIS = $(LOCAL)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/st

SAM_VERSION = 1.170.0
SAM = $(LOCAL)/sam-$(SAM_VERSION)/bin/sam

MINISTACK_VERSION = 1.5.33
MINISTACK = $(LOCAL)/ministack-$(MINISTACK_VERSION)/bin/ministack

# The SDKs that make test-clients runs. Their versions are in internal/clients.
CLIENTS_NODE   = $(LOCAL)/clients-node
CLIENTS_PYTHON = $(LOCAL)/clients-python
CLIENTS_JAVA   = $(LOCAL)/clients-java
CLIENTS_RUST   = $(LOCAL)/clients-rust/debug/evaluate

OPA_VERSION = v1.22.2
OPA = $(LOCAL)/bin/opa-$(OPA_VERSION)

CHECKOV_VERSION = 3.3.30
CHECKOV = $(LOCAL)/checkov-$(CHECKOV_VERSION)/bin/checkov

# The DynamoDB engine of `make run` and the tests: dynoxide (the default) or dynamodb-local, which needs Java 17 and Maven.
ifdef ENGINE
export ENGINE
endif

# One set of settings for all Go commands, also those of tests and tools: what one of them has compiled, the others use.
export GOFLAGS := $(strip $(shell go env GOFLAGS 2>/dev/null) -trimpath)
export CGO_ENABLED ?= 0

help: ## list the targets
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-15s  %s\n", $$1, $$2}' Makefile

##@ Run

run: check-go check-npm guidon ## start Guidon on http://127.0.0.1:4242 (settings: PORT, DATA_DIR, AUTH_TYPE, INIT_ADMIN_API_TOKENS, …)
	@exec env PRINT_SECRETS=always '$(LOCAL)/bin/guidon' serve

# The demo has data of its own, which make reset DATA_DIR=.local/demo/data deletes.
demo: check-go check-npm check-node guidon $(LOCAL)/demo/node/installed ## start Guidon, two sample applications and a dashboard (PORT, DEMO_PORT)
	@cp demo/node/app.mjs '$(LOCAL)/demo/node/'
	@cd demo/go && go build -o '$(abspath $(LOCAL))/demo/application' .
	@go build -o '$(LOCAL)/bin/demo' ./internal/demo
	@exec '$(LOCAL)/bin/demo' -guidon '$(LOCAL)/bin/guidon' -go '$(LOCAL)/demo/application' -node '$(LOCAL)/demo/node' -dir '$(LOCAL)/demo'

# It deletes only files that Guidon writes, since DATA_DIR may contain others.
reset: ## delete the local flags, users and tokens, and keep tools and builds (DATA_DIR)
	@data='$(or $(DATA_DIR),$(LOCAL)/data)'; \
	owner=$$(sed -n 's/.*"owner":\([0-9]*\).*/\1/p' "$$data/guidon.db.engine" 2>/dev/null); \
	if [ -n "$$owner" ] && kill -0 "$$owner" 2>/dev/null; then \
		echo "Guidon is running on $$data (process $$owner): stop it, then run make reset again" >&2; exit 1; fi; \
	rm -rf "$$data"/guidon.db "$$data"/guidon.db[.-]* "$$data"/token.key; echo "deleted the data in $$data"

localstack: check-go check-compose guidon ## start Guidon with LocalStack in a container (LOCALSTACK_PORT, LOCALSTACK_IMAGE)
	@$(MAKE) --no-print-directory guidon GOOS=linux GOARCH=$$(go env GOHOSTARCH) OUT='$(LOCAL)/localstack/guidon'
	@GUIDON_LOCAL='$(LOCAL)' localstack/serve.sh

localstack-down: check-compose ## stop a LocalStack that is still running after make localstack
	GUIDON_LOCAL='$(LOCAL)' docker compose -f localstack/compose.yaml down --volumes

sam-local: check-go check-npm guidon $(SAM) ## start Guidon with sam local, each function in a container (PORT; needs Docker)
	@go build -o '$(LOCAL)/bin/samlocal' ./internal/samlocal
	@exec '$(LOCAL)/bin/samlocal' -dir '$(LOCAL)/sam-local' -sam '$(SAM)' -guidon '$(LOCAL)/bin/guidon'

sam-invoke: check-go $(SAM) ## invoke one function with its sample event, while make sam-local runs (FUNCTION=Features)
	@'$(SAM)' local invoke $(or $(FUNCTION),Features)Function --config-file '$(LOCAL)/sam-local/samconfig.toml' \
		--event internal/samples/$(shell echo '$(or $(FUNCTION),Features)' | tr '[:upper:]' '[:lower:]').json

##@ Test

# tests prints the packages with tests whose kind is $(1): "alone" for those that start no program, "programs" for those that do, and
# "shared" if they also import sync, in their code or in their tests.
tests = $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}} {{end}}' ./... | tr -d '[]' | awk 'NF { \
	kind = / os\/exec | guidon\/internal\/(child|engine) | guidon\/pkg\/dynamo\/dynamotest / ? "programs" : "alone"; \
	if (kind == "programs" && / sync / && $$1 !~ /^($(SEQUENTIAL))$$/) kind = "shared"; if (kind == "$(1)") print $$1 }')

# The tests of these packages send one request after the other, which takes three to nine times longer with the race detector.
# It runs only for those in pkg/admin that send requests at the same time.
SEQUENTIAL = guidon\/(internal\/(bench|bill|e2e)|pkg\/admin)

# -count=1: these tests start programs, and Go's test cache does not notice when those change. TestLargestLoad reads 16 MB, which the
# race detector would make slower than the time of an attempt. make lint runs go vet. The race detector needs cgo; the programs that
# these tests build do not (-exec).
test: check-go check-npm console ## run all tests (ENGINE=dynamodb-local uses Amazon's engine)
	@plain() { echo "go test $$*"; go test -vet=off -timeout 25m "$$@"; }; cc=$$(go env CC); race=; \
	race() ( export CGO_ENABLED=1; plain -race "$$@" ); \
	if echo 'int main(void) { return 0; }' | $$cc -xc - -o /dev/null 2>/dev/null; then race=1; \
	else echo "note: no C compiler was found, so the tests run without the race detector"; race() { plain "$$@"; }; fi; \
	set -e; race $(call tests,alone); \
	plain -count=1 $(call tests,programs); \
	race -count=1 -exec 'env CGO_ENABLED=0' -skip '^TestLargestLoad$$' $(call tests,shared); \
	plain -count=1 -run '^TestLargestLoad$$' ./pkg/dynamo; \
	if [ -n "$$race" ]; then race -count=1 -run 'Parallel|Races|AtOnce|OneWins|OneLinkOnce|WhileAdded' ./pkg/admin; fi

# WEB is the source of the console. Its packages are in its node_modules, the browser is the one of this machine.
WEB = functions/console/web
test-console: console ## check the types, rules and size of the console, and run its tests
	@functions/console/build packages
	cd $(WEB) && npm run --silent typecheck && npm run --silent lint && npm run --silent test

test-browser: check-chromium guidon ## test the console in a browser (TEST=e2e/shell.spec.ts runs one file; needs Chromium)
	@functions/console/build packages
	cd $(WEB) && GUIDON='$(abspath $(LOCAL))/bin/guidon' GUIDON_LOCAL='$(abspath $(LOCAL))' CHROMIUM='$(CHROMIUM)' npm run --silent e2e -- $(TEST)

docs-images: check-chromium guidon ## take the screenshots in docs/images again
	@mkdir -p docs/images
	@DOCS=1 $(MAKE) --no-print-directory test-browser TEST=e2e/docs.spec.ts

screenshots: export SCREENSHOTS = 1
screenshots: test-browser ## take screenshots of the pages of the console, in light, dark and narrow (TEST, as test-browser)
	@echo "the screenshots are in $(WEB)/e2e/screenshots"

# The built functions run over the Runtime API of Lambda: as processes on Linux, and in the containers of sam local if a
# Docker engine is running or can be started.
HOST_ARCH = $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
HOST_BUILD = $(LOCAL)/build-$(HOST_ARCH)
test-sam: check-go check-npm ## test the built functions, as processes and with sam local
	@if [ "$$(uname)" = Linux ]; then set -ex; $(MAKE) --no-print-directory build ARCH=$(HOST_ARCH) BUILD='$(HOST_BUILD)'; \
		FUNCTIONS='$(HOST_BUILD)' go test -tags sam -count=1 -run '^Test(Processes|LambdaExamples)$$' ./internal/e2e; fi
	@internal/samlocal/with-docker.sh $(MAKE) --no-print-directory test-sam-local

test-sam-local: $(SAM)
	SAM='$(SAM)' go test -tags sam -count=1 -run '^TestSAMLocal$$' ./internal/e2e

test-image: check-go check-npm ## build the container image and run it (needs Docker)
	@internal/samlocal/with-docker.sh $(MAKE) --no-print-directory test-image-docker

test-image-docker: image edge-image
	IMAGE='$(IMAGE)' go test -tags image -count=1 -v -run '^Test(Edge)?Image$$' ./internal/e2e

# MiniStack runs the functions as processes, hence Linux. The test also runs the scripts of docs/operations. With
# UPDATE_FROM=folder it updates a stage of the version in that folder.
test-deploy: check-go check-deploy $(SAM) $(MINISTACK) ## deploy to an emulator of AWS, update and delete the stack (needs Linux)
	SAM='$(SAM)' MINISTACK='$(MINISTACK)' ARCH=$(HOST_ARCH) go test -tags deploy -count=1 -timeout 20m -run '^TestDeployment$$' ./internal/e2e
	MINISTACK='$(MINISTACK)' go test -tags deploy -count=1 -timeout 5m -run '^(TestPublished|TestLostRegion|TestDeletedEnvironment)$$' ./pkg/edge
	@$(MAKE) --no-print-directory prove EMULATOR=1

# On AWS it deploys a stack of its own, and deletes it at the end. Its parts in the emulator are a short form of it.
prove: check-go $(if $(EMULATOR),check-deploy $(MINISTACK)) $(SAM) ## deploy to AWS, prove what the documentation says, and tear down (STAGE=dev EMAIL=…; EMULATOR=1)
	@go build -o '$(LOCAL)/bin/prove' ./internal/prove
	@exec '$(LOCAL)/bin/prove' -sam '$(SAM)' -stage '$(or $(STAGE),dev)' -email '$(EMAIL)' -out '$(or $(OUT),$(LOCAL)/proof)' $(if $(LIMIT),-limit '$(LIMIT)') \
		$(if $(EMULATOR),-emulator '$(MINISTACK)' -arch $(HOST_ARCH) -polls 50 -seconds 15 -minutes 1,-arch $(ARCH)) \
		-parameters '$(or $(PARAMETERS),$(if $(EMULATOR),ClientMaxAge,all))' $(if $(TEARDOWN),-teardown)

# The functions of the release run as processes, hence Linux. TRUST=long builds the complete release twice.
test-release: check-go check-npm $(SAM) ## build a release twice, compare the bytes, and start its programs (needs Linux)
	@[ "$$(uname)" = Linux ] || { echo "make test-release needs Linux, because it runs the functions as processes" >&2; exit 1; }
	SAM='$(SAM)' go test -tags release -count=1 -timeout 60m -run '^TestRelease$$' ./internal/e2e

# The Go module of internal/clients is installed by the test.
test-clients: check-go check-npm $(CLIENTS_NODE)/installed $(CLIENTS_PYTHON)/installed ## run unmodified SDKs against Guidon and Guidon Edge (needs Chromium, Python 3.10)
	CLIENTS_NODE='$(CLIENTS_NODE)' CLIENTS_PYTHON='$(CLIENTS_PYTHON)/bin/python' \
		go test -tags clients -count=1 -timeout 10m -run '^Test(Clients|ClientsAgree|ClientsOverload|ClientsUsage|ConnectPages|Demo|FrontendOrigins|ReadmeProgram)$$' ./internal/e2e

test-clients-more: check-go check-npm $(CLIENTS_JAVA)/classpath $(CLIENTS_RUST) $(CLIENTS_PYTHON)/installed ## compare the SDKs for Java and Rust, and OFREP in Python, with Guidon, and overload and count Java (needs Maven, Java 17, Cargo, Python 3.10)
	CLIENTS_JAVA="$(CLIENTS_JAVA)/classes:$$(cat '$(CLIENTS_JAVA)/classpath')" CLIENTS_RUST='$(CLIENTS_RUST)' CLIENTS_PYTHON='$(CLIENTS_PYTHON)/bin/python' \
		go test -tags clients -count=1 -timeout 20m -run '^TestClients(Agree|Overload|Usage)$$' ./internal/e2e

# It is no step of .ci/run: Edge takes half an hour to build (docs/how-to/edge.md).
test-edge: check-go check-npm $(CLIENTS_NODE)/installed $(CLIENTS_PYTHON)/installed ## run SDKs behind Unleash Edge (EDGE=program)
	@[ -x '$(EDGE)' ] || { echo "EDGE must be the program unleash-edge: docs/how-to/edge.md shows how to build it" >&2; exit 1; }
	CLIENTS_NODE='$(CLIENTS_NODE)' CLIENTS_PYTHON='$(CLIENTS_PYTHON)/bin/python' EDGE='$(abspath $(EDGE))' \
		go test -tags clients -count=1 -timeout 15m -run '^TestEdge$$' ./internal/e2e

test-migration: check-go check-npm $(CLIENTS_NODE)/installed ## migrate a real Unleash to Guidon and back, put Guidon Edge in front of it, and compare (needs PostgreSQL; FLAGS=5000 measures)
	CLIENTS_NODE='$(abspath $(CLIENTS_NODE))' FLAGS='$(FLAGS)' go test -tags migration -count=1 -v -timeout 30m \
		-run '^$(if $(FLAGS),TestManyFlags,Test(Migration|GuidonEdge))$$' ./internal/migration

test-upgrade: check-go check-npm ## run earlier versions and this one on the same table (needs the history of the repository)
	go test -tags upgrade -count=1 -timeout 20m -run '^TestUpgrade$$' ./internal/e2e

test-terraform: check-go check-npm guidon ## run the acceptance tests of Unleash's Terraform provider (PROVIDER=checkout; needs terraform)
	@GUIDON_LOCAL='$(LOCAL)' internal/e2e/terraform-acceptance.sh '$(LOCAL)/bin/guidon' '$(PROVIDER)'

# It is no step of .ci/run, because no package registry has the provider (docs/operations/terraform.md).
test-terraform-example: check-go check-npm guidon ## run examples/terraform/flags with Unleash's provider (PROVIDER=checkout; needs terraform)
	@GUIDON_LOCAL='$(LOCAL)' internal/e2e/terraform-example.sh '$(LOCAL)/bin/guidon' '$(PROVIDER)'

contract: check-go check-npm guidon $(SCHEMATHESIS) ## test the API against its OpenAPI description with Schemathesis (SEED, EXAMPLES)
	@GUIDON='$(abspath $(LOCAL))/bin/guidon' SCHEMATHESIS='$(abspath $(SCHEMATHESIS))' SEED='$(SEED)' EXAMPLES='$(EXAMPLES)' \
		go test -tags contract -count=1 -v -parallel 3 -timeout 40m -run '^TestContract$$' ./internal/contract

# The long versions of the tests behind docs/reliability.md. Their short versions are part of make test.
trust: check-go check-npm ## run the long reliability tests (more than an hour)
	$(MAKE) --no-print-directory audit
	$(MAKE) --no-print-directory fuzz
	$(MAKE) --no-print-directory contract EXAMPLES=15
	TRUST=long go test -count=1 -timeout 20m ./pkg/evaluate -run '^TestSameAsGoSDK$$'
	TRUST=long go test -count=1 -timeout 20m -parallel 12 ./pkg/admin/linear
	TRUST=long go test -count=1 -timeout 30m -parallel 2 ./pkg/serving/linear
	TRUST=long go test -count=1 -timeout 30m -v ./pkg/admin/contention
	TRUST=long go test -count=1 -timeout 20m -parallel 6 ./pkg/admin -run '^TestFaultMatrix$$'
	TRUST=long go test -count=1 -timeout 60m ./pkg/admin -run '^(TestProperties|TestFullTransactions|TestLargestImport|TestHostileBodies|TestHostileQueries)$$'
	TRUST=long go test -count=1 -timeout 60m ./internal/e2e -run '^(TestKilled|TestEngineAway|TestGuides)$$'
	TRUST=long $(MAKE) --no-print-directory test-release
	SCALE=1 $(MAKE) --no-print-directory test-browser TEST=e2e/scale.spec.ts

# The corpora, in testdata/fuzz, are part of make test.
FUZZTIME ?= 60s
fuzz: check-go check-npm ## run each fuzz test (FUZZTIME=60s)
	@set -e; for test in $$(grep -rho --include='*_test.go' '^func Fuzz[A-Za-z]*' pkg infra | sed 's/func //' | sort); do \
		folder=$$(dirname "$$(grep -rl --include='*_test.go' "^func $$test(" pkg infra)"); echo "== $$test for $(FUZZTIME)"; \
		go test "./$$folder" -run '^$$' -fuzz "^$$test\$$" -fuzztime $(FUZZTIME); done

bench: check-go check-npm console ## measure the cost of requests, beside Unleash (needs PostgreSQL), and start-up (BENCH="-time 1s")
	go run ./internal/bench $(BENCH)

bench-edge: check-go ## measure Guidon Edge beside a handler that writes the same bytes, and beside Unleash Edge (EDGE=program, BENCH="-streams 1000")
	EDGE='$(EDGE)' go run ./internal/bench/edge $(BENCH)

##@ Check

# The workflows of infra/pipeline refer to each other as in a repository that has copied them.
PIPELINE = $(LOCAL)/actionlint
# golangci-lint contains go vet and staticcheck. go vet runs where golangci-lint does not look: other tags and modules, and the package
# that differs between systems. make test-release builds the programs for all of them.
lint: check-go $(GOLANGCI_LINT) $(ACTIONLINT) ## run gofmt, golangci-lint (with go vet and staticcheck) and actionlint
	@unformatted=$$(find . \( -name '.?*' -o -name node_modules \) -prune -o -name '*.go' -print | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "run gofmt on:"; echo "$$unformatted"; exit 1; fi
	go vet -tags sam,image,deploy,release,clients,contract,migration,upgrade ./internal/e2e ./internal/contract ./internal/migration
	cd internal/clients/go && go vet ./...
	cd demo/go && go vet ./...
	cd examples/edge/lambda/go && go vet ./...
	GOOS=darwin go vet ./internal/child
	GOOS=windows go vet ./internal/child
	$(GOLANGCI_LINT) run
	'$(ACTIONLINT)' -shellcheck= -pyflakes= .github/workflows/*.yml
	@rm -rf '$(PIPELINE)' && mkdir -p '$(PIPELINE)/.git' '$(PIPELINE)/.github/workflows' && cp infra/pipeline/*.yml '$(PIPELINE)/.github/workflows'
	cd '$(PIPELINE)' && '$(abspath $(ACTIONLINT))' -shellcheck= -pyflakes=

# A finding of gosec must carry a nolint comment with the reason. pkg/server, internal and demo run programs and open files that
# their user chooses, so gosec does not check them. govulncheck needs a database on the network.
audit: check-go check-npm $(GOSEC) $(GOVULNCHECK) ## run gosec, govulncheck, npm audit and golangci-lint, and verify the modules
	@mkdir -p '$(LOCAL)/audit'
	@$(GOSEC) -exclude=G101 -exclude-dir=pkg/server -exclude-dir=internal -exclude-dir=demo -exclude-dir=.local -exclude-dir=node_modules -color=false ./... > '$(LOCAL)/audit/gosec' 2>&1 || true
	@grep -q '^ *Issues :' '$(LOCAL)/audit/gosec' || { cat '$(LOCAL)/audit/gosec'; echo "gosec failed" >&2; exit 1; }
	@if grep '^  > ' '$(LOCAL)/audit/gosec' | grep -v '//nolint:gosec // '; then echo "gosec: these findings need a nolint comment with the reason, or a fix" >&2; exit 1; fi
	@echo "gosec: no unexplained findings"
	@$(GOVULNCHECK) ./... > '$(LOCAL)/audit/govulncheck' 2>&1 && cat '$(LOCAL)/audit/govulncheck' || { \
		cat '$(LOCAL)/audit/govulncheck'; grep -q '^govulncheck: fetching vulnerabilities' '$(LOCAL)/audit/govulncheck' || exit 1; \
		echo "NOT CHECKED for known vulnerabilities: the database of govulncheck cannot be reached"; }
	@(cd $(WEB) && npm audit --omit=dev) > '$(LOCAL)/audit/npm' 2>&1 && cat '$(LOCAL)/audit/npm' || { \
		cat '$(LOCAL)/audit/npm'; grep -qE 'audit endpoint returned an error|ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT' '$(LOCAL)/audit/npm' || exit 1; \
		echo "NOT CHECKED for known vulnerabilities of npm packages: the registry does not answer npm audit"; }
	go mod verify
	@$(MAKE) --no-print-directory $(GOLANGCI_LINT) && $(GOLANGCI_LINT) run

# A value for every parameter that is empty by default. The rules in infra/template/rules contain these values.
EVERYTHING = KeyArn=arn:aws:kms:eu-central-1:123456789012:key/a Alarms=arn:aws:sns:eu-central-1:123456789012:a Dashboard=on \
	RestoredTable=another-table MaxReadUnits=1000 MaxWriteUnits=1000 ReservedConcurrency=5 ApplicationsConcurrency=50 FrontendConcurrency=20 CorsOrigins=https://a.example,https://b.example \
	DomainName=a.example CertificateArn=arn:aws:acm:eu-central-1:123456789012:certificate/a Deployment=Canary10Percent5Minutes \
	RolePath=/a/ PermissionsBoundary=arn:aws:iam::123456789012:policy/a ExecuteApi=off \
	FrontSecretHash=2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b Limits=tags=40 \
	BackupVaultArn=arn:aws:backup:eu-central-1:210987654321:backup-vault:a \
	FrontendOrigins=https://a.example PublicUrl=https://a.example SessionHours=24 OpenId=on ClientMaxAge=5 ClientThrottleRate=700 \
	PublishBucket=bucket-a SecondPublishBucket=bucket-b SecondPublishRegion=eu-west-1 WebhookPrivateNetworks=10.1.0.0/16 LogKeyArn=arn:aws:kms:eu-central-1:123456789012:key/a

template: export SAM_CLI_TELEMETRY = 0
template: export AWS_DEFAULT_REGION = eu-central-1
template: check-go $(SAM) $(CHECKOV) $(OPA) $(KUBERNETES_VALIDATE) ## check template.yaml with cfn-lint, SAM's translator, checkov and our own rules (OPA), and examples/edge
	'$(dir $(SAM))cfn-lint' -c I -- template.yaml infra/pipeline/roles.yaml docs/operations/front.yaml docs/operations/spending.yaml docs/operations/bucket.yaml \
		examples/edge/ecs.yaml examples/edge/lambda/template.yaml
	'$(KUBERNETES_VALIDATE)' --strict --quiet examples/edge/kubernetes.yaml examples/edge/kubernetes-sidecar.yaml
	@mkdir -p '$(LOCAL)/template'
	'$(dir $(SAM))python' infra/template/transform.py template.yaml '$(LOCAL)/template' $(EVERYTHING)
	@'$(OPA)' check --strict infra/template/rules
	'$(OPA)' test --timeout 20m infra/template/rules 'defaults:$(LOCAL)/template/defaults.json' 'everything:$(LOCAL)/template/everything.json' \
		pipeline:infra/pipeline/roles.yaml front:docs/operations/front.yaml spending:docs/operations/spending.yaml
	'$(CHECKOV)' --config-file infra/template/checkov.yaml --file '$(LOCAL)/template/everything.json'

##@ Build and deploy

# The architecture of the functions, as in the template's parameter: arm64 or x86_64.
ARCH ?= arm64

# make release sets the version in the programs. VERSION counts only on the command line of make, because other tools use this
# variable of the environment too.
RELEASED = $(if $(filter command line,$(origin VERSION)),$(VERSION))
LDFLAGS  = -s -w$(if $(RELEASED), -X guidon/pkg/version.number=$(RELEASED))

# One stripped, static binary per function. `sam build` calls build-<LogicalId> for each function of template.yaml
# (BuildMethod: makefile), and `make build` builds all of them.
define bootstrap
	CGO_ENABLED=0 GOOS=linux GOARCH=$(if $(filter x86_64,$(ARCH)),amd64,arm64) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags "$(LDFLAGS)" \
		-o '$(2)/bootstrap' ./functions/$(1)
endef

console: ## build the web console into pkg/console/dist, if its sources have changed
	@functions/console/build

BUILD = $(LOCAL)/build
build: check-go $(patsubst functions/%/main.go,$(BUILD)/%/bootstrap,$(wildcard functions/*/main.go)) ## build every Lambda function into .local/build (ARCH=arm64, BUILD)

$(BUILD)/%/bootstrap: FORCE
	$(call bootstrap,$*,$(@D))

$(BUILD)/site/bootstrap: console

build-%Function: FORCE
	$(call bootstrap,$(shell echo '$*' | tr '[:upper:]' '[:lower:]'),$(ARTIFACTS_DIR))

build-SiteFunction: console

# One static binary. GOOS and GOARCH select another platform.
guidon: check-go console ## build the guidon command into .local/bin (GOOS, GOARCH, OUT=file)
	@CGO_ENABLED=0 go build -trimpath $(if $(RELEASED),-buildvcs=false) -ldflags '$(LDFLAGS)' -o '$(or $(OUT),$(LOCAL)/bin/guidon)' ./cmd/guidon

edge: check-go ## build guidon-edge into .local/bin, without console and administration (GOOS, GOARCH, OUT=file)
	@CGO_ENABLED=0 go build -trimpath $(if $(RELEASED),-buildvcs=false) -ldflags '$(LDFLAGS)' -o '$(or $(OUT),$(LOCAL)/bin/guidon-edge)' ./cmd/guidon-edge

PLATFORMS = linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64.exe
DIST = $(LOCAL)/dist
dist: check-go console ## build the guidon command for Linux, macOS and Windows into .local/dist
	@set -e; for platform in $(PLATFORMS); do \
		arch=$${platform#*-}; file='$(DIST)'/guidon-$$platform; echo "$$file"; \
		$(MAKE) --no-print-directory guidon GOOS=$${platform%%-*} GOARCH=$${arch%.exe} OUT="$$file"; done

# The image for the architecture of this machine. Its only layer depends on the two programs alone.
IMAGE = guidon
IMAGE_DIR = $(LOCAL)/image
IMAGE_ARCH = $(if $(filter arm64,$(HOST_ARCH)),arm64,amd64)
SOURCE_VERSION = $(or $(RELEASED),$(shell sed -n 's/^const source = "\(.*\)"/\1/p' pkg/version/version.go))
image: check-go check-npm check-docker ## build the container image guidon, from scratch (IMAGE=name)
	@$(MAKE) --no-print-directory guidon GOOS=linux GOARCH=$(IMAGE_ARCH) OUT='$(IMAGE_DIR)/guidon'
	@go run ./internal/image -guidon '$(IMAGE_DIR)/guidon' -arch $(IMAGE_ARCH) -out '$(IMAGE_DIR)/context'
	@docker build --quiet --build-arg VERSION='$(SOURCE_VERSION)' --tag '$(IMAGE)' '$(IMAGE_DIR)/context'

EDGE_IMAGE_FILE = $(LOCAL)/image/guidon-edge.tar.gz
edge-image: check-go check-docker ## build the container image guidon-edge, from scratch
	@$(MAKE) --no-print-directory edge GOOS=linux GOARCH=$(IMAGE_ARCH) OUT='$(LOCAL)/image/guidon-edge'
	@go run ./internal/image -edge '$(LOCAL)/image/guidon-edge' -arch $(IMAGE_ARCH) -version '$(SOURCE_VERSION)' -out '$(EDGE_IMAGE_FILE)'
	@docker load --quiet --input '$(EDGE_IMAGE_FILE)'

# The Makefile builds the programs, and internal/release packs them. The settings of Go are fixed, because they change the programs.
ARCHITECTURES = arm64 x86_64
PROGRAMS = $(LOCAL)/release/programs
release: export GOFLAGS = -mod=readonly
release: export GOAMD64 = v1
release: export GOARM64 = v8.0
release: export GOEXPERIMENT =
release: export GOFIPS140 = off
release: export GOWORK = off
release: export RELEASE_VERSION = $(RELEASED)# not in quotes of the shell, which the name of a tag could end
release: check-go check-npm ## build a release into .local/release/VERSION (VERSION=1.2.3, OUT=folder)
	@go run ./internal/release check -version "$$RELEASE_VERSION"
	@rm -rf '$(PROGRAMS)'
	@$(MAKE) --no-print-directory dist DIST='$(PROGRAMS)/guidon'
	@set -e; for platform in $(filter linux-% darwin-%,$(PLATFORMS)); do \
		file='$(PROGRAMS)'/edge/guidon-edge-$$platform; echo "$$file"; arch=$${platform#*-}; \
		$(MAKE) --no-print-directory edge GOOS=$${platform%%-*} GOARCH=$$arch OUT="$$file"; \
		case $$platform in linux-*) go run ./internal/image -edge "$$file" -arch $$arch -version '$(RELEASED)' -out '$(PROGRAMS)'/images/guidon-edge-$$arch.tar.gz ;; esac; done
	@set -e; for architecture in $(ARCHITECTURES); do \
		$(MAKE) --no-print-directory build ARCH=$$architecture BUILD='$(PROGRAMS)/functions/'$$architecture; done
	@go run ./internal/release pack -version '$(RELEASED)' -programs '$(PROGRAMS)' -swagger-ui '$(SWAGGER_UI_VERSION)' -node "$$(node --version)" \
		-out '$(or $(OUT),$(LOCAL)/release/$(RELEASED))'

deploy: check-go ## build and deploy a stage (STAGE=dev)
	@infra/deploy '$(STAGE)'

admin-token: ## print the admin token of a deployed stage (STAGE=dev)
	@infra/admin-token '$(STAGE)'

##@ Develop

openapi: check-go ## generate infra/openapi.json from the code
	go generate ./infra/openapi

# The files of the page at /docs, which are in the repository.
SWAGGER_UI_VERSION = 5.35.0
docs-assets: check-npm ## update the files of Swagger UI in pkg/docs/assets
	@rm -rf '$(LOCAL)/swagger-ui' && mkdir -p '$(LOCAL)/swagger-ui'
	cd '$(LOCAL)/swagger-ui' && npm pack --silent swagger-ui-dist@$(SWAGGER_UI_VERSION) && tar xzf *.tgz
	@cd '$(LOCAL)/swagger-ui/package' && for file in swagger-ui-bundle.js swagger-ui.css; do \
		gzip -9nc $$file > '$(CURDIR)/pkg/docs/assets/'$$file.gz; done && \
		cp LICENSE NOTICE swagger-ui-bundle.js.LICENSE.txt '$(CURDIR)/pkg/docs/assets/'

clean: ## delete downloads, builds and local data
	rm -rf '$(LOCAL)' .aws-sam $(WEB)/node_modules
	cd pkg/console/dist && find . ! -name .gitignore ! -name . -prune -exec rm -rf {} +

# Tools, installed on first use at pinned versions

$(SAM): infra/requirements-sam.txt; $(call virtual,the SAM CLI,aws-sam-cli@$(SAM_VERSION),sam-$(SAM_VERSION))
$(MINISTACK): infra/requirements-ministack.txt; $(call virtual,MiniStack,ministack@$(MINISTACK_VERSION),ministack-$(MINISTACK_VERSION))
$(CHECKOV): infra/requirements-checkov.txt; $(call virtual,checkov,checkov@$(CHECKOV_VERSION),checkov-$(CHECKOV_VERSION))
$(KUBERNETES_VALIDATE): infra/requirements-kubernetes.txt; $(call virtual,kubernetes-validate,kubernetes-validate@$(KUBERNETES_VALIDATE_VERSION),kubernetes-validate-$(KUBERNETES_VALIDATE_VERSION))
$(SCHEMATHESIS): internal/contract/requirements.txt; $(call virtual,Schemathesis,schemathesis@$(SCHEMATHESIS_VERSION),schemathesis-$(SCHEMATHESIS_VERSION))
$(CLIENTS_PYTHON)/installed: internal/clients/python/requirements.txt; $(call virtual,the SDK for Python,UnleashClient,clients-python)
$(LOCAL)/demo/node/installed: demo/node/package.json demo/node/package-lock.json
	@echo "installing the SDK for Node.js (once)"; rm -rf '$(@D)'; mkdir -p '$(@D)'
	@cp $^ '$(@D)/'
	@cd '$(@D)' && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch '$@'
$(CLIENTS_NODE)/installed: internal/clients/node/package.json internal/clients/node/package-lock.json internal/clients/node/.npmrc
	@echo "installing SDKs for Node.js and browsers (once)"; rm -rf '$(CLIENTS_NODE)'; mkdir -p '$(CLIENTS_NODE)'
	@cp $^ '$(CLIENTS_NODE)/'
	@cd '$(CLIENTS_NODE)' && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch '$@'
$(CLIENTS_JAVA)/classpath: internal/clients/java/pom.xml $(wildcard internal/clients/java/src/main/java/*.java)
	@command -v mvn >/dev/null || { echo "mvn is missing: the SDK for Java needs Maven and Java 17 (https://maven.apache.org/)" >&2; exit 1; }
	@echo "installing the SDK for Java (once)"; mkdir -p '$(@D)'
	@mvn -q -B -f internal/clients/java '-Dtarget=$(@D)' compile dependency:build-classpath '-Dmdep.outputFile=$@'
$(CLIENTS_RUST): internal/clients/rust/Cargo.toml internal/clients/rust/Cargo.lock internal/clients/rust/src/main.rs
	@command -v cargo >/dev/null || { echo "cargo is missing: the SDK for Rust needs it (https://rustup.rs/)" >&2; exit 1; }
	@echo "building the SDK for Rust (once)"
	@cargo build --quiet --locked --manifest-path '$<' --target-dir '$(LOCAL)/clients-rust'
	@touch '$@'
$(ACTIONLINT): ; $(call install,github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION))
$(GOSEC): ; $(call install,github.com/securego/gosec/v2/cmd/gosec@$(GOSEC_VERSION))
$(OPA): ; $(call install,github.com/open-policy-agent/opa@$(OPA_VERSION))
$(GOVULNCHECK): ; $(call install,golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION))
$(GOLANGCI_LINT): ; $(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION))

# virtual installs a Python program into its own virtual environment, with the versions of its requirements file.
define virtual
	@command -v python3 >/dev/null || { echo "python3 is missing: $(1) needs Python 3.10 or newer (https://www.python.org/)" >&2; exit 1; }
	@echo "installing $(2) (once)"; rm -rf '$(LOCAL)/$(3)'
	@python3 -m venv '$(LOCAL)/$(3)'
	@'$(LOCAL)/$(3)/bin/pip' install --quiet --disable-pip-version-check -r '$<'
	@touch '$@'
endef

# install installs a Go program. The version is part of the file name, so a new version is a new file.
define install
	@echo "installing $(1) (once)"; mkdir -p '$(LOCAL)/bin/new'
	@GOBIN='$(LOCAL)/bin/new' go install $(1)
	@mv '$(LOCAL)/bin/new/$(notdir $(firstword $(subst @, ,$(1))))' '$@'
endef

# Checks for what has to be installed

check-go:
	@for tool in awk sed tr mkdir mv rm; do command -v $$tool >/dev/null || { \
		echo "$$tool is missing: this Makefile needs a POSIX shell and its standard tools" >&2; exit 1; }; done
	@command -v go >/dev/null || { \
		echo "go is missing: install Go $$(sed -n 's/^go //p' go.mod) or newer from https://go.dev/dl/" >&2; exit 1; }
	@want=$$(sed -n 's/^go //p' go.mod); have=$$(go env GOVERSION 2>&1) || { \
		echo "go does not work: $$have. Install Go $$want or newer from https://go.dev/dl/" >&2; exit 1; }; \
	printf '%s %s\n' "$$want" "$${have#go}" | awk '{ split($$1, want, "."); split($$2, have, "."); \
		for (i = 1; i <= 3; i++) if (have[i]+0 != want[i]+0) exit have[i]+0 < want[i]+0 }' || { \
		echo "$$have is too old: install Go $$want or newer from https://go.dev/dl/" >&2; exit 1; }

# CHROMIUM is the browser of the tests: playwright's own cannot be downloaded everywhere. Without its window it takes a third less time.
CHROMIUM = $(shell command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)
check-chromium:
	@[ -n '$(CHROMIUM)' ] || { echo "Chromium is missing: install it, or set CHROMIUM to the path of a Chrome or Chromium" >&2; exit 1; }

check-deploy:
	@[ "$$(uname)" = Linux ] || { echo "make test-deploy needs Linux, because the emulator runs the functions as processes" >&2; exit 1; }
	@for tool in bash curl openssl; do command -v $$tool >/dev/null || { \
		echo "$$tool is missing: the scripts in docs/operations need it" >&2; exit 1; }; done

check-node:
	@command -v node >/dev/null || { echo "node is missing: install Node.js from https://nodejs.org/" >&2; exit 1; }

check-docker:
	@docker info >/dev/null 2>&1 || { echo "Docker is missing or not running: install it from https://docs.docker.com/get-docker/ and start it" >&2; exit 1; }

check-compose:
	@docker compose version >/dev/null 2>&1 || { \
		echo "docker compose is missing: install Docker with its Compose plugin to run LocalStack" >&2; exit 1; }

# npm downloads the embedded DynamoDB engine and the test data.
check-npm:
	@if [ -z "$$AWS_ENDPOINT_URL_DYNAMODB" ] && ! command -v npm >/dev/null; then \
		echo "npm is missing: it downloads the embedded DynamoDB engine. Install Node.js from https://nodejs.org/," >&2; \
		echo "or set AWS_ENDPOINT_URL_DYNAMODB to the address of another DynamoDB." >&2; exit 1; fi

FORCE:
