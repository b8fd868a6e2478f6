package dynamo

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
)

// maxItem is what DynamoDB lets an item hold, in bytes, less what the envelope around a document takes.
const maxItem = 400<<10 - 512

// An envelope is an item: keys and version around one document.
type envelope struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	Version  int64  `dynamodbav:"version,omitempty"`
	Document string `dynamodbav:"doc"`
}

func (e envelope) attributes() (map[string]types.AttributeValue, error) {
	return attributevalue.MarshalMap(e)
}

// encode is a document's stored form: the same bytes for the same content, so that a write that alters nothing shows.
func encode(document any) (string, error) {
	b, err := json.Marshal(document, json.Deterministic(true))
	return string(b), err
}

func decode(document string, into any) error { return json.Unmarshal([]byte(document), into) }

// stored is the document of an aggregate.
func stored(a flags.Aggregate) (string, error) {
	switch a := a.(type) {
	case *flags.Feature:
		return encode(storeFeature(a))
	case *flags.Project:
		return encode(storeProject(a))
	case *flags.Environments:
		return encode(storeEnvironments(a))
	case *flags.Token:
		return encode(storeToken(a))
	}
	return "", fmt.Errorf("dynamo: no stored form for %T", a)
}

// loaded is the aggregate of a document.
func loaded(entity flags.Entity, e envelope) (flags.Aggregate, error) {
	switch entity {
	case flags.EntityFeature:
		var doc featureDocument
		err := decode(e.Document, &doc)
		return doc.feature(e.Version), err
	case flags.EntityProject:
		var doc projectDocument
		err := decode(e.Document, &doc)
		return doc.project(e.Version), err
	case flags.EntityEnvironments:
		var doc environmentsDocument
		err := decode(e.Document, &doc)
		return doc.environments(e.Version), err
	case flags.EntityToken:
		var doc tokenDocument
		err := decode(e.Document, &doc)
		return doc.token(e.Version), err
	}
	return nil, fmt.Errorf("dynamo: no loaded form for %s", entity)
}

// format is the version of every stored form. A form that changes so that an old item would read wrongly gets the next
// number, and its reader keeps reading the earlier ones: testdata/golden holds one of each.
const format = 1

// stamp is a time as it is stored: absent when zero.
type stamp = time.Time
