package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"atelier.dev/atelier/backend/redact"
)

// LIVE-10: a share ends by itself.
func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := lifetime(defaultHours)
		defer stop(EndClosed)
		begin := time.Now()
		<-ctx.Done()
		if end, after := endOf(ctx), time.Since(begin); end != EndExpired || after != 24*time.Hour {
			t.Errorf("%s after %v", end, after)
		}
		ctx, stop = lifetime(1)
		stop(EndRevoked)
		if end := endOf(ctx); end != EndRevoked {
			t.Errorf("revoked: %s", end)
		}
	})
}

// screen is what the page of a viewer does with the events, as JavaScript does it.
type screen struct {
	pieces map[int]string
	drafts [2][]uint16
}

func (r *screen) read(t *testing.T, batch []byte) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimSuffix(string(batch), "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(strings.TrimPrefix(part, "event: "), "\ndata: ")
		var in struct {
			ID, Kind, At int
			HTML, Text   string
		}
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			t.Fatalf("%v: %q", err, part)
		}
		switch name {
		case "reset":
			*r = screen{pieces: map[int]string{}}
		case "piece":
			r.pieces[in.ID] = in.HTML
		case "draft":
			r.drafts[in.Kind] = append(r.drafts[in.Kind][:in.At:in.At], utf16.Encode([]rune(in.Text))...)
		}
	}
}

// A viewer who reads at any times has in the end what the board has, in its order.
func TestBoard(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 1))
		b, at, r := newBoard(), cursor{}, screen{}
		for i := range 400 {
			key := fmt.Sprint(dice.IntN(20))
			switch dice.IntN(8) {
			case 0, 1:
				b.put(key, "begun "+key, true)
			case 2:
				b.put(key, fmt.Sprint("ended ", i), false)
			case 3, 4:
				b.put("", fmt.Sprint("piece ", i), false)
			case 5:
				b.draft([2]string{strings.Repeat("ä𝄞 ", dice.IntN(9)) + key, key})
			case 6:
				if dice.IntN(40) == 0 {
					b.restart()
				}
			case 7:
				if batch, _ := b.since(&at); len(batch) > 0 {
					r.read(t, batch)
				}
			}
			if dice.IntN(150) == 0 {
				b.mu.Lock()
				b.halve()
				b.mu.Unlock()
			}
		}
		for batch, _ := b.since(&at); len(batch) > 0; batch, _ = b.since(&at) {
			r.read(t, batch)
		}
		var got []string
		for _, id := range slices.Sorted(maps.Keys(r.pieces)) {
			got = append(got, r.pieces[id])
		}
		var want []string
		for _, p := range b.pieces {
			want = append(want, p.html)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: a viewer has %q, the board %q", seed, got, want)
		}
		for i, draft := range b.drafts {
			if text := string(utf16.Decode(r.drafts[i])); text != draft {
				t.Fatalf("seed %d: a viewer has the draft %q, the board %q", seed, text, draft)
			}
		}
	}
}

// A long session does not fill the memory, and viewers are told that its beginning is gone.
func TestBoardIsBounded(t *testing.T) {
	t.Parallel()
	b, at := newBoard(), cursor{}
	for i := range 5 * maxPieces {
		b.put(fmt.Sprint(i%7), strings.Repeat("x", 4_000), i%2 == 0)
	}
	if len(b.pieces) > 2*maxPieces || len(b.ops) > 2*maxPieces+1 || b.size > maxBoard || !b.state.Cut {
		t.Errorf("%d pieces, %d changes, %d bytes, cut: %t", len(b.pieces), len(b.ops), b.size, b.state.Cut)
	}
	if batch, _ := b.since(&at); len(batch) > maxBatch+8_000 || !bytes.Contains(batch, []byte(`"cut":true`)) {
		t.Errorf("a batch of %d bytes", len(batch))
	}
	b.close(EndRevoked)
	if batch, ended := b.since(&at); !ended || bytes.Contains(batch, []byte("xxx")) {
		t.Errorf("after the end: %t, %s", ended, batch)
	}
}

// LIVE-05: what is being streamed is shown without the beginning of a key, and the thinking
// only if the user shares it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	w := newWatcher(Config{}, ShareRequest{NoReasoning: true})
	w.redactor = redact.New(redact.RedactPolicy{}, nil, "")
	w.drafts[0].add("It is in ghp_aB3dE5gH7", 0)
	w.drafts[1].add("A thought. ", 0)
	w.showDrafts()
	if want := [2]string{"It is in "}; w.board.drafts != want {
		t.Errorf("shown: %q", w.board.drafts)
	}
	w.drafts[0].add("jK9mN1pQ3sT4u and on ", 22)
	w.showDrafts()
	if want := [2]string{"It is in [redacted] and on "}; w.board.drafts != want {
		t.Errorf("shown: %q", w.board.drafts)
	}
	w.drafts[0].add("beyond a gap ", 99)
	w.showDrafts()
	if w.board.drafts != [2]string{} {
		t.Errorf("with a gap: %q", w.board.drafts)
	}
}
