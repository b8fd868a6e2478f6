package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
)

// writeResponse writes the response of a function. It gives up on a caller that reads too slowly.
func (g *gateway) writeResponse(ctx context.Context, w http.ResponseWriter, response events.APIGatewayV2HTTPResponse) {
	body := response.Body
	release, err := g.answers.take(ctx, len(body))
	if err != nil {
		refuse(w, err)
		return
	}
	defer release()
	patience := g.readGrace + time.Duration(len(body))*time.Second/slowestReader
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // the writer of a test has none
	if response.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			writeError(w, http.StatusInternalServerError, "InternalError", "the response of the function is not base64")
			return
		}
		body = string(decoded)
	}
	header := w.Header()
	for name, value := range response.Headers {
		header.Set(name, value)
	}
	for name, values := range response.MultiValueHeaders {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	for _, cookie := range response.Cookies {
		header.Add("Set-Cookie", cookie)
	}
	if response.StatusCode != http.StatusNoContent {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.WriteString(w, body) // fails only if the caller has disconnected
}

// writeError writes an error of the gateway itself, in the form of the API's errors.
func writeError(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{\"id\":%q,\"name\":%q,\"message\":%q}", uuid.NewString(), name, message)
}
