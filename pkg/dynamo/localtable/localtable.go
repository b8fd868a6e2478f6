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

// A Schema is what template.yaml says about the table.
type Schema struct {
	Attributes []Attribute // those of the keys
	Key        []KeyElement
	Indexes    []Index // global secondary indexes
	TTL        string  // the attribute with the time when an item expires; "" for none
}

// An Attribute is the name and the type (S, N or B) of a key attribute.
type Attribute struct{ Name, Type string }

// A KeyElement is the name and the type (HASH or RANGE) of an element of a key.
type KeyElement struct{ Name, Type string }

// An Index is a global secondary index.
type Index struct {
	Name       string
	Key        []KeyElement
	Projection string   // ALL, KEYS_ONLY or INCLUDE
	Include    []string // for INCLUDE
}

// pollInterval is the wait between two requests for the state of a table. A local engine creates one immediately.
const pollInterval = 20 * time.Millisecond

// A creator creates one table.
type creator struct {
	client *dynamodb.Client
	table  string
}

// Create creates the table unless it exists, and returns when it can be used.
func Create(ctx context.Context, options dynamo.Options, schema Schema) error {
	client, err := dynamo.NewClient(ctx, options)
	if err != nil {
		return err
	}
	c := creator{client, options.Table}
	_, err = client.CreateTable(ctx, schema.input(c.table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return err
	}
	if err := c.waitUntilActive(ctx); err != nil {
		return err
	}
	return c.enableTTL(ctx, schema.TTL)
}

func (schema Schema) input(table string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema(schema.Key),
	}
	for _, a := range schema.Attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type),
		})
	}
	for _, index := range schema.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(index.Name), KeySchema: keySchema(index.Key),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(index.Projection), NonKeyAttributes: index.Include},
		})
	}
	return in
}

func keySchema(key []KeyElement) (elements []types.KeySchemaElement) {
	for _, k := range key {
		elements = append(elements, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Type)})
	}
	return elements
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
func (c creator) enableTTL(ctx context.Context, attribute string) error {
	if attribute == "" {
		return nil
	}
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
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attribute), Enabled: aws.Bool(true)},
	})
	return err
}
