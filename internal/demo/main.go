// Command demo runs what `make demo` shows: Guidon with three flags, Guidon Edge, and two applications that use the flags. The first
// application serves the dashboard, and can pause Guidon. It ends them when it is interrupted, or when one of them ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"guidon/internal/child"
)

// Secrets of the tokens that a local server creates at its first start.
const (
	adminToken  = "*:*.unleash-insecure-admin-api-token"
	clientToken = "default:development.unleash-insecure-client-api-token"
)

const (
	startTimeout = 2 * time.Minute // the first start downloads the engine
	stopTimeout  = 35 * time.Second
)

// A demo has the programs, and the processes in the order of their start.
type demo struct {
	guidon, dashboard string // programs
	node              string // the folder of the application in JavaScript
	flags             string // an export with the flags
	dir               string // for data
	processes         []*child.Process
}

func main() {
	var d demo
	flag.StringVar(&d.guidon, "guidon", "", "the `program` guidon")
	flag.StringVar(&d.dashboard, "go", "", "the application in Go, a `program`")
	flag.StringVar(&d.node, "node", "", "the `folder` of the application in JavaScript, with its packages")
	flag.StringVar(&d.flags, "flags", "demo/flags.json", "the `file` with the flags")
	flag.StringVar(&d.dir, "dir", "", "the `folder` for data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := d.run(ctx)
	d.stop()
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run starts everything and waits for the end of ctx or of a process.
func (d *demo) run(ctx context.Context) error {
	port, err := portOf("PORT", "4242")
	if err != nil {
		return err
	}
	dashboardPort, err := portOf("DEMO_PORT", "4300")
	if err != nil {
		return err
	}
	nodePort, err := child.FreePort()
	if err != nil {
		return err
	}
	edgePort, err := child.FreePort()
	if err != nil {
		return err
	}
	guidon, dashboard, node := "http://127.0.0.1:"+port, "http://127.0.0.1:"+dashboardPort, "127.0.0.1:"+nodePort
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}

	// Requests are logged at the level info, and the applications send two each second.
	err = d.start(ctx, guidon+"/health", exec.Command(d.guidon, "serve"),
		"PORT="+port, "DATA_DIR="+filepath.Join(d.dir, "data"), "LOG_LEVEL=warn", "INIT_ADMIN_API_TOKENS="+adminToken, "INIT_CLIENT_API_TOKENS="+clientToken)
	if err != nil {
		return err
	}
	seed := exec.CommandContext(ctx, d.guidon, "import", d.flags, "--environment", "development")
	seed.Env = append(os.Environ(), "GUIDON_URL="+guidon, "GUIDON_TOKEN="+adminToken)
	if out, err := seed.CombinedOutput(); err != nil {
		return fmt.Errorf("importing %s: %w\n%s", d.flags, err, out)
	}

	edge := "http://127.0.0.1:" + edgePort
	err = d.start(ctx, edge+"/ready", exec.Command(d.guidon, "edge"),
		"UPSTREAM_URL="+guidon, "TOKENS="+clientToken, "INTERFACE=127.0.0.1", "PORT="+edgePort, "FEATURES_REFRESH_INTERVAL_SECONDS=1", "METRICS_INTERVAL_SECONDS=10")
	if err != nil {
		return err
	}
	application := []string{"GUIDON_URL=" + edge, "TOKEN=" + clientToken, "TMPDIR=" + d.dir} // SDKs keep a copy of the flags in TMPDIR
	script := exec.Command("node", "app.mjs")
	script.Dir = d.node
	if err := d.start(ctx, "http://"+node, script, append(application, "ADDRESS="+node)...); err != nil {
		return err
	}
	err = d.start(ctx, dashboard+"/data", exec.Command(d.dashboard),
		append(application, "ADDRESS=127.0.0.1:"+dashboardPort, "PEER=http://"+node, "CONSOLE="+guidon, "ORIGIN_PID="+strconv.Itoa(d.processes[0].PID()))...)
	if err != nil {
		return err
	}
	fmt.Printf("The demo is ready: open the dashboard, then the sign-in link above in another tab, and change a flag.\n\n  dashboard       %s\n\n", dashboard)
	return d.wait(ctx)
}

// portOf returns the port that a setting names; 0 chooses a free one.
func portOf(setting, otherwise string) (string, error) {
	switch port := os.Getenv(setting); port {
	case "":
		return otherwise, nil
	case "0":
		return child.FreePort()
	default:
		return port, nil
	}
}

// start starts a process and waits until the URL is answered.
func (d *demo) start(ctx context.Context, url string, cmd *exec.Cmd, env ...string) error {
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	p, err := child.Start(cmd)
	if err != nil {
		return err
	}
	d.processes = append(d.processes, p)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return p.Await(ctx, child.Serves(url, http.StatusOK))
}

func (d *demo) wait(ctx context.Context) error {
	ended := make(chan string, len(d.processes))
	for _, p := range d.processes {
		go func() {
			<-p.Ended()
			ended <- filepath.Base(p.Cmd.Path)
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case name := <-ended:
		return errors.New(name + " ended; see what it printed")
	}
}

// stop ends the processes, the last one first.
func (d *demo) stop() {
	for i := len(d.processes) - 1; i >= 0; i-- {
		d.processes[i].Stop(syscall.SIGTERM, stopTimeout)
	}
}
