// Package localtable creates Guidon's table on a local engine. On AWS the template creates it, and no function may.
package localtable

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/dynamo"
)

// Table returns the table of template.yaml, except for TTL.
func Table(name string) *dynamodb.CreateTableInput {
	attribute := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	key := func(hash, order string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &order, KeyType: types.KeyTypeRange}}
	}
	index := func(name string) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{IndexName: &name, KeySchema: key(name, "id"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}
	}
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: key("pk", "sk"),
		AttributeDefinitions:   []types.AttributeDefinition{attribute("pk"), attribute("sk"), attribute("log"), attribute("project"), attribute("id")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{index("log"), index("project")},
	}
}

// TTL is the attribute with the time when an item expires.
const TTL = "ttl"

// pollInterval is the wait between two requests for the state of a table. A local engine creates one immediately.
const pollInterval = 20 * time.Millisecond

// A creator creates one table.
type creator struct {
	client *dynamodb.Client
	table  string
}

// Create creates the table unless it exists, and returns when it can be used.
func Create(ctx context.Context, options dynamo.Options) error {
	c, err := create(ctx, options)
	if err != nil {
		return err
	}
	return c.enableTTL(ctx)
}

// CreateWithoutTTL does the same, and keeps expired items: for tests, because TTL takes two more calls.
func CreateWithoutTTL(ctx context.Context, options dynamo.Options) error {
	_, err := create(ctx, options)
	return err
}

func create(ctx context.Context, options dynamo.Options) (creator, error) {
	client, err := dynamo.NewClient(ctx, options)
	if err != nil {
		return creator{}, err
	}
	c := creator{client, options.Table}
	_, err = client.CreateTable(ctx, Table(c.table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return creator{}, err
	}
	return c, c.waitUntilActive(ctx)
}

// waitUntilActive waits until the table and its indexes can be used.
func (c creator) waitUntilActive(ctx context.Context) error {
	for {
		out, err := c.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &c.table})
		if err != nil {
			return err
		}
		building := slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(index types.GlobalSecondaryIndexDescription) bool {
			return index.IndexStatus != "" && index.IndexStatus != types.IndexStatusActive
		})
		if out.Table.TableStatus == types.TableStatusActive && !building {
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enableTTL makes the engine delete expired items. It is a call of its own, so an interrupted start may not have made it.
func (c creator) enableTTL(ctx context.Context) error {
	out, err := c.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &c.table})
	if err != nil {
		return err
	}
	if ttl := out.TimeToLiveDescription; ttl != nil &&
		(ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled || ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		return nil
	}
	_, err = c.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &c.table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(TTL), Enabled: aws.Bool(true)},
	})
	return err
}
