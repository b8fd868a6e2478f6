package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/jsonbody"
)

// ReadBody returns the body of a request, which must be JSON (415) and have at most maximum bytes (413), as it is sent and
// decompressed. It may be compressed with gzip, and it may be empty. A byte order mark at its start is left out.
func ReadBody(r *http.Request, maximum int) ([]byte, error) {
	body, err := readAtMost(r.Body, maximum)
	if len(body) == 0 && err == nil {
		return nil, nil
	}
	if got := r.Header.Get("Content-Type"); !isJSON(got) && len(body) > 0 {
		if got == "" {
			got = "none"
		}
		return nil, flags.Errorf(flags.UnsupportedMediaType, "the content type of the body must be application/json, not %s", jsonbody.Shorten(got))
	}
	if err != nil {
		return nil, err
	}
	switch coding := contentCoding(r); coding {
	case "":
	case "gzip", "x-gzip":
		if body, err = gunzip(body, maximum); err != nil {
			return nil, err
		}
	default:
		return nil, flags.Errorf(flags.UnsupportedMediaType, "the content encoding of the body must be gzip or none, not %s", jsonbody.Shorten(coding))
	}
	return jsonbody.WithoutMark(body), nil
}

// readAtMost reads to the end. TooLarge if there are more than maximum bytes. The bytes are returned with an error, too.
func readAtMost(from io.Reader, maximum int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, int64(maximum)+1))
	switch {
	case len(body) > maximum:
		return body, flags.Errorf(flags.TooLarge, "the body is larger than %s", formatSize(maximum))
	case err != nil:
		return body, flags.Errorf(flags.Invalid, "the body could not be read to its end")
	}
	return body, nil
}

// contentCoding returns the Content-Encoding of a request; "" for none.
func contentCoding(r *http.Request) string {
	codings := slices.Collect(listed(r, "Content-Encoding"))
	codings = slices.DeleteFunc(codings, func(coding string) bool { return coding == "" || strings.EqualFold(coding, "identity") })
	return strings.ToLower(strings.Join(codings, ", "))
}

// gunzip decompresses a body. It reads no more than one byte beyond maximum, however much the body would become.
func gunzip(body []byte, maximum int) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = readAtMost(reader, maximum)
	}
	if flags.KindOf(err) == flags.TooLarge {
		return nil, flags.Errorf(flags.TooLarge, "the decompressed body is larger than %s", formatSize(maximum))
	}
	if err != nil {
		return nil, flags.Errorf(flags.Invalid, "the content encoding of the body is gzip, but the body is not valid gzip data")
	}
	return body, nil
}

// isJSON reports whether a content type is that of JSON. If it was sent twice, which API Gateway and proxies join with a comma, the
// first counts.
func isJSON(contentType string) bool {
	first, _, _ := strings.Cut(contentType, ",")
	media, _, err := mime.ParseMediaType(first)
	return err == nil && media == "application/json"
}
