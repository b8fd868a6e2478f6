package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// certificate writes a certificate of 127.0.0.1.
func (b *bench) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	b.cert, b.key = filepath.Join(b.dir, "cert.pem"), filepath.Join(b.dir, "key.pem")
	if err := os.WriteFile(b.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(b.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}

// fanOut opens streams, and measures their memory, and how long a change takes from the first stream to the others.
func (b *bench) fanOut(flags, streams int) error {
	if err := b.write(flags, 0); err != nil {
		return err
	}
	edge, err := b.startEdge("RELOAD_INTERVAL=200ms")
	if err != nil {
		return err
	}
	defer edge.stop()
	changes := make(chan time.Time, streams)
	var opened sync.WaitGroup
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	idle := edge.resident()
	for _, until := range []int{min(1000, streams), streams} {
		var mu sync.Mutex
		var group errgroup.Group
		group.SetLimit(connections)
		for range until - len(conns) {
			opened.Add(1)
			group.Go(func() error {
				c, err := listen(edge.tls, changes, opened.Done)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					conns = append(conns, c)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		opened.Wait()
		var slowest []float64
		for version := range 3 {
			if err := b.write(flags, until+version+1); err != nil {
				return err
			}
			var at []time.Time
			for range until {
				at = append(at, <-changes)
			}
			slices.SortFunc(at, time.Time.Compare)
			slowest = append(slowest, float64(at[until*99/100].Sub(at[0]).Microseconds())/1000)
		}
		slices.Sort(slowest)
		goal := "p99 100 ms"
		if until > 1000 {
			goal = "p99 300 ms"
		}
		row(fmt.Sprintf("a change to %d TLS streams", until), goal, "p99 %.0f ms (%.0f to %.0f)", slowest[1], slowest[0], slowest[2])
		if until == streams {
			time.Sleep(idleFor)
			row(fmt.Sprintf("%d idle TLS streams", until), "250 MB", "%.0f MB, %.0f of them without streams", edge.resident(), idle)
		}
	}
	return nil
}

// listen opens a stream, and tells when each change arrives.
func listen(address string, changes chan<- time.Time, opened func()) (net.Conn, error) {
	trust := &tls.Config{InsecureSkipVerify: true}
	conn, err := tls.Dial("tcp", address, trust)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET /api/client/streaming HTTP/1.1\r\nHost: edge\r\nAuthorization: %s\r\n\r\n", client); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewReaderSize(conn, 512)
		for {
			line, partial, err := lines.ReadLine()
			first := string(line[:min(len(line), 32)])
			for partial && err == nil {
				_, partial, err = lines.ReadLine()
			}
			switch {
			case err != nil:
				return
			case strings.HasPrefix(first, "event: unleash-updated"):
				changes <- time.Now()
			case strings.HasPrefix(first, "data: ") && opened != nil:
				opened()
				opened = nil
			}
		}
	}()
	return conn, nil
}
