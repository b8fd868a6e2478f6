package dynoxide

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// An operation of DynamoDB as a tool of the engine. A member of the request is the tool's parameter of the same name in
// snake case. A member that is neither in members nor in ignored is refused: the engine would not see it.
type operation struct {
	tool    string
	members []string
	ignored []string        // the engine does this anyway
	always  map[string]bool // parameters that every call has
}

// operations are those that Guidon, its tests and its tools call.
var operations = map[string]operation{
	"BatchGetItem":   {tool: "batch_get_item", members: []string{"RequestItems"}},
	"BatchWriteItem": {tool: "batch_write_item", members: []string{"RequestItems"}},
	"CreateTable": {tool: "create_table", members: []string{
		"TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "BillingMode",
		"ProvisionedThroughput", "StreamSpecification", "DeletionProtectionEnabled", "TableClass", "Tags",
	}},
	"DeleteItem": {tool: "delete_item", members: []string{
		"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"DescribeTable":      {tool: "describe_table", members: []string{"TableName"}, always: map[string]bool{"raw": true}},
	"DescribeTimeToLive": {tool: "describe_time_to_live", members: []string{"TableName"}},
	"GetItem": {tool: "get_item", members: []string{
		"TableName", "Key", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames",
	}},
	"ListTables": {tool: "list_tables"},
	"PutItem": {tool: "put_item", members: []string{
		"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"Query": {tool: "query", members: []string{
		"TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames",
		"ExpressionAttributeValues", "ScanIndexForward", "Limit", "ExclusiveStartKey", "Select",
	}, ignored: []string{"ConsistentRead"}},
	"Scan": {tool: "scan", members: []string{
		"TableName", "IndexName", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues",
		"Limit", "ExclusiveStartKey", "Select", "Segment", "TotalSegments",
	}, ignored: []string{"ConsistentRead"}},
	"TransactGetItems":   {tool: "transact_get_items", members: []string{"TransactItems"}},
	"TransactWriteItems": {tool: "transact_write_items", members: []string{"TransactItems", "ClientRequestToken"}},
	"UpdateItem": {tool: "update_item", members: []string{
		"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnValues",
	}},
	"UpdateTable": {tool: "update_table", members: []string{
		"TableName", "AttributeDefinitions", "GlobalSecondaryIndexUpdates", "BillingMode", "ProvisionedThroughput",
		"StreamSpecification", "DeletionProtectionEnabled", "TableClass",
	}},
	"UpdateTimeToLive": {tool: "update_time_to_live", members: []string{"TableName", "TimeToLiveSpecification"}},
}

// maxRequest is how many bytes DynamoDB takes in one request.
const maxRequest = 16 << 20

// ServeHTTP answers a request of an AWS SDK to DynamoDB. If the engine gives no answer, the connection is closed without
// one, as by an engine that was killed.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _ := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	op, known := operations[name]
	if r.Method != http.MethodPost || !known {
		writeError(w, "UnknownOperationException", "the local engine has no operation "+name)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		writeError(w, "ValidationException", "the request cannot be read: "+err.Error())
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
		_, _ = io.WriteString(w, a.Result.Content[0].Text)
	}
}

// arguments are those of the tool for a request to the operation.
func (op operation) arguments(body []byte) (map[string]any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	arguments := map[string]any{}
	for name, value := range members {
		switch {
		case slices.Contains(op.members, name):
			arguments[snakeCase(name)] = value
		case !slices.Contains(op.ignored, name):
			return nil, fmt.Errorf("the local engine does not support %s", name)
		}
	}
	// The engine's reads are always consistent, but DynamoDB refuses these.
	if string(members["ConsistentRead"]) == "true" && members["IndexName"] != nil {
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

// A failure is an error in DynamoDB's words.
type failure struct {
	Type    string               `json:"__type"`
	Message string               `json:"message"`
	Reasons []cancellationReason `json:"CancellationReasons,omitempty"`
}

// A cancellationReason says why one item of a transaction was refused. The engine gives its code alone.
type cancellationReason struct{ Code string }

// writeToolError answers with what a tool said of a failure.
func writeToolError(w http.ResponseWriter, text string) {
	var said struct {
		Type    string `json:"error_type"`
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(text), &said) != nil || said.Type == "" { // a parameter is missing or of another type
		said.Type, said.Message = "ValidationException", text
	}
	writeError(w, said.Type, said.Message)
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
		panic(http.ErrAbortHandler) // a struct of texts
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// reasonsIn reads the codes at the end of "Transaction cancelled, … reasons [None, ConditionalCheckFailed]", which is
// DynamoDB's own text too.
func reasonsIn(message string) (reasons []cancellationReason) {
	_, list, _ := strings.Cut(message, "[")
	list, _, _ = strings.Cut(list, "]")
	for code := range strings.SplitSeq(list, ",") {
		reasons = append(reasons, cancellationReason{Code: strings.TrimSpace(code)})
	}
	return reasons
}
