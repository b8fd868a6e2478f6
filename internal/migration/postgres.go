package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// startPostgres starts PostgreSQL with its own data and returns its port. A library such as embedded-postgres is not used: it
// downloads binaries that the system already has, and cannot start them for root, who runs the tests in containers.
func (t *test) startPostgres(ctx context.Context) (string, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return "", err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(t.folder, "postgres")
	owner, err := t.postgresOwner(dir)
	if err != nil {
		return "", err
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	command := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{"-D", filepath.Join(dir, "data")}, args...)...)
		cmd.Dir, cmd.SysProcAttr, cmd.Env = dir, &syscall.SysProcAttr{Credential: owner}, append(os.Environ(), "HOME="+dir, "LC_ALL=C")
		return cmd
	}
	if out, err := command(initdb, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The data is temporary and need not survive a crash.
	p, err := t.start(command(server, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off"))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return port, p.Await(ctx, func(ctx context.Context) error {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		return c.Close()
	})
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

// postgresOwner creates the folder and returns the user to run PostgreSQL as: it refuses to run as root.
func (t *test) postgresOwner(dir string) (*syscall.Credential, error) {
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
		if err := errors.Join(os.Chmod(t.folder, 0o711), os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}
