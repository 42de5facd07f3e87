package terminal

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A shell waits for the page that reads it, and for no other.
func TestAShellWaitsForItsReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutput()
		chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4096) // 64 KiB
		for range 100 {
			o.add(t.Context(), chunk) // nobody reads, so nothing waits
		}
		if len(o.text) > 3*kept {
			t.Errorf("%d bytes are kept", len(o.text))
		}
		p := o.from(t.Context(), 0, time.Second)
		if !p.lost || len(p.data) != longest || p.data[0] != '0' {
			t.Errorf("lost %t, %d bytes, begins with %q", p.lost, len(p.data), p.data[:1])
		}
		added := make(chan struct{})
		go func() {
			defer close(added)
			for range 20 {
				o.add(t.Context(), chunk)
			}
		}()
		synctest.Wait()
		select {
		case <-added:
			t.Fatal("the shell ran away from its reader")
		default:
		}
		total := int64(120 * len(chunk))
		for p.next < total {
			next := o.from(t.Context(), p.next, time.Second)
			if next.lost {
				t.Fatalf("a reader that keeps up lost what is between %d and %d", p.next, next.next)
			}
			p = next
		}
		<-added
		began := time.Now()
		for range 20 { // the reader is gone
			o.add(t.Context(), chunk)
		}
		if took := time.Since(began); took > 2*attention {
			t.Errorf("the shell waited %v for a reader that is gone", took)
		}
	})
}

// A request waits for the first byte, for its limit, for the end and for its caller.
func TestARequestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutput()
		time.AfterFunc(time.Second, func() { o.add(t.Context(), []byte("hi")) })
		if p := o.from(t.Context(), 0, time.Minute); string(p.data) != "hi" || p.next != 2 || p.over || p.lost {
			t.Errorf("%+v", p)
		}
		began := time.Now()
		if p := o.from(t.Context(), 2, time.Minute); len(p.data) > 0 || p.next != 2 || time.Since(began) != time.Minute {
			t.Errorf("%+v after %v", p, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if o.from(ctx, 2, time.Minute); time.Since(began) != time.Minute+time.Second {
			t.Errorf("waited %v for a caller that left", time.Since(began))
		}
		time.AfterFunc(time.Second, o.close)
		if p := o.from(t.Context(), 2, time.Minute); !p.over {
			t.Errorf("%+v", p)
		}
		if p := o.from(t.Context(), 99, time.Minute); !p.lost || string(p.data) != "hi" {
			t.Errorf("a place that does not exist: %+v", p)
		}
	})
}

// FuzzOutput reads a text from any place, after any cut.
func FuzzOutput(f *testing.F) {
	f.Add("one\ntwo\n", int64(4), 3)
	f.Fuzz(func(t *testing.T, text string, at int64, times int) {
		o := newOutput()
		for range min(max(times, 0), 8) {
			o.add(t.Context(), []byte(strings.Repeat(text, 1+(kept/4)/max(len(text), 1))))
		}
		o.close()
		p := o.from(t.Context(), max(at, 0), 0)
		if p.next > o.end || len(p.data) > longest || p.over && p.next != o.end {
			t.Errorf("%d of %d", p.next, o.end)
		}
	})
}
