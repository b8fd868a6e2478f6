// Package capacity calculates the capacity units that DynamoDB bills for a call, from its request and response. Tests use it,
// because no local engine has the same units.
package capacity

import (
	"encoding/base64"
	"encoding/json"
	"math"
)

// An Item is an item as DynamoDB sends it: values by their type, by attribute.
type Item map[string]map[string]any

// Units returns the read and write units of a call, as far as they follow from its items. An update, whose item it does not
// have, counts as one unit, and as two in a transaction.
func Units(operation string, request, response []byte) (read, write float64) {
	var in struct {
		ConsistentRead bool
		Item           Item
		RequestItems   map[string]struct {
			Keys           []Item
			ConsistentRead bool
		}
		TransactItems []struct{ Put struct{ Item Item } }
	}
	var out struct {
		Item      Item
		Items     []Item
		Responses map[string][]Item
	}
	_, _ = json.Unmarshal(request, &in), json.Unmarshal(response, &out)
	switch operation {
	case "BatchGetItem":
		for table, asked := range in.RequestItems {
			found := out.Responses[table]
			read += float64(len(asked.Keys)-len(found)) * Read(0, asked.ConsistentRead)
			for _, item := range found {
				read += Read(item.Size(), asked.ConsistentRead)
			}
		}
	case "Query", "GetItem":
		size := out.Item.Size()
		for _, item := range out.Items {
			size += item.Size()
		}
		read = Read(size, in.ConsistentRead)
	case "TransactWriteItems":
		for _, action := range in.TransactItems {
			write += 2 * Write(action.Put.Item.Size())
		}
	default:
		write = Write(in.Item.Size())
	}
	return read, write
}

// Read returns the units of a read of so many bytes. An item that does not exist takes as much as a small one.
func Read(size int, consistent bool) float64 {
	units := max(1, math.Ceil(float64(size)/4096))
	if !consistent {
		units /= 2
	}
	return units
}

// Write returns the units of a write of so many bytes outside of a transaction.
func Write(size int) float64 { return max(1, math.Ceil(float64(size)/1024)) }

// Size is the size of the item, by the rules in DynamoDB's documentation.
func (i Item) Size() (size int) {
	for name, value := range i {
		size += len(name) + sizeOf(value)
	}
	return size
}

func sizeOf(typed map[string]any) (size int) {
	for kind, content := range typed {
		switch content := content.(type) {
		case string:
			switch kind {
			case "N": // two digits a byte
				size += (len(content)+1)/2 + 1
			case "B":
				raw, _ := base64.StdEncoding.DecodeString(content)
				size += len(raw)
			default:
				size += len(content)
			}
		case []any:
			size += 3
			for _, element := range content {
				value, _ := element.(map[string]any)
				size += 1 + sizeOf(value)
			}
		case map[string]any:
			size += 3
			for name, element := range content {
				value, _ := element.(map[string]any)
				size += 1 + len(name) + sizeOf(value)
			}
		default: // a boolean
			size++
		}
	}
	return size
}
