// Package secrets implements the part of AWS Secrets Manager that Guidon's functions call, in memory. With it, the
// functions read the key that encrypts tokens on a developer's machine in the same way as on AWS.
package secrets

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Manager stores secrets. It is an http.Handler for the requests of an AWS SDK, whose AWS_ENDPOINT_URL_SECRETS_MANAGER is
// its address.
type Manager struct {
	mu     sync.Mutex
	values map[string]string
}

// New returns a manager with secrets by id.
func New(values map[string]string) *Manager {
	return &Manager{values: maps.Clone(values)}
}

// Value returns a secret, or "" if it does not exist.
func (m *Manager) Value(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[id]
}

// maxRequest is the largest request, in bytes. A secret has at most 64 KB.
const maxRequest = 128 << 10

func (m *Manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretId, SecretString string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&in); err != nil {
		respond(w, http.StatusBadRequest, map[string]string{"__type": "InvalidRequestException", "message": err.Error()})
		return
	}
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.")
	m.mu.Lock()
	defer m.mu.Unlock()
	value, exists := m.values[in.SecretId]
	switch {
	case operation != "GetSecretValue" && operation != "PutSecretValue" && operation != "DescribeSecret":
		respond(w, http.StatusBadRequest, map[string]string{
			"__type": "InvalidAction", "message": operation + ": the local Secrets Manager supports GetSecretValue, PutSecretValue and DescribeSecret only"})
		return
	case !exists:
		respond(w, http.StatusBadRequest, map[string]string{
			"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret."})
		return
	case operation == "PutSecretValue":
		m.values[in.SecretId] = in.SecretString
	}
	out := map[string]any{"ARN": in.SecretId, "Name": in.SecretId, "CreatedDate": float64(time.Now().Unix())}
	if operation == "GetSecretValue" {
		if value == "" { // created without a value
			respond(w, http.StatusBadRequest, map[string]string{
				"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"})
			return
		}
		out["SecretString"] = value
	}
	respond(w, http.StatusOK, out)
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the caller has gone
}
