# Guidon. `make help` lists what there is; nothing but Go, npm and a POSIX shell is needed.

SHELL = /bin/sh
.DEFAULT_GOAL = help
.SUFFIXES:
.PHONY: help run guidon template deploy admin-token sam-local sam-invoke test-sam test-sam-local test-deploy test-migration test-terraform localstack localstack-down test fuzz audit trust bench lint build openapi contract docs-assets clean check-go check-compose check-deploy check-npm FORCE

# Everything that is fetched, built or kept goes here. GUIDON_LOCAL names another folder.
LOCAL = $(or $(GUIDON_LOCAL),$(CURDIR)/.local)

STATICCHECK_VERSION   = v0.8.2
GOLANGCI_LINT_VERSION = v2.15.0
STATICCHECK   = $(LOCAL)/bin/staticcheck-$(STATICCHECK_VERSION)
GOLANGCI_LINT = $(LOCAL)/bin/golangci-lint-$(GOLANGCI_LINT_VERSION)

GOSEC_VERSION       = v2.29.0
GOVULNCHECK_VERSION = v1.8.0
GOSEC       = $(LOCAL)/bin/gosec-$(GOSEC_VERSION)
GOVULNCHECK = $(LOCAL)/bin/govulncheck-$(GOVULNCHECK_VERSION)

SCHEMATHESIS_VERSION = 4.32.5
SCHEMATHESIS = $(LOCAL)/schemathesis-$(SCHEMATHESIS_VERSION)/bin/st

SAM_VERSION = 1.170.0
SAM = $(LOCAL)/sam-$(SAM_VERSION)/bin/sam

MINISTACK_VERSION = 1.5.33
MINISTACK = $(LOCAL)/ministack-$(MINISTACK_VERSION)/bin/ministack

OPA_VERSION = v1.22.2
OPA = $(LOCAL)/bin/opa-$(OPA_VERSION)

CHECKOV_VERSION = 3.3.30
CHECKOV = $(LOCAL)/checkov-$(CHECKOV_VERSION)/bin/checkov

# Which engine the tests and the gateway start: dynoxide (the default) or dynamodb-local (wants Java 17 and Maven).
ifdef ENGINE
export ENGINE
endif

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

run: check-go check-npm guidon ## run all of Guidon on http://127.0.0.1:4242 (PORT, DATA_DIR, AUTH_TYPE, INIT_ADMIN_API_TOKENS …)
	@exec '$(LOCAL)/bin/guidon' serve

# One static binary. GOOS and GOARCH choose another platform, OUT another file.
guidon: check-go ## build the command guidon into .local/bin (GOOS, GOARCH, OUT)
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o '$(or $(OUT),$(LOCAL)/bin/guidon)' ./cmd/guidon

localstack: check-go check-compose ## the same over LocalStack in a container, which Ctrl-C ends too (LOCALSTACK_PORT, LOCALSTACK_IMAGE)
	@$(MAKE) --no-print-directory guidon
	@$(MAKE) --no-print-directory guidon GOOS=linux GOARCH=$$(go env GOHOSTARCH) OUT='$(LOCAL)/localstack/guidon'
	@GUIDON_LOCAL='$(LOCAL)' localstack/serve.sh

localstack-down: check-compose ## end a LocalStack that was left running
	GUIDON_LOCAL='$(LOCAL)' docker compose -f localstack/compose.yaml down --volumes

# The tests start engines and gateways, which Go's test cache cannot see: hence -count=1.
# Tests that walk every route, or much data, one call after the other. The race detector has nothing to find in them, and they take
# three to nine times as long under it, so they run without. A name that is not listed here runs with it.
SWEEPS = ^Test(Matrix|HostileBodies|MultipliedBodies|StrictJSON|EveryChangeIsInTheLog|ImportTakesWhatValidationSays|FullTransactions|NoSpellingGetsIn|$\
HostileQueries|WidestFlag|LargestFlag|ValidationPromisesTheImport|EveryPermissionIsEnough|AwkwardNames|ManyEnvironments|EnvironmentOfManyFlags|$\
Budget|LargestImport|WrongTypes|LongAnswers|NotThere|Properties|FaultMatrix)$$

test: check-go check-npm ## run every test (ENGINE=dynamodb-local: on Amazon's own engine)
	@race=; cc=$$(go env CC); \
	if [ "$$(go env CGO_ENABLED)" = 1 ] && echo 'int main(void) { return 0; }' | $$cc -xc - -o /dev/null 2>/dev/null; then race=-race; \
	else echo "note: no C compiler, so the tests run without the race detector"; fi; \
	set -x; go test -count=1 -timeout 25m $$race -skip '$(SWEEPS)' ./... && go test -count=1 -timeout 25m -run '$(SWEEPS)' ./pkg/httpapi

contract: check-go check-npm $(SCHEMATHESIS) ## let Schemathesis hold the interface to its own description (SEED, EXAMPLES)
	@$(MAKE) --no-print-directory guidon
	@go run ./internal/contract -gateway '$(LOCAL)/bin/guidon' -st '$(SCHEMATHESIS)' $(if $(SEED),-seed $(SEED)) $(if $(EXAMPLES),-examples $(EXAMPLES))

$(SCHEMATHESIS): internal/contract/requirements.txt; $(call virtual,Schemathesis,schemathesis@$(SCHEMATHESIS_VERSION),schemathesis-$(SCHEMATHESIS_VERSION))

# The SAM CLI, with cfn-lint and all that it needs, in a virtual environment of its own.
$(SAM): infra/requirements-sam.txt; $(call virtual,the SAM CLI,aws-sam-cli@$(SAM_VERSION),sam-$(SAM_VERSION))

# MiniStack, an emulator of AWS, with the AWS CLI beside it.
$(MINISTACK): infra/requirements-ministack.txt; $(call virtual,MiniStack,ministack@$(MINISTACK_VERSION),ministack-$(MINISTACK_VERSION))

$(CHECKOV): infra/requirements-checkov.txt; $(call virtual,checkov,checkov@$(CHECKOV_VERSION),checkov-$(CHECKOV_VERSION))

# A value for every parameter that is empty by default. The rules in infra/template/rules contain these values.
EVERYTHING = KeyArn=arn:aws:kms:eu-central-1:123456789012:key/a AlarmTopicArn=arn:aws:sns:eu-central-1:123456789012:a \
	RestoredTable=another-table MaxReadUnits=1000 MaxWriteUnits=1000 ReservedConcurrency=5 CorsOrigins=https://a.example,https://b.example \
	DomainName=a.example CertificateArn=arn:aws:acm:eu-central-1:123456789012:certificate/a Deployment=Canary10Percent5Minutes \
	RolePath=/a/ PermissionsBoundary=arn:aws:iam::123456789012:policy/a ExecuteApi=off \
	FrontSecretHash=2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b ProbeAddress=https://a.example \
	BackupVaultArn=arn:aws:backup:eu-central-1:210987654321:backup-vault:a
TRANSFORM = '$(dir $(SAM))python' infra/template/transform.py template.yaml

template: export SAM_CLI_TELEMETRY = 0
template: export AWS_DEFAULT_REGION = eu-central-1
template: check-go $(SAM) $(CHECKOV) $(OPA) ## check template.yaml: sam validate, cfn-lint, checkov, and our own rules (OPA)
	'$(SAM)' validate --lint
	'$(dir $(SAM))cfn-lint' -c I -- template.yaml infra/pipeline/roles.yaml docs/operations/front.yaml
	@mkdir -p '$(LOCAL)/template'
	@$(TRANSFORM) > '$(LOCAL)/template/defaults.json'
	@$(TRANSFORM) $(EVERYTHING) > '$(LOCAL)/template/everything.json'
	'$(dir $(SAM))python' infra/template/unresolved.py template.yaml
	@'$(OPA)' check --strict infra/template/rules
	'$(OPA)' test --timeout 5m infra/template/rules 'defaults:$(LOCAL)/template/defaults.json' 'everything:$(LOCAL)/template/everything.json' \
		pipeline:infra/pipeline/roles.yaml
	'$(CHECKOV)' --config-file infra/template/checkov.yaml --file '$(LOCAL)/template/everything.json'

sam-local: check-go check-npm $(SAM) ## run all of Guidon by sam local, each function in a container (PORT; wants Docker)
	@$(MAKE) --no-print-directory guidon
	@go build -o '$(LOCAL)/bin/samlocal' ./internal/samlocal
	@exec '$(LOCAL)/bin/samlocal' -dir '$(LOCAL)/sam-local' -sam '$(SAM)' -guidon '$(LOCAL)/bin/guidon'

# The functions as they ship, over the Runtime API of Lambda: as processes, which takes no more than Linux, and in the
# containers of sam local wherever there is a Docker engine or one can be started.
HOST_ARCH = $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
HOST_BUILD = $(LOCAL)/build-$(HOST_ARCH)
test-sam: check-go check-npm ## walk through the interface, and every sample event, on the built functions (sam local, or processes)
	@if [ "$$(uname)" = Linux ]; then set -ex; $(MAKE) --no-print-directory build ARCH=$(HOST_ARCH) BUILD='$(HOST_BUILD)'; \
		FUNCTIONS='$(HOST_BUILD)' go test -tags sam -count=1 -run '^TestProcesses$$' ./internal/e2e; fi
	@internal/samlocal/with-docker.sh $(MAKE) --no-print-directory test-sam-local

test-sam-local: $(SAM)
	SAM='$(SAM)' go test -tags sam -count=1 -run '^TestSAMLocal$$' ./internal/e2e

# The emulator runs the functions' binaries as processes of this machine, hence Linux. The scripts of docs/operations are run.
test-deploy: check-go check-deploy $(SAM) $(MINISTACK) ## deploy into an emulator of AWS with the SAM CLI, use it, update it, rotate the token, delete it (wants Linux)
	SAM='$(SAM)' MINISTACK='$(MINISTACK)' ARCH=$(HOST_ARCH) go test -tags deploy -count=1 -timeout 20m -run '^TestDeployment$$' ./internal/e2e

test-terraform: check-go check-npm ## run the acceptance tests of Unleash's Terraform provider, of the checkout PROVIDER=folder (wants terraform)
	@$(MAKE) --no-print-directory guidon
	@GUIDON_LOCAL='$(LOCAL)' internal/e2e/terraform-acceptance.sh '$(LOCAL)/bin/guidon' '$(PROVIDER)'

test-migration: check-go check-npm ## move all flags of a real Unleash to Guidon and back, and compare (wants PostgreSQL; FLAGS=5000 measures)
	@go build -o '$(LOCAL)/bin/migration' ./internal/migration
	@exec '$(LOCAL)/bin/migration' $(if $(FLAGS),-flags $(FLAGS))

sam-invoke: check-go $(SAM) ## run one function with its event of internal/samples, beside make sam-local (FUNCTION=Features)
	@'$(SAM)' local invoke $(or $(FUNCTION),Features)Function --config-file '$(LOCAL)/sam-local/samconfig.toml' \
		--event internal/samples/$(shell echo '$(or $(FUNCTION),Features)' | tr '[:upper:]' '[:lower:]').json

# The long forms of the tests that make the promises of docs/reliability.md; their short forms are part of make test.
trust: check-go check-npm ## test for an hour and more what docs/reliability.md promises
	$(MAKE) --no-print-directory audit
	$(MAKE) --no-print-directory fuzz
	TRUST=long go test -count=1 -timeout 20m -parallel 12 ./pkg/httpapi/linear
	TRUST=long go test -count=1 -timeout 20m -parallel 6 ./pkg/httpapi -run '^TestFaultMatrix$$'
	TRUST=long go test -count=1 -timeout 60m ./pkg/httpapi -run '^(TestProperties|TestFullTransactions|TestLargestImport|TestHostileBodies|TestHostileQueries)$$'
	TRUST=long go test -count=1 -timeout 60m ./internal/e2e -run '^(TestKilled|TestEngineAway)$$'

# Every fuzz test for FUZZTIME, one after the other. Their corpora, in testdata/fuzz, are plain cases of make test.
FUZZTIME ?= 60s
fuzz: check-go check-npm ## let Go's fuzzer look for what breaks the readers of strangers' texts (FUZZTIME)
	@set -e; for test in $$(grep -rho --include='*_test.go' '^func Fuzz[A-Za-z]*' pkg infra | sed 's/func //' | sort); do \
		folder=$$(dirname "$$(grep -rl --include='*_test.go' "^func $$test(" pkg infra)"); echo "== $$test for $(FUZZTIME)"; \
		go test "./$$folder" -run '^$$' -fuzz "^$$test\$$" -fuzztime $(FUZZTIME); done

# What gosec finds must carry the reason why it is none, as golangci-lint asks for it too; localstack runs programs and
# opens files that its user names. govulncheck asks a database on the network: where there is none, it says so.
audit: check-go $(GOSEC) $(GOVULNCHECK) ## gosec, govulncheck, golangci-lint, and that all modules are what go.sum says
	@mkdir -p '$(LOCAL)/audit'
	@$(GOSEC) -exclude=G101 -exclude-dir=localstack -exclude-dir=internal -exclude-dir=.local -color=false ./... > '$(LOCAL)/audit/gosec' 2>&1 || true
	@grep -q '^ *Issues :' '$(LOCAL)/audit/gosec' || { cat '$(LOCAL)/audit/gosec'; echo "gosec did not run" >&2; exit 1; }
	@if grep '^  > ' '$(LOCAL)/audit/gosec' | grep -v '//nolint:gosec // '; then echo "gosec finds these, and no reason beside them" >&2; exit 1; fi
	@echo "gosec: nothing unexplained"
	@$(GOVULNCHECK) ./... > '$(LOCAL)/audit/govulncheck' 2>&1 && cat '$(LOCAL)/audit/govulncheck' || { \
		cat '$(LOCAL)/audit/govulncheck'; grep -q '^govulncheck: fetching vulnerabilities' '$(LOCAL)/audit/govulncheck' || exit 1; \
		echo "NOT CHECKED for known vulnerabilities: the database of govulncheck cannot be reached from here"; }
	go mod verify
	@$(MAKE) --no-print-directory $(GOLANGCI_LINT) && $(GOLANGCI_LINT) run

bench: check-go check-npm ## measure requests a second, latency and memory
	go run ./internal/bench

lint: check-go $(STATICCHECK) $(GOLANGCI_LINT) ## gofmt, go vet, staticcheck, golangci-lint
	@unformatted=$$(gofmt -l cmd functions infra internal localstack pkg *.go); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags sam,deploy ./internal/e2e
	$(STATICCHECK) ./...
	$(GOLANGCI_LINT) run

$(GOSEC): ; $(call install,github.com/securego/gosec/v2/cmd/gosec@$(GOSEC_VERSION))
$(OPA): ; $(call install,github.com/open-policy-agent/opa@$(OPA_VERSION))
$(GOVULNCHECK): ; $(call install,golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION))
$(STATICCHECK): ; $(call install,honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION))
$(GOLANGCI_LINT): ; $(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION))

# virtual installs a Python program, with the versions that its requirements file pins, into a virtual environment of its own.
define virtual
	@command -v python3 >/dev/null || { echo "python3 is missing: $(1) needs Python 3.10 or newer, from https://www.python.org/" >&2; exit 1; }
	@echo "installing $(2) (once)"; rm -rf '$(LOCAL)/$(3)'
	@python3 -m venv '$(LOCAL)/$(3)'
	@'$(LOCAL)/$(3)/bin/pip' install --quiet --disable-pip-version-check -r '$<'
	@touch '$@'
endef

# install puts a tool under a name with its version, so that another version is another file.
define install
	@echo "installing $(1) (once)"; mkdir -p '$(LOCAL)/bin/new'
	@GOBIN='$(LOCAL)/bin/new' go install $(1)
	@mv '$(LOCAL)/bin/new/$(notdir $(firstword $(subst @, ,$(1))))' '$@'
endef

# What the functions run on, as the template's parameter Architecture has it: arm64 or x86_64.
ARCH ?= arm64

# One stripped, static binary a function. `sam build` calls build-<LogicalId> for each function of template.yaml
# (BuildMethod: makefile); `make build` builds all of them the same way.
define bootstrap
	CGO_ENABLED=0 GOOS=linux GOARCH=$(if $(filter x86_64,$(ARCH)),amd64,arm64) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags "-s -w" \
		-o '$(2)/bootstrap' ./functions/$(1)
endef

BUILD = $(LOCAL)/build
build: check-go $(patsubst functions/%/main.go,$(BUILD)/%/bootstrap,$(wildcard functions/*/main.go)) ## build every Lambda function into .local/build (ARCH, BUILD)

$(BUILD)/%/bootstrap: FORCE
	$(call bootstrap,$*,$(@D))

build-%Function: FORCE
	$(call bootstrap,$(shell echo '$*' | tr '[:upper:]' '[:lower:]'),$(ARTIFACTS_DIR))

deploy: check-go ## build for the processor of a stage, and deploy it (STAGE=dev)
	@infra/deploy '$(STAGE)'

admin-token: ## print the admin token of a deployed stage (STAGE=dev)
	@infra/admin-token '$(STAGE)'

openapi: check-go ## write infra/openapi.json again, from the route tables and wire types
	go generate ./infra/openapi

# The files of the page at /docs, which are part of the repository: this fetches them again, in another version.
SWAGGER_UI_VERSION = 5.35.0
docs-assets: check-npm
	@rm -rf '$(LOCAL)/swagger-ui' && mkdir -p '$(LOCAL)/swagger-ui'
	cd '$(LOCAL)/swagger-ui' && npm pack --silent swagger-ui-dist@$(SWAGGER_UI_VERSION) && tar xzf *.tgz
	@cd '$(LOCAL)/swagger-ui/package' && for file in swagger-ui-bundle.js swagger-ui.css; do \
		gzip -9nc $$file > '$(CURDIR)/pkg/docs/assets/'$$file.gz; done && \
		cp LICENSE NOTICE swagger-ui-bundle.js.LICENSE.txt '$(CURDIR)/pkg/docs/assets/'

clean: ## remove what was built and fetched, and the local data
	rm -rf '$(LOCAL)' .aws-sam

check-go:
	@for tool in awk sed tr mkdir mv rm; do command -v $$tool >/dev/null || { \
		echo "$$tool is missing: this Makefile needs a POSIX shell with its usual tools" >&2; exit 1; }; done
	@command -v go >/dev/null || { \
		echo "go is missing: install Go $$(sed -n 's/^go //p' go.mod) or newer from https://go.dev/dl/" >&2; exit 1; }
	@want=$$(sed -n 's/^go //p' go.mod); have=$$(go env GOVERSION 2>&1) || { \
		echo "go does not do: Go $$want or newer is needed. It says: $$have" >&2; exit 1; }; \
	printf '%s %s\n' "$$want" "$${have#go}" | awk '{ split($$1, want, "."); split($$2, have, "."); \
		for (i = 1; i <= 3; i++) if (have[i]+0 != want[i]+0) exit have[i]+0 < want[i]+0 }' || { \
		echo "$$have is too old: Go $$want or newer is needed, from https://go.dev/dl/" >&2; exit 1; }

check-deploy:
	@[ "$$(uname)" = Linux ] || { echo "test-deploy wants Linux: the emulator runs the functions as processes of this machine" >&2; exit 1; }
	@for tool in bash curl openssl; do command -v $$tool >/dev/null || { \
		echo "$$tool is missing: the scripts of docs/operations need it" >&2; exit 1; }; done

check-compose:
	@docker compose version >/dev/null 2>&1 || { \
		echo "docker compose is missing: LocalStack runs in a container. Install Docker with its compose plugin" >&2; exit 1; }

# npm brings the embedded DynamoDB engine, and the tests' flag sets.
check-npm:
	@if [ -z "$$AWS_ENDPOINT_URL_DYNAMODB" ] && ! command -v npm >/dev/null; then \
		echo "npm is missing: it brings the embedded DynamoDB engine. Install Node.js from https://nodejs.org/," >&2; \
		echo "or name the address of another DynamoDB in AWS_ENDPOINT_URL_DYNAMODB." >&2; exit 1; fi

FORCE:
