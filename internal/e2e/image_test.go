//go:build image

package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestImage runs the container image, as make test-image does: it is healthy, keeps its data in the volume, stops in order, and
// needs no permission. IMAGE is the name of the image.
func TestImage(t *testing.T) {
	image, name := os.Getenv("IMAGE"), "guidon-test-"+freePort(t)
	t.Logf("the image has %s bytes", docker(t, "image", "inspect", "--format", "{{.Size}}", image))
	docker(t, "volume", "create", name)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the container printed:\n%s", docker(t, "logs", name))
		}
		for _, args := range [][]string{{"rm", "--force", "--volumes", name}, {"volume", "rm", name}} {
			if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
				t.Errorf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
	})
	docker(t, "run", "--detach", "--name", name, "--health-interval", "1s", "--publish", "127.0.0.1::4242", "--volume", name+":/data", image)
	g := healthyContainer(t, name)
	if page, text := g.fetch(t, "/projects/default", "text/html"); page.StatusCode != http.StatusOK {
		t.Fatalf("the page of the console: %d %.300s, want 200", page.StatusCode, text)
	}
	checkConsole(t, g)
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "kept"}, nil)
	if printed := docker(t, "logs", name); !strings.Contains(printed, "guidon: warning: HOST is 0.0.0.0, and the admin token is the default one") {
		t.Errorf("it prints\n%s\nwant a warning about the default token", printed)
	}
	// Its own command works on its own server.
	if out := docker(t, "exec", "--env", "GUIDON_TOKEN="+defaultToken, name, "guidon", "flag", "list"); !strings.Contains(out, "kept") {
		t.Errorf("guidon flag list prints %s", out)
	}
	// Root certificates are where Go looks for them.
	certificates := filepath.Join(t.TempDir(), "certificates")
	docker(t, "cp", name+":/etc/ssl/certs/ca-certificates.crt", certificates)
	if file, err := os.ReadFile(certificates); err != nil || strings.Count(string(file), "BEGIN CERTIFICATE") < 100 {
		t.Errorf("the image has %d root certificates (%v), want 100 or more", strings.Count(string(file), "BEGIN CERTIFICATE"), err)
	}
	stopContainer(t, name)

	// With the same volume, and nothing else that it may write or do.
	docker(t, "run", "--detach", "--name", name, "--health-interval", "1s", "--publish", "127.0.0.1::4242", "--volume", name+":/data",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--env", "PORT=4242", image)
	healthyContainer(t, name).get(t, project+"/features/kept")
	stopContainer(t, name)

	// A setting that is wrong is one line on stderr.
	out, err := exec.Command("docker", "run", "--name", name, "--env", "PORT=http", image).CombinedOutput()
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", name); err == nil || code != "2" || !strings.Contains(string(out), `PORT is "http"`) {
		t.Errorf("with PORT=http it ends with %s: %s", code, out)
	}
}

// TestEdgeImage runs the image of Guidon Edge as the documentation does: it serves what Guidon has, as a user without permissions,
// stops in order, and starts again without Guidon from its volume.
func TestEdgeImage(t *testing.T) {
	const image = "guidon-edge"
	g := start(t, "HOST=0.0.0.0") // a container reaches it at another address than 127.0.0.1
	g.do(t, 201, "POST", project+"/features", map[string]string{"name": "near"}, nil)
	name := "guidon-edge-test-" + freePort(t)
	t.Logf("the image has %s bytes", docker(t, "image", "inspect", "--format", "{{.Size}}", image))
	docker(t, "volume", "create", name)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the container printed:\n%s", docker(t, "logs", name))
		}
		_ = exec.Command("docker", "rm", "--force", name).Run() // fails if the test has removed it
		docker(t, "volume", "rm", name)
	})
	token := g.createToken(t, "edge-image", "client", "*", "development")
	run := []string{
		"run", "--detach", "--name", name, "--publish", "127.0.0.1::3063", "--volume", name + ":/data", "--add-host", "host.docker.internal:host-gateway",
		"--env", "UPSTREAM_URL=http://host.docker.internal:" + g.port, "--env", "TOKENS=" + token, "--env", "BACKUP_FOLDER=/data",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--health-interval", "1s", image,
	}
	for _, upstream := range []string{"which runs", "which is gone"} {
		docker(t, run...)
		awaitHealthy(t, name)
		edge := &gateway{port: publishedPort(t, name, "3063"), token: token, http: &http.Client{Timeout: endTimeout}}
		var features json.RawMessage
		edge.do(t, http.StatusOK, "GET", "/api/client/features", nil, &features)
		if !strings.Contains(string(features), `"near"`) {
			t.Errorf("with an upstream %s, Edge has the flags %s", upstream, features)
		}
		docker(t, "exec", name, "/guidon-edge", "ready")
		stopContainer(t, name)
		if upstream == "which runs" {
			g.stop(t)
		}
	}
	if user := docker(t, "image", "inspect", "--format", "{{.Config.User}}", image); user != "65532:65532" {
		t.Errorf("the user of the image is %s", user)
	}
	out, err := exec.Command("docker", "run", "--name", name, image).CombinedOutput()
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", name); err == nil || code != "2" || !strings.Contains(string(out), "UPSTREAM_URL is required") {
		t.Errorf("without settings it ends with %s: %s", code, out)
	}
}

// healthyContainer waits until a container of Guidon is healthy, and returns a client of it.
func healthyContainer(t *testing.T, name string) *gateway {
	t.Helper()
	awaitHealthy(t, name)
	return &gateway{port: publishedPort(t, name, "4242"), token: defaultToken, http: &http.Client{Timeout: endTimeout}}
}

func publishedPort(t *testing.T, name, inside string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.Fields(docker(t, "port", name, inside))[0])
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func awaitHealthy(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(200 * time.Millisecond) {
		var state struct {
			Status string
			Health struct{ Status string }
		}
		if err := json.Unmarshal([]byte(docker(t, "inspect", "--format", "{{json .State}}", name)), &state); err != nil {
			t.Fatal(err)
		}
		if state.Health.Status == "healthy" {
			return
		}
		if state.Status != "running" || time.Now().After(deadline) {
			t.Fatalf("the container is %s and %s, want it to be running and healthy", state.Status, state.Health.Status)
		}
	}
}

// stopContainer stops a container, which must end by itself and without an error, and removes it.
func stopContainer(t *testing.T, name string) {
	t.Helper()
	docker(t, "stop", "-t", "60", name)
	if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", name); code != "0" {
		t.Errorf("the container ended with %s, want 0", code)
	}
	docker(t, "rm", name)
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
