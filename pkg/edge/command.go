package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"guidon/pkg/version"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// Main runs a command of Edge and returns the exit code. name is how the user calls it, such as guidon-edge.
func Main(ctx context.Context, name string, args []string, getenv func(string) string, out, messages io.Writer) int {
	if len(args) == 0 && getenv(runtimeAPI) != "" { // so Lambda starts extensions
		args = []string{"extension"}
	}
	config, err := ReadConfig(args, getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprint(out, Help(name))
		return 0
	case len(args) == 1 && (args[0] == "--version" || args[0] == "version"):
		_, _ = fmt.Fprintln(out, name, version.String())
		return 0
	case config.Command == "extension":
		err = runExtension(ctx, config, err, getenv(runtimeAPI), messages)
	case err != nil:
		_, _ = fmt.Fprintf(messages, "%s: %v; see %s --help\n", name, err, name)
		return exitUsage
	case config.Command == "health" || config.Command == "ready":
		err = check(ctx, config, out)
	default:
		var e *Edge
		if e, err = New(config, messages); err == nil {
			err = e.Run(ctx, func(addresses []net.Addr) {
				for _, address := range addresses {
					_, _ = fmt.Fprintf(out, "Edge serves applications on %s%s\n", address, config.BasePath)
				}
			})
		}
	}
	if err != nil {
		_, _ = fmt.Fprintf(messages, "%s: %v\n", name, err)
		return exitFailed
	}
	return 0
}

// check asks a running Edge whether it is healthy, or ready.
func check(ctx context.Context, config Config, out io.Writer) error {
	trust, err := trusted(config.CAFile)
	if err != nil {
		return fmt.Errorf("CA_CERTIFICATE_FILE: %w", err)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(config.EdgeURL, "/")+"/internal-backstage/"+config.Command, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("Edge responded with %d: %s", resp.StatusCode, body)
	}
	_, _ = fmt.Fprintln(out, "OK")
	return nil
}

// Help returns the help of all commands.
func Help(name string) string {
	var help strings.Builder
	fmt.Fprintf(&help, `Guidon Edge answers SDKs, browsers and OpenFeature providers from memory, close to them. It follows
Guidon, an Unleash or another Edge, and keeps answering while that is unavailable.

  %[1]s edge        serve the flags of UPSTREAM_URL
  %[1]s offline     serve the flags of a file
  %[1]s extension   serve a function of AWS Lambda, which starts it without arguments
  %[1]s health      check that an Edge responds
  %[1]s ready       check that an Edge has flags
  %[1]s version     print the version

Every setting is an environment variable, and a flag of the same name in lower case with hyphens:
UPSTREAM_URL is --upstream-url. They are those of Unleash Edge, without -w
and --markdown-help. Settings of edge, extension and offline also stand before the command, where -p is
PORT and -b is BASE_PATH. Times are in seconds, or have a unit: 24h.
`, name)
	titles := map[string]string{"edge": "edge and extension", "extension": "extension, whose variables begin with " + extensionPrefix, "offline": "offline", "": "edge, extension and offline", "health ready": "health and ready"}
	for _, group := range []string{"edge", "extension", "offline", "", "health ready"} {
		fmt.Fprintf(&help, "\nSettings of %s:\n", titles[group])
		for _, s := range settings {
			if s.commands != group {
				continue
			}
			fmt.Fprintf(&help, "  %s", s.name)
			if s.short != "" {
				fmt.Fprintf(&help, " (-%s)", s.short)
			}
			text := s.usage
			if s.fallback != "" {
				text += " (default " + s.fallback + ")"
			}
			help.WriteString(wrap(text))
		}
	}
	return help.String()
}

// wrap returns a text as indented lines of at most 100 characters.
func wrap(text string) string {
	const indent, most = "\n      ", 94
	var lines strings.Builder
	room := 0
	for word := range strings.FieldsSeq(text) {
		if room -= len(word) + 1; room < 0 {
			lines.WriteString(indent + word)
			room = most - len(word)
			continue
		}
		lines.WriteString(" " + word)
	}
	return lines.String() + "\n"
}
