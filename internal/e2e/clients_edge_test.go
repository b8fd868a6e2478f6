//go:build clients

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestEdge runs Unleash Edge in front of Guidon, and the SDKs in front of Edge. They show every change of a flag, and what they
// report arrives complete. Guidon Edge works in front of Unleash Edge, and behind it. Unleash Edge takes half an hour to build, so CI does
// not run this: see docs/how-to/edge.md.
func TestEdge(t *testing.T) {
	for _, mode := range []string{"polling", "delta", "in front of Guidon Edge", "in front of Guidon Edge, delta", "behind Guidon Edge", "behind Guidon Edge, delta"} {
		t.Run(mode, func(t *testing.T) {
			s := &clientScenario{t: t, g: start(t), want: answers{}}
			s.create()
			s.clients = startClients(t, s.g, clientRun{url: s.startEdges(mode), flags: clientFlags, only: behindEdge(mode)})
			s.await("the start")
			s.follow()
			for _, c := range s.clients {
				c.end(t)
			}
		})
		t.Run("usage, "+mode, func(t *testing.T) {
			s := &clientScenario{t: t, g: start(t), want: answers{}}
			s.create()
			s.count(clientRun{url: s.startEdges(mode), only: behindEdge(mode)}, func(run clientRun) { s.clients = startClients(t, s.g, run) })
		})
	}
}

// startEdges starts Unleash Edge, and in some modes Guidon Edge, and returns the URL for applications. Names are seen from Guidon.
func (s *clientScenario) startEdges(mode string) string {
	s.t.Helper()
	switch name, _, _ := strings.Cut(mode, ","); name {
	case "in front of Guidon Edge": // Guidon, Unleash Edge, Guidon Edge
		s.edge = startGuidonEdge(s.t, s.g, "UPSTREAM_URL="+startEdge(s.t, s.g, s.g.url(), mode))
		return s.edge.url()
	case "behind Guidon Edge": // Guidon, Guidon Edge, Unleash Edge
		s.edge = startGuidonEdge(s.t, s.g)
		return startEdge(s.t, s.g, s.edge.url(), mode)
	}
	return startEdge(s.t, s.g, s.g.url(), mode)
}

// behindEdge returns which clients work behind Edge. It has no OFREP, and deltas only if it reads deltas itself.
func behindEdge(mode string) func(name string) bool {
	return func(name string) bool {
		return counted(name) && (name != "node-delta" || strings.HasSuffix(mode, "delta") || mode == "in front of Guidon Edge")
	}
}

// startEdge starts Edge and returns its address. A flag is at most six seconds late: Edge looks every five seconds whether it is
// time to ask.
func startEdge(t *testing.T, g *gateway, upstream, mode string) string {
	t.Helper()
	port := freePort(t)
	cmd := exec.Command(tool(t, "EDGE"), "edge")
	cmd.Env = append(os.Environ(), "UPSTREAM_URL="+upstream, "PORT="+port, "INTERFACE=127.0.0.1", "TOKENS="+g.createToken(t, "clients-edge", "client", "*", "development"),
		"FEATURES_REFRESH_INTERVAL_SECONDS=1", "METRICS_INTERVAL_SECONDS=2", "STRICT=true")
	if strings.HasSuffix(mode, "delta") {
		cmd.Env = append(cmd.Env, "DELTA=true")
	}
	p := follow(t, cmd, []string{"Edge " + mode})
	url := "http://" + address(port)
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(url + "/internal-backstage/ready")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return url
			}
		}
		select {
		case <-p.ended:
			t.Fatal("Edge has ended")
		default:
		}
		if time.Since(began) > startTimeout {
			t.Fatalf("Edge is not ready: %v", err)
		}
	}
}
