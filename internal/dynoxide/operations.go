package dynoxide

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// An operation maps an operation of DynamoDB to a tool of the engine. Fields of the request become parameters with the same
// names in snake case. A field that is not listed is an error, because the engine would ignore it.
type operation struct {
	tool    string
	fields  []string
	ignored []string        // fields for what the engine does anyway
	always  map[string]bool // parameters of every call
}

// operations lists the operations that Guidon, its tests and its tools call.
var operations = map[string]operation{
	"BatchGetItem":   {tool: "batch_get_item", fields: []string{"RequestItems"}},
	"BatchWriteItem": {tool: "batch_write_item", fields: []string{"RequestItems"}},
	"CreateTable": {tool: "create_table", fields: []string{
		"TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "BillingMode",
		"ProvisionedThroughput", "StreamSpecification", "DeletionProtectionEnabled", "TableClass", "Tags",
	}},
	"DeleteItem": {tool: "delete_item", fields: []string{
		"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"DescribeTable":      {tool: "describe_table", fields: []string{"TableName"}, always: map[string]bool{"raw": true}},
	"DescribeTimeToLive": {tool: "describe_time_to_live", fields: []string{"TableName"}},
	"GetItem": {tool: "get_item", fields: []string{
		"TableName", "Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames",
	}},
	"ListTables": {tool: "list_tables"},
	"PutItem": {tool: "put_item", fields: []string{
		"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"Query": {tool: "query", fields: []string{
		"TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames",
		"ExpressionAttributeValues", "ScanIndexForward", "Limit", "ExclusiveStartKey", "Select",
	}, ignored: []string{"ConsistentRead"}},
	"Scan": {tool: "scan", fields: []string{
		"TableName", "IndexName", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"Limit", "ExclusiveStartKey", "Select", "Segment", "TotalSegments",
	}, ignored: []string{"ConsistentRead"}},
	"TransactGetItems": {tool: "transact_get_items", fields: []string{"TransactItems"}},
	// The engine slows down with every request token that it keeps: after 30,000, a transaction takes three times its processor time. The
	// store copes with an engine that forgets tokens, see (*dynamo.Store).send.
	"TransactWriteItems": {tool: "transact_write_items", fields: []string{"TransactItems"}, ignored: []string{"ClientRequestToken"}},
	"UpdateItem": {tool: "update_item", fields: []string{
		"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"UpdateTable": {tool: "update_table", fields: []string{
		"TableName", "AttributeDefinitions", "GlobalSecondaryIndexUpdates", "BillingMode", "ProvisionedThroughput",
		"StreamSpecification", "DeletionProtectionEnabled", "TableClass",
	}},
	"UpdateTimeToLive": {tool: "update_time_to_live", fields: []string{"TableName", "TimeToLiveSpecification"}},
}

// maxRequest is the largest request that DynamoDB accepts, in bytes.
const maxRequest = 16 << 20

// ServeHTTP answers a DynamoDB request of an AWS SDK. If the engine does not answer, it closes the connection, as an engine
// that was killed would.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _ := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	op, known := operations[name]
	if r.Method != http.MethodPost || !known {
		writeError(w, "UnknownOperationException", "the local engine does not support the operation "+name)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		writeError(w, "ValidationException", "reading the request: "+err.Error())
		return
	}
	arguments, err := op.arguments(body)
	if err != nil {
		writeError(w, "ValidationException", name+": "+err.Error())
		return
	}
	a, err := c.call(r.Context(), "tools/call", map[string]any{"name": op.tool, "arguments": arguments})
	switch {
	case errors.Is(err, errNotUnderstood):
		writeError(w, "ValidationException", name+": "+err.Error())
	case err != nil || len(a.Result.Content) == 0:
		panic(http.ErrAbortHandler)
	case a.Result.IsError:
		writeToolError(w, a.Result.Content[0].Text)
	default:
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Result.Content[0].Text)))
		_, _ = io.WriteString(w, a.Result.Content[0].Text)
	}
}

// arguments translates a request to the arguments of the tool.
func (op operation) arguments(body []byte) (map[string]any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	arguments := map[string]any{}
	for name, value := range fields {
		switch {
		case slices.Contains(op.fields, name):
			arguments[snakeCase(name)] = value
		case !slices.Contains(op.ignored, name):
			return nil, fmt.Errorf("the local engine does not support %s", name)
		}
	}
	// DynamoDB rejects these; the engine accepts them, because its reads are always consistent.
	if string(fields["ConsistentRead"]) == "true" && fields["IndexName"] != nil {
		return nil, errors.New("consistent reads are not supported on global secondary indexes")
	}
	for name, value := range op.always {
		arguments[name] = value
	}
	return arguments, nil
}

func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

const contentType = "application/x-amz-json-1.0"

// A failure is an error response of DynamoDB.
type failure struct {
	Type    string               `json:"__type"`
	Message string               `json:"message"`
	Reasons []cancellationReason `json:"CancellationReasons,omitempty"`
}

// A cancellationReason tells why an item of a transaction was rejected. The engine has codes only, without messages.
type cancellationReason struct{ Code string }

// writeToolError translates the error of a tool.
func writeToolError(w http.ResponseWriter, text string) {
	var e struct {
		Type    string `json:"error_type"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(text), &e) != nil || e.Type == "" { // a parameter is missing or has the wrong type
		e.Type, e.Message = "ValidationException", text
	}
	writeError(w, e.Type, e.Message)
}

func writeError(w http.ResponseWriter, kind, message string) {
	f := failure{Type: "com.amazonaws.dynamodb.v20120810#" + kind, Message: message}
	if kind == "TransactionCanceledException" {
		f.Reasons = reasonsIn(message)
	}
	status := http.StatusBadRequest
	if kind == "InternalServerError" {
		status = http.StatusInternalServerError
	}
	raw, err := json.Marshal(f)
	if err != nil {
		panic(http.ErrAbortHandler) // cannot happen: strings only
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// reasonsIn parses the codes in "Transaction cancelled, … reasons [None, ConditionalCheckFailed]", which is also the text
// of DynamoDB.
func reasonsIn(message string) (reasons []cancellationReason) {
	_, list, _ := strings.Cut(message, "[")
	list, _, _ = strings.Cut(list, "]")
	for code := range strings.SplitSeq(list, ",") {
		reasons = append(reasons, cancellationReason{Code: strings.TrimSpace(code)})
	}
	return reasons
}
