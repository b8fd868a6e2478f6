package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A TableSchema is what a table needs to be made: what template.yaml says of it, in plain words.
type TableSchema struct {
	Attributes []Attribute // those that keys are made of
	Key        []KeyElement
	Indexes    []Index // global secondary ones
	TTL        string  // the attribute that holds when an item may go; empty for none
}

// An Attribute is the name and type (S, N or B) of a key's attribute.
type Attribute struct{ Name, Type string }

// A KeyElement is an attribute's part in a key: HASH or RANGE.
type KeyElement struct{ Name, Type string }

// An Index is a global secondary index.
type Index struct {
	Name       string
	Key        []KeyElement
	Projection string   // ALL, KEYS_ONLY or INCLUDE
	Include    []string // for INCLUDE
}

// tablePoll is the wait between two looks at a table that is being made. A local engine has it at once.
const tablePoll = 20 * time.Millisecond

// CreateTable makes the table if it is not there and returns once it can be used. It is for engines that nobody deploys
// to: on AWS the template makes the table, and no function may.
func (s *Store) CreateTable(ctx context.Context, schema TableSchema) error {
	_, err := s.client.CreateTable(ctx, schema.input(s.table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return err
	}
	if err := s.awaitTable(ctx); err != nil {
		return err
	}
	if err := s.addIndexes(ctx, schema); err != nil {
		return err
	}
	return s.expire(ctx, schema.TTL)
}

// addIndexes gives a table that an earlier version made the indexes that it lacks, one at a time, as DynamoDB wants it.
// Items that were there come into them by themselves, if they have the attributes.
func (s *Store) addIndexes(ctx context.Context, schema TableSchema) error {
	out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.table})
	if err != nil {
		return err
	}
	wanted := schema.input(s.table)
	for _, index := range wanted.GlobalSecondaryIndexes {
		if slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(there types.GlobalSecondaryIndexDescription) bool {
			return *there.IndexName == *index.IndexName
		}) {
			continue
		}
		_, err := s.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &s.table, AttributeDefinitions: wanted.AttributeDefinitions,
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection,
			}}},
		})
		if err != nil {
			return fmt.Errorf("the table %s was made by an earlier version and lacks the index %s, which could not be added: %w", s.table, *index.IndexName, err)
		}
		if err := s.awaitTable(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (schema TableSchema) input(table string) *dynamodb.CreateTableInput {
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

func (s *Store) awaitTable(ctx context.Context) error {
	for {
		out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.table})
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
		case <-time.After(tablePoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// expire has the engine delete items by their TTL attribute. It is a call of its own, which an earlier start may not
// have come to.
func (s *Store) expire(ctx context.Context, attribute string) error {
	if attribute == "" {
		return nil
	}
	out, err := s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.table})
	if err != nil {
		return err
	}
	if ttl := out.TimeToLiveDescription; ttl != nil &&
		(ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled || ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		return nil
	}
	_, err = s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &s.table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attribute), Enabled: aws.Bool(true)},
	})
	return err
}
