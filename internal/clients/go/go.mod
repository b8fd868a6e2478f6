module clients

go 1.26.0

require (
	github.com/Unleash/unleash-client-go/v4 v4.5.0
	github.com/Unleash/unleash-go-sdk/v6 v6.4.0
	github.com/open-feature/go-sdk v1.20.0
	github.com/open-feature/go-sdk-contrib/providers/ofrep v0.1.7
)

require (
	github.com/Masterminds/semver/v3 v3.3.1 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/launchdarkly/eventsource v1.10.0 // indirect
	github.com/stretchr/objx v0.5.3 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/twmb/murmur3 v1.1.8 // indirect
	go.uber.org/mock v0.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
