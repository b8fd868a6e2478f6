package oldapi

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"

	"guidon/pkg/flags"
)

// maxBody is the largest body, in bytes.
const maxBody = 1 << 20

// An input is what a request brings to every round: its body, read and decoded once, and the id allocated for it.
type input struct {
	op      Operation
	request *http.Request
	done    bool
	value   any
	id      int64 // that was allocated for it
}

// read checks the body's type and size, 415 and 413, and decodes it, 400. It comes after the caller was authorised.
func (in *input) read(limits flags.Limits) error {
	if in.done {
		return nil
	}
	in.done = true
	maximum := cmp.Or(in.op.Decide.maximum, maxBody)
	body, err := io.ReadAll(http.MaxBytesReader(nil, in.request.Body, int64(maximum)))
	if len(body) > 0 && !isJSON(in.request.Header.Get("Content-Type")) {
		return flags.Errorf(flags.UnsupportedMediaType, "the body's content type must be application/json")
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return flags.Errorf(flags.TooLarge, "the body is larger than %d MiB", maximum>>20)
	}
	if err != nil {
		return flags.Errorf(flags.Invalid, "the body could not be read to its end")
	}
	if in.op.Decide.decode != nil {
		in.value, err = in.op.Decide.decode(body, limits)
	}
	return err
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
