package backoff

import (
	"testing"
	"time"
)

func TestLongest(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		attempt   int
		age, want time.Duration
	}{
		{0, 0, 20 * ms}, {1, 0, 20 * ms}, {2, 0, 40 * ms}, {5, 0, 320 * ms}, {7, 0, time.Second}, {1000, 0, time.Second},
		{1000, -time.Second, time.Second}, {1000, time.Second, 775 * ms}, {1000, 2 * time.Second, 550 * ms},
		{1000, 4 * time.Second, 100 * ms}, {1000, time.Hour, 100 * ms}, {1, time.Hour, 20 * ms},
	} {
		if got := longest(c.attempt, c.age); got != c.want {
			t.Errorf("attempt %d after %v waits up to %v, want %v", c.attempt, c.age, got, c.want)
		}
	}
}

func TestDelay(t *testing.T) {
	different := map[time.Duration]bool{}
	for range 1000 {
		d := Delay(3, 0)
		if d < time.Millisecond || d > 81*time.Millisecond {
			t.Fatalf("waits %v, want from 1 to 81 ms", d)
		}
		different[d] = true
	}
	if len(different) < 900 {
		t.Errorf("%d different waits of 1000, want random ones", len(different))
	}
}
