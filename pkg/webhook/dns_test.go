package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// serveDNS starts a DNS server on the loopback interface, and returns a resolver that asks only it. answer is called for each
// question for an IPv4 address, with how many there were before.
func serveDNS(t *testing.T, answer func(n int) []string) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = socket.Close()
		<-done
	})
	go func() {
		defer close(done)
		var asked int
		buffer := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			question := question(buffer[:n])
			var addresses []string
			if binary.BigEndian.Uint16(question[len(question)-4:]) == 1 { // type A
				addresses = answer(asked)
				asked++
			}
			if _, err := socket.WriteTo(reply(buffer[:2], question, addresses), from); err != nil {
				t.Error(err)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
}

// question is the first question of a query: a name as labels with their lengths, a type and a class.
func question(query []byte) []byte {
	const header = 12
	end := header
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	return query[header : end+5]
}

// reply answers a question with addresses that no cache keeps.
func reply(id, question []byte, addresses []string) []byte {
	message := append([]byte{}, id...)
	message = append(message, 0x81, 0x80, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0)
	message = append(message, question...)
	for _, text := range addresses {
		address := netip.MustParseAddr(text).As4()
		message = append(message, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4) // the name of the question, A, IN, 0 s, 4 bytes
		message = append(message, address[:]...)
	}
	return message
}

// A counter counts in several goroutines.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) value() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
