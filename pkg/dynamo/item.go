package dynamo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"

	"guidon/pkg/flags"
)

// What DynamoDB lets an item hold, in bytes, less what the envelope around a document takes.
const (
	maxItem    = 400<<10 - ofEnvelope
	ofEnvelope = 512
)

// An envelope is an item: keys and version around one document.
type envelope struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	UID      string `dynamodbav:"uid,omitempty"`
	Version  int64  `dynamodbav:"version,omitempty"`
	Document string `dynamodbav:"doc,omitempty"`
	Begun    int64  `dynamodbav:"begun,omitempty"` // of a segment guard alone
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
	case *flags.TokenUse:
		return encode(seenDocument{format, a.Hash, a.At})
	case *flags.SignupToken:
		return encode(storeSignup(a))
	case *flags.User:
		return encode(storeUser(a))
	case *flags.Roles:
		return encode(storeRoles(a))
	case *flags.TagTypes:
		return encode(storeTagTypes(a))
	case *flags.StrategyTypes:
		return encode(storeStrategyTypes(a))
	case *flags.ContextFields:
		return encode(storeContextFields(a))
	case *flags.Segment:
		return encode(storeSegment(a))
	case flags.FeatureUse:
		return encode(storeUse(a))
	}
	return "", fmt.Errorf("dynamo: no stored form for %T", a)
}

// loaded is the aggregate of a document.
func loaded(entity flags.Entity, e envelope) (flags.Aggregate, error) {
	switch entity {
	case flags.EntityFeature:
		return read(e, featureDocument.feature)
	case flags.EntityProject:
		return read(e, projectDocument.project)
	case flags.EntityEnvironments:
		return read(e, environmentsDocument.environments)
	case flags.EntityToken:
		return read(e, tokenDocument.token)
	case flags.EntityTokenUse:
		return read(e, func(doc seenDocument, _ int64) *flags.TokenUse { return doc.seen() })
	case flags.EntitySignupToken:
		return read(e, signupDocument.signup)
	case flags.EntityUser:
		return read(e, userDocument.user)
	case flags.EntityRoles:
		return read(e, rolesDocument.roles)
	case flags.EntityTagTypes:
		return read(e, tagTypesDocument.tagTypes)
	case flags.EntityStrategyTypes:
		return read(e, strategyTypesDocument.strategyTypes)
	case flags.EntityContextFields:
		return read(e, contextFieldsDocument.contextFields)
	case flags.EntitySegment:
		return read(e, segmentDocument.segment)
	case flags.EntityUse:
		return read(e, func(doc useDocument, _ int64) flags.FeatureUse { return doc.use() })
	case flags.EntityUseCount:
		id, err := strconv.ParseInt(strings.TrimPrefix(e.PK, segmentPrefix), 10, 64)
		return &flags.UseCount{Segment: id, Count: e.Begun}, err
	}
	return nil, fmt.Errorf("dynamo: no loaded form for %s", entity)
}

// read decodes a document and makes its aggregate, at the version of its envelope.
func read[Document any, A flags.Aggregate](e envelope, aggregate func(Document, int64) A) (flags.Aggregate, error) {
	var doc Document
	err := decode(e.Document, &doc)
	return aggregate(doc, e.Version), err
}

// format is the version of every stored form. A form that changes so that an old item would read wrongly gets the next
// number, and its reader keeps reading the earlier ones: testdata/golden holds one of each.
const format = 1

// stamp is a time as it is stored: absent when zero.
type stamp = time.Time
