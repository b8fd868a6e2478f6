package jsonbody

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// The limits of a patch. Its copy operations may add MaxPatchCopies bytes, plus twice the size of the document and the patch:
// each copy can double a document, so a short patch could otherwise create a huge one.
const (
	MaxPatchOperations = 1000
	MaxPatchCopies     = 8 << 10
	maxPatchWork       = 64 << 20 // operations times bytes: each operation can read the whole document
	maxPatched         = 3 << 20  // bytes of the documents, plus the patch once for each of them
)

// MaxPointer is the longest JSON pointer of a patch, in characters.
const MaxPointer = 500

// A Patch is a JSON Patch (RFC 6902).
type Patch []PatchOperation

type PatchOperation struct {
	Op    string         `json:"op"`
	Path  string         `json:"path"`
	From  *string        `json:"from,omitzero"`
	Value jsontext.Value `json:"value,omitzero"`
}

var patchOps = []string{"add", "remove", "replace", "copy", "move", "test"}

// Check finds what is wrong with a patch by itself. A patch changes fields of a document, not the document as a whole.
func (p Patch) Check(_ flags.Limits, problems *flags.Problems) {
	if len(p) > MaxPatchOperations {
		problems.Add("", "a patch has at most %d operations, this one has %d", MaxPatchOperations, len(p))
		return
	}
	for i, op := range p {
		at := "/" + strconv.Itoa(i)
		if !slices.Contains(patchOps, op.Op) {
			problems.Add(at+"/op", "%q must be one of %s", Shorten(op.Op), strings.Join(patchOps, ", "))
			continue
		}
		flags.CheckLength(at+"/path", op.Path, MaxPointer, problems)
		if op.From != nil {
			flags.CheckLength(at+"/from", *op.From, MaxPointer, problems)
		}
		if !strings.HasPrefix(op.Path, "/") {
			problems.Add(at+"/path", "must name a field, such as /description")
		}
		if (op.Op == "copy" || op.Op == "move") && (op.From == nil || !strings.HasPrefix(*op.From, "/")) {
			problems.Add(at+"/from", "must name a field, such as /description")
		} else if op.Op == "move" && strings.HasPrefix(op.Path, *op.From+"/") {
			problems.Add(at+"/path", "must not be inside the value that is moved")
		}
		if (op.Op == "add" || op.Op == "replace" || op.Op == "test") && op.Value == nil {
			problems.Add(at+"/value", "is required")
		}
	}
}

// CheckMembers adds a problem for each operation that changes a top-level field other than members. Those in fixed can be tested and copied.
// what is the document in messages.
func (p Patch) CheckMembers(what string, members, fixed []string, problems *flags.Problems) {
	check := func(at, pointer string, changed bool) {
		rest, ok := strings.CutPrefix(pointer, "/")
		member, _, _ := strings.Cut(rest, "/")
		isFixed := slices.Contains(fixed, member)
		switch {
		case !ok: // Check refuses a path that names no field
		case isFixed && changed:
			problems.Add(at, "a patch cannot change the %s of a %s, only /%s", member, what, strings.Join(members, ", /"))
		case !isFixed && !slices.Contains(members, member):
			problems.Add(at, "must be one of /%s", strings.Join(members, ", /"))
		}
	}
	for i, op := range p {
		check("/"+strconv.Itoa(i)+"/path", op.Path, op.Op != "test")
		if op.From != nil {
			check("/"+strconv.Itoa(i)+"/from", *op.From, op.Op == "move")
		}
	}
}

// patchFault tells why a patch cannot be applied.
func patchFault(err error) string {
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return "a test failed"
	case errors.Is(err, jsonpatch.ErrMissing):
		return "a path names a value that does not exist"
	case errors.Is(err, jsonpatch.ErrInvalidIndex):
		return "a path has an index outside of the list"
	}
	if _, ok := errors.AsType[*jsonpatch.AccumulatedCopySizeError](err); ok {
		return "its copies add more than twice the size of the document; apply it in parts"
	}
	return "a path does not match the document"
}

// CheckWork refuses a patch that takes too much work for a number of documents with so many bytes together.
func (p Patch) CheckWork(documents, bytes int) error {
	bytes += documents * p.size()
	if bytes > maxPatched || len(p)*bytes > maxPatchWork {
		return flags.Errorf(flags.Invalid, "the patch is too large or has too many operations for the documents that it changes; apply it in parts, or to one environment at a time")
	}
	return nil
}

// size returns the approximate number of bytes of the patch.
func (p Patch) size() int {
	size := 0
	for _, op := range p {
		size += len(`{"op":"replace","path":"","value":},`) + len(op.Path) + len(op.Value)
		if op.From != nil {
			size += len(*op.From)
		}
	}
	return size
}

// Apply applies the patch to a document, whole or not at all, and decodes the result into a body type.
func (p Patch) Apply(document, into any) error {
	before, err := json.Marshal(document)
	if err != nil {
		return err
	}
	operations, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := p.CheckWork(1, len(before)); err != nil {
		return err
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return &flags.Error{Kind: flags.Invalid, Message: "the body is not a JSON Patch", Err: err}
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.AccumulatedCopySizeLimit = int64(MaxPatchCopies + 2*(len(before)+len(operations)))
	after, err := patch.ApplyWithOptions(before, options)
	if err != nil {
		return &flags.Error{Kind: flags.Invalid, Message: "the patch cannot be applied, and nothing was changed: " + patchFault(err), Err: err}
	}
	return DecodeStrict(after, into)
}
