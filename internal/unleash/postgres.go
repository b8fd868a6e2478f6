package unleash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"guidon/internal/child"
)

// A Postgres is a running PostgreSQL with its own data.
type Postgres struct {
	Process *child.Process
	port    string
}

// StartPostgres starts PostgreSQL with its data in a new folder below folder, which must exist. A library such as
// embedded-postgres is not used: it downloads binaries that the system already has, and cannot start them for root, who runs the
// tests in containers.
func StartPostgres(ctx context.Context, folder string) (*Postgres, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(folder, "postgres")
	owner, err := postgresOwner(folder, dir)
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	command := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{"-D", filepath.Join(dir, "data")}, args...)...)
		cmd.Dir, cmd.SysProcAttr, cmd.Env = dir, &syscall.SysProcAttr{Credential: owner}, append(os.Environ(), "HOME="+dir, "LC_ALL=C")
		return cmd
	}
	if out, err := command(initdb, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The data is temporary and need not survive a crash.
	p, err := child.Start(command(server, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	started := &Postgres{p, port}
	if err := p.Await(ctx, func(ctx context.Context) error { return started.Query(ctx, "postgres", "select 1") }); err != nil {
		p.Kill()
		return nil, err
	}
	return started, nil
}

// Stop stops PostgreSQL. It closes the connections of its clients.
func (p *Postgres) Stop() { p.Process.Stop(syscall.SIGINT, stopTimeout) }

// Query runs a statement in a database.
func (p *Postgres) Query(ctx context.Context, database, statement string) error {
	psql, err := postgresProgram("psql")
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, psql, "-h", "127.0.0.1", "-p", p.port, "-U", "postgres", "-d", database, "-c", statement).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", statement, err, out)
	}
	return nil
}

// postgresProgram finds a program in the path, or the newest version where Debian installs it.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL is missing: there is no %s in the path or in /usr/lib/postgresql", name)
	}
	return slices.Max(found), nil
}

// postgresOwner creates the folder dir in folder, and returns the user to run PostgreSQL as: it refuses to run as root.
func postgresOwner(folder, dir string) (*syscall.Credential, error) {
	if err := os.Mkdir(dir, 0o700); err != nil || os.Getuid() != 0 {
		return nil, err
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := errors.Join(os.Chmod(folder, 0o711), os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}
