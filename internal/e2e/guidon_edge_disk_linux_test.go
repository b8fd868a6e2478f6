package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuidonEdgeDiskFull gives Guidon Edge a backup folder with room for few flags. When there are more, Edge serves them nevertheless, logs
// that it cannot write them, and keeps the earlier copy, from which another Edge starts when Guidon is gone.
func TestGuidonEdgeDiskFull(t *testing.T) {
	g := start(t)
	flag := func(name string) {
		g.do(t, 201, "POST", project+"/features", map[string]string{"name": name, "description": strings.Repeat("d", 100)}, nil)
	}
	flag("first")
	folder := t.TempDir()
	// The folder is in a namespace of its own, so the test needs no privileges and leaves nothing behind.
	script := fmt.Sprintf("mount -t tmpfs -o size=16k tmpfs '%s' && exec '%s' edge", folder, binary)
	e := startGuidonEdge(t, g, "BACKUP_FOLDER="+folder)
	e.signal(t, os.Kill)
	e.wait(t)
	e.command = func() *exec.Cmd { return exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", script) }
	e.run(t)
	inside := filepath.Join(fmt.Sprintf("/proc/%d/root", e.cmd.Process.Pid), folder)
	awaitThat(t, "there is a copy", func() bool { return copied(t, inside) > 0 })
	for i := range 80 {
		flag(fmt.Sprint("more-", i))
	}
	token := g.createToken(t, "reads", "client", "default", "development")
	awaitThat(t, "Edge serves all flags", func() bool { return strings.Contains(e.get(t, "/api/client/features", token), `"more-79"`) })
	awaitThat(t, "Edge logs that the disk is full", func() bool { return strings.Contains(e.stderr.String(), "no space left on device") })

	saved := filepath.Join(t.TempDir(), "saved")
	if err := os.CopyFS(saved, os.DirFS(inside)); err != nil {
		t.Fatal(err)
	}
	if room := copied(t, saved); room == 0 {
		t.Fatal("nothing is left in the folder")
	}
	e.signal(t, os.Kill)
	e.wait(t)
	g.stop(t)
	e.command, e.env = nil, append(e.env, "BACKUP_FOLDER="+saved)
	e.run(t)
	own := strings.TrimPrefix(e.env[1], "TOKENS=")
	if flags := e.get(t, "/api/client/features", own); !strings.Contains(flags, `"first"`) {
		t.Errorf("Edge serves %s", flags)
	}
}

// copied returns how many files of states a backup folder has.
func copied(t *testing.T, folder string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if len(strings.TrimSuffix(entry.Name(), ".old")) == 64 {
			n++
		}
	}
	return n
}
