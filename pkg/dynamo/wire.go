package dynamo

import (
	"encoding/base64"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"
)

// The JSON of requests that take the short way (exchange.go), as in the reference of DynamoDB's API.

// appendText appends a string as JSON. DynamoDB takes only valid UTF-8; other bytes become U+FFFD, as in the SDK.
func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // it returns an error for invalid UTF-8, and has replaced it
	return b
}

// appendKey appends a primary key.
func appendKey(b []byte, key itemKey) []byte {
	b = append(b, `{"pk":{"S":`...)
	b = appendText(b, key.pk)
	b = append(b, `},"sk":{"S":`...)
	b = appendText(b, key.sk)
	return append(b, "}}"...)
}

// appendTransaction appends a request of TransactWriteItems.
func appendTransaction(b []byte, input *dynamodb.TransactWriteItemsInput) (_ []byte, err error) {
	b = append(b, `{"TransactItems":[`...)
	for i, item := range input.TransactItems {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case item.Put != nil:
			b = append(b, `{"Put":{"Item":`...)
			if b, err = appendAttributes(b, item.Put.Item); err == nil {
				b, err = appendAction(b, item.Put.TableName, nil, item.Put.ConditionExpression, item.Put.ExpressionAttributeNames, item.Put.ExpressionAttributeValues)
			}
		case item.Update != nil:
			b = append(b, `{"Update":{"Key":`...)
			if b, err = appendAttributes(b, item.Update.Key); err == nil {
				b, err = appendAction(b, item.Update.TableName, item.Update.UpdateExpression, item.Update.ConditionExpression, item.Update.ExpressionAttributeNames, item.Update.ExpressionAttributeValues)
			}
		case item.Delete != nil:
			b = append(b, `{"Delete":{"Key":`...)
			if b, err = appendAttributes(b, item.Delete.Key); err == nil {
				b, err = appendAction(b, item.Delete.TableName, nil, item.Delete.ConditionExpression, item.Delete.ExpressionAttributeNames, item.Delete.ExpressionAttributeValues)
			}
		default:
			err = fmt.Errorf("dynamo: a transaction has an item that is no put, update or delete")
		}
		if err != nil {
			return nil, err
		}
		b = append(b, "}}"...)
	}
	b = append(b, ']')
	if input.ClientRequestToken != nil {
		b = append(b, `,"ClientRequestToken":`...)
		b = appendText(b, *input.ClientRequestToken)
	}
	return append(b, '}'), nil
}

// appendAction appends the other fields of an item of a transaction.
func appendAction(b []byte, table, update, condition *string, names map[string]string, values map[string]types.AttributeValue) (_ []byte, err error) {
	b = append(b, `,"TableName":`...)
	b = appendText(b, *table)
	if update != nil {
		b = append(b, `,"UpdateExpression":`...)
		b = appendText(b, *update)
	}
	if condition != nil {
		b = append(b, `,"ConditionExpression":`...)
		b = appendText(b, *condition)
	}
	return appendExpression(b, names, values)
}

// appendExpression appends the names and values of expressions.
func appendExpression(b []byte, names map[string]string, values map[string]types.AttributeValue) (_ []byte, err error) {
	if len(names) > 0 {
		b = append(b, `,"ExpressionAttributeNames":{`...)
		first := true
		for placeholder, name := range names {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(appendText(b, placeholder), ':')
			b = appendText(b, name)
		}
		b = append(b, '}')
	}
	if len(values) > 0 {
		b = append(b, `,"ExpressionAttributeValues":`...)
		b, err = appendAttributes(b, values)
	}
	return b, err
}

// appendAttributes appends attributes by name.
func appendAttributes(b []byte, attributes map[string]types.AttributeValue) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for name, value := range attributes {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendText(b, name), ':')
		if b, err = appendAttribute(b, value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendAttribute(b []byte, value types.AttributeValue) (_ []byte, err error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		b = appendText(append(b, `{"S":`...), v.Value)
	case *types.AttributeValueMemberN:
		b = appendText(append(b, `{"N":`...), v.Value)
	case *types.AttributeValueMemberBOOL:
		b = fmt.Appendf(b, `{"BOOL":%t`, v.Value)
	case *types.AttributeValueMemberNULL:
		b = append(b, `{"NULL":true`...)
	case *types.AttributeValueMemberB:
		b = append(b, `{"B":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, v.Value), '"')
	case *types.AttributeValueMemberL:
		b = append(b, `{"L":[`...)
		for i, element := range v.Value {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendAttribute(b, element); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	default:
		return nil, fmt.Errorf("dynamo: an attribute of the type %T cannot be written", value)
	}
	return append(b, '}'), nil
}
