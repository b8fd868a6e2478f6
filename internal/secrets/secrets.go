// Package secrets is as much of AWS Secrets Manager as Guidon's functions call, in memory: so that on a developer's
// machine they take the same way to the key of the tokens' secrets that they take on AWS, and need no other.
package secrets

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Manager holds secrets. It is an http.Handler for the SDK's calls; AWS_ENDPOINT_URL_SECRETS_MANAGER leads them here.
type Manager struct {
	mu     sync.Mutex
	values map[string]string
}

// New is a manager with the given secrets, by id.
func New(values map[string]string) *Manager {
	m := &Manager{values: map[string]string{}}
	for id, value := range values {
		m.values[id] = value
	}
	return m
}

// Value is a secret; empty when there is none of that id.
func (m *Manager) Value(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[id]
}

// maxRequest is how many bytes a call may have; a secret has 64 KB at most.
const maxRequest = 128 << 10

func (m *Manager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretId, SecretString string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"__type": "InvalidRequestException", "message": err.Error()})
		return
	}
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "secretsmanager.")
	m.mu.Lock()
	defer m.mu.Unlock()
	value, there := m.values[in.SecretId]
	switch {
	case operation != "GetSecretValue" && operation != "PutSecretValue" && operation != "DescribeSecret":
		answer(w, http.StatusBadRequest, map[string]string{
			"__type": "InvalidAction", "message": operation + ": here are GetSecretValue, PutSecretValue and DescribeSecret alone"})
		return
	case !there:
		answer(w, http.StatusBadRequest, map[string]string{
			"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret."})
		return
	case operation == "PutSecretValue":
		m.values[in.SecretId] = in.SecretString
	}
	out := map[string]any{"ARN": in.SecretId, "Name": in.SecretId, "CreatedDate": float64(time.Now().Unix())}
	if operation == "GetSecretValue" {
		if value == "" { // made without a value
			answer(w, http.StatusBadRequest, map[string]string{
				"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"})
			return
		}
		out["SecretString"] = value
	}
	answer(w, http.StatusOK, out)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller that has gone cannot be told
}
