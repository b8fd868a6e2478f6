//go:build deploy && linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// testOtherRegion builds the administration in another region with docs/operations/region.md, from a copy of the table, which has no settings,
// and the replica of the key. The first region is not asked again.
func (s *deployed) testOtherRegion(t *testing.T) {
	const page, region = "docs/operations/region.md", "eu-west-1"
	flag := project + "/features/elsewhere"
	s.ask(t, "POST", project+"/features", s.token, `{"name":"elsewhere"}`).has(t, 201)
	client := s.newToken(t, "client")
	s.ask(t, "POST", "/api/admin/addons", s.token, `{"provider":"webhook","enabled":false,"events":[],"parameters":{"url":"https://example.com/hook","authorization":"Bearer hush"}}`).has(t, 201)

	s.shell(t, s.docBlocks(t, page, "## Set it up")[1])
	key := strings.Replace(strings.TrimSpace(s.shell(t, "resource TokenKey")), "eu-central-1", region, 1)
	s.copyTable(t, strings.TrimSpace(s.shell(t, "resource Table")), "guidon-west-Table-restored", region)

	there := *s.Stage
	there.Stack = "guidon-west"
	there.Env = append(slices.Clone(there.Env), "AWS_REGION="+region, "AWS_DEFAULT_REGION="+region, "RESTORED=guidon-west-Table-restored", "KEY="+key)
	west := &deployed{&gateway{http: s.http, port: s.port}, &there}
	blocks := s.docBlocks(t, page, "## When the region is gone")
	west.shell(t, strings.NewReplacer("infra/restore", `"$ROOT/infra/restore"`, "<the ARN of the replica>", key).Replace(blocks[0]))
	west.deploy(t, "Deployment=AllAtOnce", "RestoredTable=guidon-west-Table-restored") // blocks[1]
	west.shell(t, s.docBlock(t, "docs/operations/teardown.md", "## Deploy again with the old table"))
	west.token = strings.TrimSpace(west.shell(t, `aws secretsmanager get-secret-value --secret-id "$(output AdminTokenSecret)" --query SecretString --output text`))

	west.ask(t, "GET", flag, west.token, "").has(t, 200, `"name":"elsewhere"`)
	west.ask(t, "GET", "/api/client/features", client, "").has(t, 200, `"name":"elsewhere"`)
	west.ask(t, "GET", "/api/admin/api-tokens", west.token, "").has(t, 200, client)
	west.ask(t, "POST", flag+"/environments/development/strategies", west.token, `{"name":"default"}`).has(t, 200)
	west.ask(t, "POST", flag+"/environments/development/on", west.token, "").has(t, 200)
	west.ask(t, "GET", "/api/client/features", client, "").has(t, 200, `"name":"elsewhere"`)
	west.shell(t, `aws dynamodb describe-table --table-name "$RESTORED" --query Table.DeletionProtectionEnabled --output text | grep True
		aws cloudformation delete-stack --stack-name "$STACK"; aws cloudformation wait stack-delete-complete --stack-name "$STACK"`)
}

// copyTable copies a table into a new one in another region, as a restore from a backup there would.
func (s *deployed) copyTable(t *testing.T, table, restored, region string) {
	t.Helper()
	in := func(region string) *dynamodb.Client {
		return dynamodb.New(dynamodb.Options{Region: region, BaseEndpoint: &s.Emulator.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	}
	from, to := in("eu-central-1"), in(region)
	s.shell(t, `schema="$(aws dynamodb describe-table --table-name "$1" --output json --query 'Table.{KeySchema: KeySchema,
		AttributeDefinitions: AttributeDefinitions, GlobalSecondaryIndexes: GlobalSecondaryIndexes[].{IndexName: IndexName, KeySchema: KeySchema,
		Projection: Projection}}')"
		aws dynamodb create-table --region "$3" --table-name "$2" --billing-mode PAY_PER_REQUEST --cli-input-json "$schema"`, table, restored, region)
	for pages := dynamodb.NewScanPaginator(from, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if _, err := to.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &restored, Item: item}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
