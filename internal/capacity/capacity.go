// Package capacity calculates the capacity units that DynamoDB bills for a call, from its request and response. Measurements and
// tests use it, because no local engine has the same units.
package capacity

import (
	"encoding/base64"
	"encoding/json"
	"math"
)

// An attributes is an item as DynamoDB sends it.
type attributes map[string]any

// Units returns the read and write units of a call, as far as they follow from its items. An update, whose item it does not
// have, counts as one unit, and as two in a transaction.
func Units(operation string, request, response []byte) (read, write float64) {
	switch operation {
	case "BatchGetItem":
		var in struct {
			RequestItems map[string]struct {
				Keys           []attributes
				ConsistentRead bool
			}
		}
		var out struct{ Responses map[string][]attributes }
		_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out)
		for table, asked := range in.RequestItems {
			found := out.Responses[table]
			units := float64(len(asked.Keys) - len(found)) // a missing item costs one, too
			for _, item := range found {
				units += math.Ceil(float64(item.size()) / 4096)
			}
			read += consistent(units, asked.ConsistentRead)
		}
	case "Query", "GetItem":
		var in struct{ ConsistentRead bool }
		var out struct {
			Items []attributes
			Item  attributes
		}
		_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out)
		size := out.Item.size()
		for _, item := range out.Items {
			size += item.size()
		}
		read = consistent(max(1, math.Ceil(float64(size)/4096)), in.ConsistentRead)
	case "TransactWriteItems":
		var in struct {
			TransactItems []struct{ Put struct{ Item attributes } }
		}
		_ = json.Unmarshal(request, &in)
		for _, action := range in.TransactItems {
			write += 2 * max(1, math.Ceil(float64(action.Put.Item.size())/1024))
		}
	case "PutItem":
		var in struct{ Item attributes }
		_ = json.Unmarshal(request, &in)
		write = math.Ceil(float64(in.Item.size()) / 1024)
	default:
		write = 1
	}
	return read, write
}

func consistent(units float64, is bool) float64 {
	if is {
		return units
	}
	return units / 2
}

// size is about the size of the item in DynamoDB.
func (a attributes) size() (size int) {
	for name, value := range a {
		size += len(name) + sizeOfValue(value)
	}
	return size
}

func sizeOfValue(value any) (size int) {
	typed, _ := value.(map[string]any)
	for kind, content := range typed {
		switch content := content.(type) {
		case string:
			switch kind {
			case "N":
				size += len(content)/2 + 1
			case "B":
				size += base64.StdEncoding.DecodedLen(len(content))
			default:
				size += len(content)
			}
		case []any:
			size += 3
			for _, element := range content {
				size += 1 + sizeOfValue(element)
			}
		case map[string]any:
			size += 3
			for name, element := range content {
				size += 1 + len(name) + sizeOfValue(element)
			}
		default:
			size++
		}
	}
	return size
}
