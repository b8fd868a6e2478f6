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

// A postgres is a PostgreSQL with data of its own, on a port of 127.0.0.1.
type postgres struct{ port string }

// postgresProgram is initdb or postgres: of the path, or where Debian keeps them, the newest.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL is missing: there is no %s in the path or under /usr/lib/postgresql", name)
	}
	return slices.Max(found), nil
}

func (s *stage) startPostgres(ctx context.Context) (*postgres, error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	server, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.folder, "postgres")
	as, err := s.postgresOwner(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	command := func(program string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.SysProcAttr, cmd.Env = dir, &syscall.SysProcAttr{Credential: as}, append(os.Environ(), "HOME="+dir, "LC_ALL=C")
		return cmd
	}
	if out, err := command(initdb, "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The data lives as long as this run: none of it need be safe on a disk.
	run := command(server, "-D", data, "-p", port, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off")
	run.Cancel = func() error { return nil } // it is ended after those that use it
	p, err := s.start("PostgreSQL", run)
	if err != nil {
		return nil, err
	}
	return &postgres{port}, p.await(ctx, func(ctx context.Context) error {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// postgresOwner makes the folder, and says as whom PostgreSQL runs: it refuses root.
func (s *stage) postgresOwner(dir string) (*syscall.Credential, error) {
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
		if err := errors.Join(os.Chmod(s.folder, 0o711), os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}
